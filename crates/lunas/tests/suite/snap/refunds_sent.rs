//! Refunds that a bank is asked to make: whatever happens to a call, the money leaves once at most, and our books say what
//! the bank's say.

use std::{sync::Arc, time::Duration};

use demobank::{AccountState, Fate, Fault, MoneyRules, RefundRule, Service};
use domain::{
    destination::Rail,
    letter::LetterKind,
    refund::{
        PendingReason, Refund, RefundRoad, RefundState, RefundStatus, RefundStuck,
        doubt::NotProven,
        transfer::{AttemptState, TransferAttempt},
    },
};
use engine::{Error, Window};
use futures_util::future::join;
use testkit::{Kit, Relay, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::AMOUNT,
    customer::{Customer, link_path, payment_of},
    letters::{letters, link_with_email, set_up, with_receipts},
    nodes::Node,
    refund_bank::{BALANCE, OTHER_BANK, OWN_BANK, RefundBank},
    rows::run_by_hand,
};

on_every_database![
    a_refund_goes_back_by_the_code_that_was_paid,
    a_refund_goes_to_the_account_that_was_named,
    whatever_happens_to_a_transfer_it_is_made_once_at_most,
    whatever_happens_to_a_refund_by_code_it_is_made_once_at_most,
    two_nodes_send_a_refund_once on 2 threads,
    a_refund_that_is_cancelled_while_it_is_sent_is_one_or_the_other on 2 threads,
    an_answer_that_comes_after_another_node_has_booked_the_same_is_no_difference on 2 threads,
    an_answer_that_comes_after_another_node_has_asked_in_vain_is_booked on 2 threads,
    a_refusal_that_comes_after_another_node_has_asked_in_vain_ends_a_transfer on 2 threads,
    a_late_refusal_says_nothing_of_a_refund_by_code_that_another_node_has_asked_about on 2 threads,
];

on_sqlite_alone![
    a_refund_is_repeated_only_where_the_bank_takes_it_for_the_same,
    a_code_that_cannot_be_refunded_leads_to_the_customers_account,
    a_bank_that_gives_nothing_back_by_code_is_not_asked_to,
    an_account_without_money_is_tried_again_when_it_has_some,
    a_limit_leads_to_another_rail_under_another_reference,
    a_destination_that_is_closed_gets_no_order,
    what_the_statement_has_is_not_ended_as_failed,
    a_cut_off_waits_for_the_morning,
    money_that_came_back_is_booked_so_though_the_node_dies_in_between,
    a_customer_is_not_told_of_money_that_came_back_at_once on 2 threads,
];

const MINUTE: Duration = Duration::from_mins(1);
/// The bank has carried a transfer out, and does not answer yet.
const DONE_AND_HELD: (Service, Fault) = (Service::Interbank, Fault::HeldAfter);
/// It has the order, and looks at it later.
const UNDONE_AND_HELD: (Service, Fault) = (Service::Interbank, Fault::HeldBefore);
/// A round, and no other.
const ONCE: (Duration, usize) = (MINUTE, 0);

/// Ways in which a call goes wrong, and whether the bank has carried the order out all the same.
const FAULTS: &[(Fault, bool)] = &[
    (Fault::LostBefore, false),
    (Fault::LostAfter, true),
    (Fault::Status(500), false),
    (Fault::StatusAfter(500), true),
    (Fault::StatusAfter(504), true),
    (Fault::Status(202), false),
    (Fault::StatusAfter(202), true),
    (Fault::Status(429), false),
    (Fault::CaseAfter(404, "18"), true),
    (Fault::CaseAfter(409, "01"), true),
    (Fault::Case(409, "00"), false),
    (Fault::BrokenJson, true),
];

fn is_done(refund: &Refund) -> bool {
    refund.status() == RefundStatus::Succeeded
}

async fn a_refund_goes_back_by_the_code_that_was_paid(kit: Arc<Kit>) {
    for profile in ["generic", "midtrans", "dana"] {
        let (bank, payment) = RefundBank::with_payment(&kit, profile, &[]).await;
        let refund = bank.refund(&payment, 50_000).await;
        assert_eq!((refund.road, refund.status()), (RefundRoad::Qris, RefundStatus::Pending), "{profile}");
        let (refund, _) = bank.follow(&kit, &refund, ONCE).await;
        assert!(is_done(&refund), "{profile}: {refund:?}");
        let code = bank.acquired.last_code();
        let made = bank.acquired.asked.refunds_of(&code.bank_reference);
        assert_eq!(made.iter().map(|made| made.amount).collect::<Vec<_>>(), [50_000], "{profile}");
        assert_eq!(refund.bank_reference.as_ref(), Some(&made[0].bank_reference), "{profile}");
        // The rest, and nothing more.
        let rest = bank.refund(&payment, AMOUNT - 50_000).await;
        assert!(is_done(&bank.follow(&kit, &rest, (MINUTE, 3)).await.0), "{profile}");
        assert_eq!(bank.acquired.asked.refunds_of(&code.bank_reference).len(), 2, "{profile}");
    }
}

async fn a_refund_goes_to_the_account_that_was_named(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    for (code, service, rail) in
        [(OWN_BANK, Service::Intrabank, Rail::Intrabank), (OTHER_BANK, Service::Interbank, Rail::BiFast)]
    {
        let refund = bank.refund_to(&payment, 60_000, code).await;
        assert_eq!(refund.road, RefundRoad::Transfer);
        let (refund, attempts) = bank.follow(&kit, &refund, (MINUTE, 3)).await;
        assert!(is_done(&refund), "{refund:?}");
        assert_eq!((bank.arrived(code), bank.calls(service)), (60_000, 1));
        let made: Vec<_> = attempts.iter().map(|one| (one.state, one.rail)).collect();
        assert_eq!(made, [(AttemptState::Done, Some(rail))]);
        let made = bank.acquired.asked.transfer(&attempts[0].reference).unwrap();
        assert_eq!((refund.bank_reference, made.name.as_str()), (Some(made.bank_reference), "SITI NURHALIZA"));
    }
    assert_eq!(bank.done().len(), 2);
}

/// What a refund whose call went wrong must have come to: whether the bank has made it, and whether the bank shows that.
fn check_once(
    fault: &Fault,
    (is_made, is_shown): (bool, bool),
    made: usize,
    (refund, attempts): (Refund, Vec<TransferAttempt>),
) {
    assert_eq!(attempts.len(), 1, "{fault:?}: it was sent again");
    assert_eq!(made, usize::from(is_made), "{fault:?}");
    assert_eq!(is_done(&refund), is_shown, "{fault:?}: {refund:?} {attempts:?}");
    if !is_shown {
        assert_eq!(refund.state, RefundState::Pending(PendingReason::Processing), "{fault:?}");
        assert_eq!(attempts[0].state, AttemptState::Unknown, "{fault:?}");
    }
}

async fn whatever_happens_to_a_transfer_it_is_made_once_at_most(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    for (fault, is_made) in FAULTS {
        let before = bank.done().len();
        let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
        bank.acquired.asked.fail_next_of(Service::Interbank, fault.clone());
        let followed = bank.follow(&kit, &refund, (5 * MINUTE, 30)).await;
        check_once(fault, (*is_made, *is_made), bank.done().len() - before, followed);
    }
    assert_eq!(bank.calls(Service::Interbank), FAULTS.len());
    let sent: i64 = bank.done().iter().map(|made| made.amount).sum();
    let source = bank.acquired.asked.account(OWN_BANK, RefundBank::source()).unwrap();
    assert_eq!((bank.arrived(OTHER_BANK), source.balance), (sent, BALANCE - sent));
    assert_eq!(refunded(&kit, &bank).await, sent, "our books say what the bank's say");
}

/// What our books say that customers have back.
async fn refunded(kit: &Kit, bank: &RefundBank) -> i64 {
    kit.store.balance(bank.project.id, None).await.unwrap().refunded.get()
}

async fn whatever_happens_to_a_refund_by_code_it_is_made_once_at_most(kit: Arc<Kit>) {
    // 55 tells of each refund, and 51 of a payment that was given back whole.
    for (profile, service) in [("dana", Service::DebitRefund), ("generic", Service::QrRefund)] {
        let bank = RefundBank::open(&kit, profile, &[("resend", "never")]).await;
        let mut shown = 0;
        for (fault, is_made) in FAULTS {
            let refund = bank.refund(&bank.paid().await, AMOUNT).await;
            let (before, calls) = (bank.done().len(), bank.calls(service));
            bank.acquired.asked.fail_next_of(service, fault.clone());
            let followed = bank.follow(&kit, &refund, (5 * MINUTE, 20)).await;
            // That the bank knew the order already counts only where it shows the amount, and 51 shows none.
            let was_known = matches!(fault, Fault::CaseAfter(404, "18") | Fault::CaseAfter(409, "01"));
            let is_shown = *is_made && !(was_known && profile == "generic");
            check_once(fault, (*is_made, is_shown), bank.done().len() - before, followed);
            shown += i64::from(is_shown);
            assert_eq!(refunded(&kit, &bank).await, shown * AMOUNT, "{profile} {fault:?}");
            assert_eq!(bank.calls(service) - calls, 1, "{profile} {fault:?}");
        }
    }
}

async fn a_refund_is_repeated_only_where_the_bank_takes_it_for_the_same(kit: Arc<Kit>) {
    for (profile, service) in [("midtrans", Service::QrRefund), ("dana", Service::DebitRefund)] {
        let (bank, payment) = RefundBank::with_payment(&kit, profile, &[]).await;
        for (fault, calls) in [(Fault::LostBefore, 2), (Fault::LostAfter, 2)] {
            let before = (bank.done().len(), bank.calls(service));
            let refund = bank.refund(&payment, 10_000).await;
            bank.acquired.asked.fail_next_of(service, fault.clone());
            let (refund, attempts) = bank.follow(&kit, &refund, (MINUTE, 15)).await;
            assert!(is_done(&refund), "{profile} {fault:?}: {attempts:?}");
            assert_eq!((attempts.len(), bank.done().len() - before.0), (1, 1), "{profile} {fault:?}");
            assert!(bank.calls(service) - before.1 <= calls, "{profile} {fault:?}");
        }
    }
}

async fn two_nodes_send_a_refund_once(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let node = Node::beside(&kit).await;
    for made in 1..=5 {
        let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
        let (here, there) = join(bank.engine.send_ready_refunds(), node.engine.send_ready_refunds()).await;
        assert_eq!(here.unwrap() + there.unwrap(), 1);
        assert!(is_done(&bank.follow(&kit, &refund, ONCE).await.0));
        assert_eq!((bank.done().len(), bank.calls(Service::Interbank)), (made, made));
    }
    node.stop().await;
}

async fn a_refund_that_is_cancelled_while_it_is_sent_is_one_or_the_other(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    for _ in 0..5 {
        let before = bank.done().len();
        let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
        let cancelling = bank.engine.cancel_refund(&bank.project, refund.id);
        let (sent, cancelled) = join(bank.engine.send_ready_refunds(), cancelling).await;
        let made = bank.done().len() - before;
        assert_eq!(sent.unwrap(), made);
        let (now, _) = bank.follow(&kit, &refund, ONCE).await;
        let expected = if cancelled.is_ok() { (0, RefundStatus::Cancelled) } else { (1, RefundStatus::Succeeded) };
        assert_eq!((made, now.status()), expected);
    }
}

async fn what_the_statement_has_is_not_ended_as_failed(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    hide(&bank, 48);
    let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    bank.acquired.asked.fail_next_of(Service::Interbank, Fault::LostAfter);
    let (now, _) = bank.follow(&kit, &refund, (5 * MINUTE, 10)).await;
    assert_eq!(now.state, RefundState::Pending(PendingReason::Processing));
    assert_eq!(bank.calls(Service::Statement), 0, "not before the bank's time is over");
    kit.clock.advance(20 * MINUTE);
    let failed = bank.engine.mark_not_transferred(&bank.project, refund.id, "not there".to_owned(), true).await;
    let why = failed.map(|refund| refund.state);
    assert!(matches!(why, Err(Error::RefundStuck(RefundStuck::NotProven(NotProven::OnStatement { .. })))), "{why:?}");
    let (now, attempts) = bank.follow(&kit, &refund, (5 * MINUTE, 10)).await;
    assert!(is_done(&now), "{attempts:?}");
    assert_eq!((bank.done().len(), bank.calls(Service::Interbank)), (1, 1));
}

/// For so many hours, 36 finds nothing that is ordered from now on.
fn hide(bank: &RefundBank, hours: i64) {
    let rules = MoneyRules { hidden_ms: hours * 60 * 60 * 1_000, ..MoneyRules::default() };
    bank.acquired.asked.set_money_rules(&bank.acquired.client_id, rules);
}

/// The kinds of what a person must look at.
async fn differences(kit: &Kit) -> Vec<&'static str> {
    let open = kit.store.differences(true, Window { offset: 0, limit: 10 }).await.unwrap().items;
    open.iter().map(|one| one.key.kind.word()).collect()
}

async fn a_code_that_cannot_be_refunded_leads_to_the_customers_account(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    for rule in [RefundRule::Unsupported, RefundRule::Over] {
        let rules = MoneyRules { refunds: rule, ..MoneyRules::default() };
        bank.acquired.asked.set_money_rules(&bank.acquired.client_id, rules);
        let refund = bank.refund(&payment, 10_000).await;
        let (now, attempts) = bank.follow(&kit, &refund, (MINUTE, 5)).await;
        assert_eq!((now.state, now.road), (RefundState::RequiresAction, RefundRoad::Transfer), "{rule:?}");
        assert!(now.failure_reason.as_ref().is_some_and(|why| why.starts_with("The bank does not give")), "{now:?}");
        assert_eq!((now.claim.is_some(), attempts.len(), bank.done().len()), (true, 1, 0));
    }
}

async fn a_bank_that_gives_nothing_back_by_code_is_not_asked_to(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[("refund", "no")]).await;
    assert_eq!(bank.refund(&payment, 10_000).await.state, RefundState::RequiresAction);
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[("refund_window", "1")]).await;
    kit.clock.advance(Duration::from_hours(25));
    assert_eq!(bank.refund(&payment, 10_000).await.state, RefundState::RequiresAction);
    assert_eq!(bank.calls(Service::QrRefund), 0);
}

async fn an_account_without_money_is_tried_again_when_it_has_some(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    bank.acquired.asked.withdraw(OWN_BANK, RefundBank::source(), BALANCE, "rent").unwrap();
    let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    let (now, attempts) = bank.follow(&kit, &refund, (MINUTE, 30)).await;
    assert_eq!(now.state, RefundState::Pending(PendingReason::InsufficientBalance));
    assert_eq!(attempts.len(), 1, "as long as the account is empty nothing is sent");
    bank.acquired.asked.deposit(OWN_BANK, RefundBank::source(), 50_000, "sales").unwrap();
    let (now, attempts) = bank.follow(&kit, &refund, (MINUTE, 12)).await;
    assert!(is_done(&now));
    assert_eq!(attempts.iter().map(|one| one.state).collect::<Vec<_>>(), [AttemptState::Refused, AttemptState::Done]);
    assert_ne!(attempts[0].reference, attempts[1].reference);
    assert_eq!(bank.arrived(OTHER_BANK), 10_000);
}

async fn a_limit_leads_to_another_rail_under_another_reference(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    bank.acquired.asked.fail_next_of(Service::Interbank, Fault::Case(403, "02"));
    let (now, attempts) = bank.follow(&kit, &refund, (MINUTE, 2)).await;
    assert!(is_done(&now));
    let made: Vec<_> = attempts.iter().map(|one| (one.state, one.rail)).collect();
    assert_eq!(made, [(AttemptState::Refused, Some(Rail::BiFast)), (AttemptState::Done, Some(Rail::Online))]);
    assert_ne!(attempts[0].reference, attempts[1].reference);
}

async fn a_destination_that_is_closed_gets_no_order(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    bank.set_customer(OTHER_BANK, AccountState::Closed);
    let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    let (now, attempts) = bank.follow(&kit, &refund, ONCE).await;
    assert_eq!((now.status(), attempts.len()), (RefundStatus::Failed, 0));
    assert_eq!(bank.calls(Service::Interbank), 0);
    assert!(now.failure_reason.is_some_and(|why| why == "The account is closed (4031618)"));
}

async fn a_cut_off_waits_for_the_morning(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let closed = MoneyRules { is_cut_off: true, ..MoneyRules::default() };
    bank.acquired.asked.set_money_rules(&bank.acquired.client_id, closed);
    let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    let (_, attempts) = bank.follow(&kit, &refund, (MINUTE, 20)).await;
    assert_eq!(attempts.len(), 1);
    bank.acquired.asked.set_money_rules(&bank.acquired.client_id, MoneyRules::default());
    let (now, attempts) = bank.follow(&kit, &refund, (Duration::from_hours(1), 25)).await;
    assert_eq!((is_done(&now), attempts.len()), (true, 2));
}

/// Sends a refund, and lets another node ask about it before this one has the bank's answer to a call that is held, and `meanwhile`
/// has happened.
async fn answered_late(
    kit: &Kit,
    bank: &RefundBank,
    refund: &Refund,
    held: (Service, Fault),
    meanwhile: impl Fn(),
) -> (Refund, Vec<TransferAttempt>) {
    let node = Node::beside(kit).await;
    bank.acquired.asked.fail_next_of(held.0, held.1);
    let (sent, ()) = join(bank.engine.send_ready_refunds(), async {
        bank.acquired.asked.wait_held(1).await;
        kit.clock.advance(2 * MINUTE);
        assert_eq!(node.engine.ask_about_refunds().await.unwrap(), 1, "the lease is over");
        meanwhile();
        bank.acquired.asked.release();
    })
    .await;
    assert_eq!(sent.unwrap(), 1);
    node.stop().await;
    let refund = bank.engine.refund(bank.project.id, refund.id).await.unwrap();
    let attempts = kit.store.refund_attempts(refund.id).await.unwrap();
    (refund, attempts)
}

/// Regression: a 200 that came after the other node's question was a difference, though both say the same.
async fn an_answer_that_comes_after_another_node_has_booked_the_same_is_no_difference(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    let (now, attempts) = answered_late(&kit, &bank, &refund, DONE_AND_HELD, || ()).await;
    assert_eq!((is_done(&now), attempts[0].state, bank.done().len()), (true, AttemptState::Done, 1));
    assert_eq!(differences(&kit).await, [""; 0]);
}

async fn an_answer_that_comes_after_another_node_has_asked_in_vain_is_booked(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    hide(&bank, 48);
    let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    let (now, attempts) = answered_late(&kit, &bank, &refund, DONE_AND_HELD, || ()).await;
    assert!(is_done(&now), "{now:?} {attempts:?}");
    assert_eq!((attempts.len(), attempts[0].state, attempts[0].ask_at), (1, AttemptState::Done, None));
    assert_eq!((bank.done().len(), differences(&kit).await.len()), (1, 0));
}

/// Regression: the refusal was lost, and only people could end the refund, days later.
async fn a_refusal_that_comes_after_another_node_has_asked_in_vain_ends_a_transfer(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    let close = || bank.set_customer(OTHER_BANK, AccountState::Closed);
    let (now, attempts) = answered_late(&kit, &bank, &refund, UNDONE_AND_HELD, close).await;
    assert_eq!((now.state, attempts[0].state), (RefundState::Failed, AttemptState::Refused), "{attempts:?}");
    // What only keeps it waiting, too.
    bank.set_customer(OTHER_BANK, AccountState::Open);
    let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    let cut_off = || {
        let rules = MoneyRules { is_cut_off: true, ..MoneyRules::default() };
        bank.acquired.asked.set_money_rules(&bank.acquired.client_id, rules);
    };
    let (_, attempts) = answered_late(&kit, &bank, &refund, UNDONE_AND_HELD, cut_off).await;
    assert_eq!(attempts[0].state, AttemptState::Refused, "{attempts:?}");
}

/// By code, the other node may have sent the same order again, which the bank may have taken.
async fn a_late_refusal_says_nothing_of_a_refund_by_code_that_another_node_has_asked_about(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let refund = bank.refund(&payment, 10_000).await;
    let refuse = || {
        let rules = MoneyRules { refunds: RefundRule::Unsupported, ..MoneyRules::default() };
        bank.acquired.asked.set_money_rules(&bank.acquired.client_id, rules);
    };
    let held = (Service::QrRefund, Fault::HeldBefore);
    let (now, attempts) = answered_late(&kit, &bank, &refund, held, refuse).await;
    assert_eq!(now.state, RefundState::Pending(PendingReason::Processing));
    assert_eq!((attempts.len(), attempts[0].state), (1, AttemptState::Unknown), "{attempts:?}");
}

/// Regression: the attempt was stored as done before the refund had come back, so that nobody asked about it any more.
async fn money_that_came_back_is_booked_so_though_the_node_dies_in_between(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    bank.acquired.asked.fate_of_next(Fate { comes_back_ms: Some(0), ..Fate::default() });
    bank.acquired.asked.fail_next_of(Service::Interbank, Fault::LostAfter);
    let stop = "CREATE TRIGGER dies BEFORE UPDATE ON refunds WHEN NEW.status = 'returned' \
                BEGIN SELECT RAISE(ABORT, 'the node has died'); END";
    run_by_hand(&kit.database, stop);
    let (now, _) = bank.follow(&kit, &refund, (MINUTE, 2)).await;
    assert!(is_done(&now), "the first of two commits: {now:?}");
    run_by_hand(&kit.database, "DROP TRIGGER dies");
    let (now, attempts) = bank.follow(&kit, &refund, (5 * MINUTE, 3)).await;
    assert_eq!((now.status(), attempts[0].state), (RefundStatus::Returned, AttemptState::Done), "{attempts:?}");
    assert_eq!(attempts[0].ask_at, None);
    let balance = kit.store.balance(bank.project.id, None).await.unwrap();
    assert_eq!((balance.refunded.get(), balance.refunding.get(), bank.arrived(OTHER_BANK)), (0, 0, 0));
    assert_eq!(differences(&kit).await, [""; 0]);
}

/// Regression: the customer got the letter that money was sent back to them, and none that it had bounced.
async fn a_customer_is_not_told_of_money_that_came_back_at_once(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let bank = RefundBank::open(&kit, "generic", &[]).await;
    let project = &bank.acquired.project;
    with_receipts(&kit, project).await;
    set_up(&kit, relay.mailer());
    let link = link_with_email(project).await;
    let answers = [("method", "qris"), ("email", "budi@example.com")];
    let payment = payment_of(project, &Customer::of(&kit).choose_at(&link_path(&link), &answers).await).await;
    bank.is_paid(&payment).await;
    let came_back = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    bank.acquired.asked.fate_of_next(Fate { comes_back_ms: Some(0), ..Fate::default() });
    bank.acquired.asked.fail_next_of(Service::Interbank, Fault::LostAfter);
    let (now, attempts) = bank.follow(&kit, &came_back, (5 * MINUTE, 3)).await;
    assert_eq!(now.status(), RefundStatus::Returned, "{attempts:?}");
    let kinds = async || letters(&kit).await.into_iter().map(|letter| letter.kind).collect::<Vec<_>>();
    assert_eq!(kinds().await, [LetterKind::Receipt]);
    let arrived = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    let (now, _) = bank.follow(&kit, &arrived, ONCE).await;
    assert!(is_done(&now), "{now:?}");
    assert_eq!(kinds().await, [LetterKind::Receipt, LetterKind::RefundMade]);
}
