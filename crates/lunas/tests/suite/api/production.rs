//! Production projects and the bank accounts behind them (docs/contract.md, decisions §3 and §7).

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use demobank::{CodeState, Knobs, Style};
use domain::{
    method::Method,
    payment::{Checkout, Payment},
    time::Timestamp,
};
use engine::{Attempt, Clock, Engine, Error, Settings};
use serde_json::json;
use testkit::{Kit, Reply, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::{AMOUNT, acquired, ask_after, code_of},
    banks::{Contracted, contracted},
    json::{text, with},
    links::{attempt, create_link, try_attempt},
    payments::count_payments,
};

on_every_database![
    a_link_that_expires_while_an_attempt_is_made_gains_no_payment,
    an_attempt_is_stamped_with_the_instant_that_judged_it,
    a_link_that_expires_while_the_bank_works_gains_no_payment_and_the_code_is_voided,
    a_single_use_link_that_comes_into_use_while_the_bank_works_gains_no_payment_and_the_code_is_voided,
];

on_sqlite_alone![a_replay_needs_no_bank_account, a_link_needs_no_bank_account_until_somebody_pays_through_it];

/// How long the link of an attempt lives during which something happens.
const LINK_LIFETIME: Duration = Duration::from_hours(1);
const MILLISECOND: Duration = Duration::from_millis(1);

#[track_caller]
fn unavailable(reply: Reply) {
    let wait: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!(wait >= 1);
    reply.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
}

async fn a_replay_needs_no_bank_account(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let payment = acquired.pay("key").await.expect(201);
    kit.engine.enable_bank_account(acquired.account, false).await.unwrap();
    let reply = acquired.pay("key").await;
    assert_eq!(reply.header("idempotent-replayed"), Some("true"));
    assert_eq!(reply.expect(200), payment);
    let other = with(acquired.order(), "amount", AMOUNT + 1);
    acquired.project.api.pay("key", &other).await.refused(409, "IDEMPOTENCY_CONFLICT");
    unavailable(acquired.pay("another").await);
    assert_eq!((acquired.asked_to_issue(), count_payments(&acquired.project, "").await), (1, 1));
}

async fn a_link_needs_no_bank_account_until_somebody_pays_through_it(kit: Arc<Kit>) {
    let project = kit.production().await;
    let link = create_link(&project, json!({})).await;
    let refused = try_attempt(&kit, &link, Method::Qris).await;
    assert!(matches!(refused, Err(Error::NoBank(_))), "{refused:?}");
    assert_eq!(count_payments(&project, "").await, 0);
}

/// A clock that jumps once it has been asked.
struct JumpingClock {
    first: Timestamp,
    then: Timestamp,
    is_asked: AtomicBool,
}

impl Clock for JumpingClock {
    fn now(&self) -> Timestamp {
        if self.is_asked.swap(true, Ordering::SeqCst) { self.then } else { self.first }
    }
}

/// Starts a payment on a new link, by a number that we give out. So much time passes after the attempt was judged and before it
/// is committed.
async fn attempt_in(kit: &Kit, contracted: &Contracted, time: Duration) -> Result<Payment, Error> {
    let first = kit.engine.now();
    let members = json!({ "expires_at": first.plus(LINK_LIFETIME).to_string() });
    let link_id = text(&create_link(&contracted.project, members).await, "id").parse().unwrap();
    let clock = Arc::new(JumpingClock { first, then: first.plus(time), is_asked: AtomicBool::default() });
    let engine = Engine::new(kit.store.clone(), clock, Settings::default(), kit.secret_key.clone());
    engine.attempt_link(link_id, &Attempt::new(contracted.method, Checkout::default())).await
}

async fn a_link_that_expires_while_an_attempt_is_made_gains_no_payment(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let refused = attempt_in(&kit, &contracted, LINK_LIFETIME + MILLISECOND).await;
    assert!(matches!(refused, Err(Error::LinkNotActive)), "{refused:?}");
    assert_eq!(count_payments(&contracted.project, "").await, 0);
}

async fn an_attempt_is_stamped_with_the_instant_that_judged_it(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let made = attempt_in(&kit, &contracted, LINK_LIFETIME).await.unwrap();
    assert_eq!(made.created_at, kit.engine.now());
    assert_eq!(count_payments(&contracted.project, "").await, 1);
}

async fn a_link_that_expires_while_the_bank_works_gains_no_payment_and_the_code_is_voided(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let members = json!({ "expires_at": kit.engine.now().plus(LINK_LIFETIME).to_string() });
    let link = create_link(&acquired.project, members).await;
    let ordering = try_attempt(&kit, &link, Method::Qris);
    let refused = acquired.while_it_works(ordering, async { kit.clock.advance(LINK_LIFETIME + MILLISECOND) }).await;
    assert!(matches!(refused, Err(Error::NoBank(_))), "its code came too late: {refused:?}");
    let refused = try_attempt(&kit, &link, Method::Qris).await;
    assert!(matches!(refused, Err(Error::LinkNotActive)), "{refused:?}");
    ask_after(&kit, Duration::from_secs(1)).await;
    assert_eq!((acquired.payable(), count_payments(&acquired.project, "").await), (vec![], 0));
}

async fn a_single_use_link_that_comes_into_use_while_the_bank_works_gains_no_payment_and_the_code_is_voided(
    kit: Arc<Kit>,
) {
    for status in ["paid", "processing"] {
        let acquired = acquired(&kit, "midtrans").await;
        let link = create_link(&acquired.project, json!({})).await;
        let sibling = attempt(&kit, &acquired.project, &link, Method::Qris).await;
        let comes_into_use = async {
            if status == "paid" {
                acquired.pays(&sibling).await;
            } else {
                acquired.asked.set_state(code_of(&sibling), CodeState::Processing).unwrap();
                acquired.asked.tell(code_of(&sibling), "02", Knobs::default()).await.unwrap();
            }
        };
        let refused = acquired.while_it_works(try_attempt(&kit, &link, Method::Qris), comes_into_use).await;
        assert!(matches!(refused, Err(Error::NotEditable)), "{status}: {refused:?}");
        ask_after(&kit, Duration::from_secs(1)).await;
        assert_eq!((acquired.asked_to_issue(), acquired.payable()), (2, vec![]), "{status}");
        let found = count_payments(&acquired.project, &format!("status={status}")).await;
        assert_eq!((count_payments(&acquired.project, "").await, found), (1, 1), "{status}");
    }
}
