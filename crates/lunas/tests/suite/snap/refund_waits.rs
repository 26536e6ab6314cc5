//! Refunds that wait: for a name that the bank does not say, for the hours in which it works, or for a person. And what is under way
//! when the server stops.

use std::{sync::Arc, time::Duration};

use demobank::{Fault, Service};
use domain::{
    refund::{PendingReason, RefundRoad, RefundState, RefundStatus},
    time::Timestamp,
};
use testkit::{Kit, on_every_database, on_sqlite_alone};
use tokio::time::timeout;

use crate::support::{
    held_writes::HeldWrites,
    refund_bank::{OTHER_BANK, RefundBank},
    walks::number,
};

on_every_database![a_stop_while_an_attempt_is_committed_leaves_none_that_nobody_has_sent on 2 threads];

on_sqlite_alone![
    a_bank_that_does_not_say_whose_an_account_is_is_asked_less_and_less,
    a_refund_whose_account_no_bank_ever_names_needs_another_account,
    a_bank_that_the_account_cannot_name_is_left_to_a_person,
    a_refund_whose_window_ends_before_it_is_sent_leads_to_the_customers_account,
    a_refund_waits_until_the_bank_takes_refunds_again,
];

const MINUTE: Duration = Duration::from_mins(1);
/// A round, and no other.
const ONCE: (Duration, usize) = (MINUTE, 0);
const AMOUNT: i64 = 10_000;
/// A bank of which no SWIFT code is known.
const WITHOUT_SWIFT: &str = "531";
const PROCESSING: RefundState = RefundState::Pending(PendingReason::Processing);

/// Regression: the commit was carried out after the stop, and the attempt stood as sent, which it never was.
async fn a_stop_while_an_attempt_is_committed_leaves_none_that_nobody_has_sent(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "dana", &[("resend", "never")]).await;
    let refund = bank.refund(&payment, AMOUNT).await;
    let writes = HeldWrites::of(&kit.database, "refund_attempts").await;
    // The reconciler that is stopped drops its round.
    let stopped = timeout(Duration::from_secs(1), bank.engine.send_ready_refunds()).await;
    assert!(stopped.is_err(), "nothing is sent before it is committed");
    writes.end();
    bank.engine.finish_bank_calls().await;
    let (now, attempts) = bank.follow(&kit, &refund, ONCE).await;
    assert_eq!(now.status(), RefundStatus::Succeeded, "{attempts:?}");
    assert_eq!((attempts.len(), bank.done().len(), bank.calls(Service::DebitRefund)), (1, 1, 1));
}

/// Regression: a refusal that says nothing about the account was followed by the same question twice a second.
async fn a_bank_that_does_not_say_whose_an_account_is_is_asked_less_and_less(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let refund = bank.refund_to(&payment, AMOUNT, OTHER_BANK).await;
    bank.acquired.asked.fail_every(Service::ExternalInquiry, Some(Fault::Case(403, "01")));
    let rounds = async |count: usize| {
        for _ in 0..count {
            bank.engine.send_ready_refunds().await.unwrap();
        }
        bank.calls(Service::ExternalInquiry)
    };
    assert_eq!(rounds(5).await, 1);
    kit.clock.advance(Duration::from_secs(7));
    assert_eq!(rounds(5).await, 2);
    kit.clock.advance(Duration::from_secs(7));
    assert_eq!(rounds(5).await, 2, "the second rest is longer");
    kit.clock.advance(Duration::from_hours(1));
    bank.acquired.asked.fail_every(Service::ExternalInquiry, None);
    assert_eq!(bank.follow(&kit, &refund, ONCE).await.0.status(), RefundStatus::Succeeded);
    // What waited once is forgotten.
    let next = bank.refund_to(&payment, AMOUNT, OTHER_BANK).await;
    assert_eq!(bank.follow(&kit, &next, ONCE).await.0.status(), RefundStatus::Succeeded);
}

/// Regression: nobody sent it, and nobody was shown it.
async fn a_refund_whose_account_no_bank_ever_names_needs_another_account(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    for (fault, needs) in [(Fault::Status(500), false), (Fault::Case(403, "01"), true)] {
        let refund = bank.refund_to(&payment, AMOUNT, OTHER_BANK).await;
        bank.acquired.asked.fail_every(Service::ExternalInquiry, Some(fault));
        let (now, attempts) = bank.follow(&kit, &refund, (6 * MINUTE, 60)).await;
        assert_eq!((now.state == RefundState::RequiresAction, attempts.len()), (needs, 0), "{now:?}");
        if needs {
            assert_eq!(now.failure_reason.as_deref(), Some("The bank does not say whose account it is"));
        }
        bank.acquired.asked.fail_every(Service::ExternalInquiry, None);
        let (now, _) = bank.follow(&kit, &refund, (6 * MINUTE, 3)).await;
        assert_eq!(now.status() == RefundStatus::Succeeded, !needs);
    }
}

async fn a_bank_that_the_account_cannot_name_is_left_to_a_person(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[("bank_codes", "swift")]).await;
    let refund = bank.refund_to(&payment, AMOUNT, WITHOUT_SWIFT).await;
    let sends = || number(&kit.database, "SELECT COUNT(*) FROM bank_sends");
    let before = sends();
    let (now, attempts) = bank.follow(&kit, &refund, (MINUTE, 5)).await;
    assert_eq!((now.state, attempts.len(), sends()), (PROCESSING, 0, before), "nothing is begun that cannot be sent");
    let engine = &bank.engine;
    let done = engine.mark_transferred(&bank.project, refund.id, "FT-1".to_owned()).await.unwrap();
    assert_eq!(done.status(), RefundStatus::Succeeded);
    // Others go by the bank, as before.
    let other = bank.refund_to(&payment, AMOUNT, OTHER_BANK).await;
    assert_eq!(bank.follow(&kit, &other, ONCE).await.0.status(), RefundStatus::Succeeded);
}

async fn a_refund_whose_window_ends_before_it_is_sent_leads_to_the_customers_account(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[("refund_window", "1")]).await;
    kit.clock.advance(Duration::from_hours(23));
    let refund = bank.refund(&payment, AMOUNT).await;
    assert_eq!((refund.state, refund.road), (PROCESSING, RefundRoad::Qris));
    kit.clock.advance(Duration::from_hours(2));
    let (now, attempts) = bank.follow(&kit, &refund, ONCE).await;
    assert_eq!((now.state, now.road), (RefundState::RequiresAction, RefundRoad::Transfer));
    let why = now.failure_reason.unwrap_or_default();
    assert!(why.starts_with("The time in which the bank gives money back"), "{why}");
    assert_eq!((attempts.len(), bank.calls(Service::QrRefund)), (0, 0));
}

async fn a_refund_waits_until_the_bank_takes_refunds_again(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[("refund_closed", "23:55-06:00")]).await;
    let closed = Some((23 * 60 + 55, 6 * 60));
    bank.acquired.asked.change_habits(&bank.acquired.client_id, |habits| habits.refund.closed = closed);
    let refund = bank.refund(&payment, AMOUNT).await;
    for (time, calls, status) in [
        ("2026-11-14T23:55:00+07:00", 0, RefundStatus::Pending),
        ("2026-11-15T05:59:59+07:00", 0, RefundStatus::Pending),
        ("2026-11-15T06:00:00+07:00", 1, RefundStatus::Succeeded),
    ] {
        kit.clock.set(Timestamp::parse(time).unwrap());
        let (now, attempts) = bank.follow(&kit, &refund, ONCE).await;
        assert_eq!((bank.calls(Service::QrRefund), now.status()), (calls, status), "{time}: {attempts:?}");
    }
}
