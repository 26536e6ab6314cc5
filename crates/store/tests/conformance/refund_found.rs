//! Refunds that people have ended as failed while no bank knew what became of them, and that are found done after that.

use domain::{
    bank_account::BankAccount,
    destination::Destination,
    money::Rupiah,
    project::Project,
    receipt::{Unapplied, UnappliedReceipt},
    refund::{
        Refund, RefundState, RefundStatus, SumsMove,
        doubt::{Doubt, IN_BATCH, StatementFinding, StatementReading},
        transfer::TransferAttempt,
    },
    refund_settings::Party,
    time::Timestamp,
};
use store::{Balance, Guard, RefundWrite, Store, UnappliedFilter};

use crate::{
    bank_samples::kept_account,
    database::{Database, Outcome, commit, keep, on_every_database},
    refund_attempts::{attempt, noted},
    refund_samples::{
        PROCESSING, begun, destination, failed, finding_done, given_up, on_its_way, paid, returned, returning, settled,
        step, succeeded,
    },
    samples::{self, AMOUNT, EVERYTHING, FEE, after, kept_payment, kept_project},
};

on_every_database![
    a_doubt_is_read_as_it_was_written_and_the_later_reading_of_a_statement_stays,
    what_is_found_done_is_taken_from_what_is_pending_and_settling_moves_the_rest,
    only_what_was_found_done_may_exceed_the_money_received,
    a_refund_is_found_done_once_however_many_find_it_at_once,
    held_money_that_is_found_done_is_returned_by_it,
    held_money_that_was_sent_away_twice_is_taken_from_what_is_available,
    what_was_found_done_without_a_difference_breaks_an_invariant,
    a_doubt_about_an_uncertain_refund_waits_for_a_second_person,
    a_doubt_about_a_refund_of_a_batch_waits_for_a_second_person,
    a_refund_of_a_batch_is_found_done_with_a_difference_about_itself,
];

/// A refund of this amount that was given up, its project and the account that sent it.
async fn world(store: &Store, amount: i64) -> (BankAccount, Project, Refund) {
    let (account, project) = (kept_account(store).await, kept_project(store).await);
    let payment = paid(store, &project).await;
    let refund = on_its_way(store, &project, payment.id, amount).await;
    let refund = given_up(store, &refund, &attempt(&account, &refund, 1)).await;
    (account, project, refund)
}

async fn kept(store: &Store, refund: &Refund) -> Refund {
    store.refund(refund.id).await.unwrap().unwrap()
}

async fn a_doubt_is_read_as_it_was_written_and_the_later_reading_of_a_statement_stays(database: Database) {
    let store = database.open().await;
    let (account, _, given_up) = world(&store, 1_000).await;
    for is_confirmed in [false, true] {
        let doubt = Doubt { by: Party::CommandLine, at: after(250), attempt: 1, is_confirmed };
        let refund = Refund { doubt: Some(doubt), ..kept(&store, &given_up).await };
        let from = refund.state;
        keep(&store, RefundWrite::Changed { refund: Box::new(refund), from, sealed_number: None, claim: None }).await;
        assert_eq!(kept(&store, &given_up).await.doubt, Some(doubt));
    }
    assert_eq!(kept(&store, &given_up).await.doubt_about(2), None);
    // As it was before this was asked.
    database.run_beside("UPDATE refunds SET failing_confirmed = NULL").unwrap();
    assert_eq!(kept(&store, &given_up).await.doubt.map(|doubt| doubt.is_confirmed), Some(false));
    let reading = |at, found| StatementReading { at: after(at), found };
    for (read, stays) in [
        (reading(300, StatementFinding::Absent), reading(300, StatementFinding::Absent)),
        (reading(299, StatementFinding::Debited), reading(300, StatementFinding::Absent)),
        (reading(301, StatementFinding::OtherAmount), reading(301, StatementFinding::OtherAmount)),
    ] {
        keep(&store, RefundWrite::StatementRead { refund_id: given_up.id, number: 1, reading: read }).await;
        let known = store.refund_attempts(given_up.id).await.unwrap().remove(0);
        assert_eq!((known.statement, known.account_id), (Some(stays), account.id));
    }
}

async fn what_is_found_done_is_taken_from_what_is_pending_and_settling_moves_the_rest(database: Database) {
    let store = database.open().await;
    let (account, project, refund) = world(&store, 4_000).await;
    let before = store.balance(project.id, None).await.unwrap();
    assert_eq!(before, Balance { pending: AMOUNT - FEE, ..Balance::default() }, "the money is back");
    keep(&store, finding_done(&store, &refund, &attempt(&account, &refund, 1)).await).await;
    let found = kept(&store, &refund).await;
    assert_eq!((found.status(), found.split.pending), (RefundStatus::Succeeded, Rupiah::new(4_000)));
    assert_eq!(found.found.as_ref().map(|found| (found.at, found.failure.as_str())), Some((after(400), "no")));
    let due = store.due_to_settle(Timestamp::from_millis(i64::MAX), 10).await.unwrap();
    assert_eq!(due[0].left, AMOUNT - FEE - Rupiah::new(4_000));
    settled(&store, refund.of.about(), after(60_000)).await;
    let expected =
        Balance { available: AMOUNT - FEE - Rupiah::new(4_000), refunded: Rupiah::new(4_000), ..Balance::default() };
    assert_eq!(store.balance(project.id, None).await.unwrap(), expected);
    assert_eq!(store.breaches().await.unwrap(), []);
    // It comes back after that: what was pending is available.
    returned(&store, &refund).await;
    assert_eq!(store.balance(project.id, None).await.unwrap().available, AMOUNT - FEE);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn only_what_was_found_done_may_exceed_the_money_received(database: Database) {
    let store = database.open().await;
    let (account, project, first) = world(&store, AMOUNT.get()).await;
    let second = begun(&store, &project, first.of.about(), AMOUNT.get(), PROCESSING).await;
    keep(&store, finding_done(&store, &first, &attempt(&account, &first, 1)).await).await;
    let expected = Balance { available: -AMOUNT - FEE, refunding: AMOUNT, refunded: AMOUNT, ..Balance::default() };
    assert_eq!(store.balance(project.id, None).await.unwrap(), expected);
    assert_eq!(store.breaches().await.unwrap(), []);
    let basis = store.refundable(first.of.about()).await.unwrap().unwrap();
    assert_eq!(basis.refundable.left(), -AMOUNT);
    let moved = SumsMove { succeeded: Rupiah::ZERO, unfinished: Rupiah::new(1) };
    let more = RefundWrite::Sums { payment_id: first.of.about(), version: basis.version, moved };
    assert_eq!(commit(&store, more).await, Outcome::Conflict(Guard::PaymentVersion), "nothing more goes back");
    // The other goes on to its end all the same.
    succeeded(&store, &second).await;
    assert_eq!(store.breaches().await.unwrap(), []);
    returned(&store, &first).await;
    returned(&store, &second).await;
    let expected = Balance { pending: AMOUNT - FEE, ..Balance::default() };
    assert_eq!(store.balance(project.id, None).await.unwrap(), expected);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_refund_is_found_done_once_however_many_find_it_at_once(database: Database) {
    let store = database.open().await;
    let (account, project, refund) = world(&store, 4_000).await;
    let attempt = attempt(&account, &refund, 1);
    let (one, two) = (finding_done(&store, &refund, &attempt).await, finding_done(&store, &refund, &attempt).await);
    let (one, two) = futures_util::future::join(commit(&store, one), commit(&store, two)).await;
    let outcomes = [one, two];
    assert!(outcomes.contains(&Outcome::Kept), "{outcomes:?}");
    assert!(outcomes.iter().any(|outcome| matches!(outcome, Outcome::Conflict(_))), "{outcomes:?}");
    assert_eq!(store.balance(project.id, None).await.unwrap().refunded, Rupiah::new(4_000));
    assert_eq!(store.breaches().await.unwrap(), []);
}

/// Held money whose refund was given up.
async fn held_and_given_up(store: &Store, project: &Project) -> (UnappliedReceipt, Refund, BankAccount) {
    let payment = kept_payment(store, samples::payment(project)).await;
    keep(store, samples::surplus(&payment, &payment.id.to_string(), AMOUNT, Unapplied::TooLate)).await;
    let held = store.unapplied_receipts(project.id, UnappliedFilter::Undecided, None, EVERYTHING).await.unwrap();
    let held = held.items.into_iter().find(|held| held.payment_id == payment.id).unwrap();
    let (refund, change) = returning(project, &held);
    keep(store, change).await;
    let to: Destination = destination();
    let given = RefundWrite::Changed {
        refund: Box::new(Refund { destination: Some(to), ..refund.clone() }),
        from: refund.state,
        sealed_number: Some(vec![4, 5, 6]),
        claim: None,
    };
    keep(store, given).await;
    let (account, refund) = (kept_account(store).await, kept(store, &refund).await);
    let refund = given_up(store, &refund, &attempt(&account, &refund, 1)).await;
    (held, refund, account)
}

async fn held_money_that_is_found_done_is_returned_by_it(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (held, refund, account) = held_and_given_up(&store, &project).await;
    assert_eq!(store.balance(project.id, None).await.unwrap().unapplied, AMOUNT, "it is held again");
    keep(&store, finding_done(&store, &refund, &attempt(&account, &refund, 1)).await).await;
    let expected = Balance { refunded: AMOUNT, ..Balance::default() };
    assert_eq!(store.balance(project.id, None).await.unwrap(), expected);
    let decided = store.unapplied_receipt(project.id, held.id).await.unwrap().unwrap().decided;
    assert_eq!(decided.and_then(|decided| decided.refund), Some(refund.id));
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn held_money_that_was_sent_away_twice_is_taken_from_what_is_available(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (held, refund, account) = held_and_given_up(&store, &project).await;
    let (again, change) = returning(&project, &held);
    keep(&store, change).await;
    succeeded(&store, &again).await;
    keep(&store, finding_done(&store, &refund, &attempt(&account, &refund, 1)).await).await;
    let expected = Balance { available: -AMOUNT, refunded: AMOUNT + AMOUNT, ..Balance::default() };
    assert_eq!(store.balance(project.id, None).await.unwrap(), expected);
    assert_eq!(store.breaches().await.unwrap(), []);
    returned(&store, &refund).await;
    let expected = Balance { refunded: AMOUNT, ..Balance::default() };
    assert_eq!(store.balance(project.id, None).await.unwrap(), expected, "it is available again");
    let decided = store.unapplied_receipt(project.id, held.id).await.unwrap().unwrap().decided;
    assert_eq!(decided.and_then(|decided| decided.refund), Some(again.id), "the second refund stands");
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn what_was_found_done_without_a_difference_breaks_an_invariant(database: Database) {
    let store = database.open().await;
    let (account, _, refund) = world(&store, 4_000).await;
    keep(&store, finding_done(&store, &refund, &attempt(&account, &refund, 1)).await).await;
    assert_eq!(store.breaches().await.unwrap(), []);
    database.run_beside("DELETE FROM bank_differences").unwrap();
    let breaches = store.breaches().await.unwrap();
    assert_eq!(breaches.len(), 1, "{breaches:?}");
    assert!(breaches[0].invariant.starts_with("I26 a refund that was found done"), "{breaches:?}");
    assert_eq!(breaches[0].row, refund.id.to_string());
}

async fn a_doubt_about_an_uncertain_refund_waits_for_a_second_person(database: Database) {
    let store = database.open().await;
    let (account, project) = (kept_account(&store).await, kept_project(&store).await);
    let payment = paid(&store, &project).await;
    let refund = on_its_way(&store, &project, payment.id, 1_000).await;
    let sending = attempt(&account, &refund, 1);
    let sent = crate::refund_attempts::sent(sending.clone(), &refund);
    keep(&store, sent).await;
    let waiting = async || store.refunds_for_a_second(EVERYTHING).await.unwrap();
    for (number, waits) in [(2, 0), (1, 1)] {
        let doubt = Doubt { by: Party::CommandLine, at: after(250), attempt: number, is_confirmed: false };
        let now = kept(&store, &refund).await;
        let from = now.state;
        let now = Box::new(Refund { doubt: Some(doubt), ..now });
        keep(&store, RefundWrite::Changed { refund: now, from, sealed_number: None, claim: None }).await;
        assert_eq!(waiting().await.total, 0, "the bank may still answer the call");
        if waits == 1 {
            keep(&store, noted(&sending, domain::refund::transfer::AttemptState::Unknown)).await;
            assert_eq!(waiting().await.items.iter().map(|one| one.id).collect::<Vec<_>>(), [refund.id]);
        }
    }
    let ended = step(&store, &refund, |refund, unsettled| refund.fail("no".to_owned(), unsettled, after(300))).await;
    keep(&store, ended).await;
    assert_eq!((waiting().await.total, kept(&store, &refund).await.state), (0, RefundState::Failed));
}

/// A refund in the first batch of its project.
async fn batched(store: &Store) -> Refund {
    let project = kept_project(store).await;
    let payment = paid(store, &project).await;
    let refund = on_its_way(store, &project, payment.id, 1_000).await;
    let batch = RefundWrite::Batch {
        project_id: project.id,
        number: 1,
        made_by: Party::CommandLine,
        at: after(210),
        refunds: vec![(refund.id, refund.version)],
    };
    keep(store, batch).await;
    kept(store, &refund).await
}

async fn a_doubt_about_a_refund_of_a_batch_waits_for_a_second_person(database: Database) {
    let store = database.open().await;
    let refund = batched(&store).await;
    let waiting = async || store.refunds_for_a_second(EVERYTHING).await.unwrap().total;
    assert_eq!(waiting().await, 0);
    let doubt = Some(Doubt { by: Party::CommandLine, at: after(250), attempt: IN_BATCH, is_confirmed: true });
    let (from, now) = (refund.state, Box::new(Refund { doubt, ..refund.clone() }));
    keep(&store, RefundWrite::Changed { refund: now, from, sealed_number: None, claim: None }).await;
    assert_eq!(waiting().await, 1);
    failed(&store, &refund).await;
    assert_eq!(waiting().await, 0);
}

async fn a_refund_of_a_batch_is_found_done_with_a_difference_about_itself(database: Database) {
    let store = database.open().await;
    let (account, refund) = (kept_account(&store).await, batched(&store).await);
    let batch = async || store.refund_batch(refund.project_id, 1).await.unwrap().unwrap();
    failed(&store, &refund).await;
    assert_eq!((batch().await.open, batch().await.released), (0, 1));
    let itself = TransferAttempt { reference: refund.id.to_string(), ..attempt(&account, &refund, 1) };
    keep(&store, finding_done(&store, &kept(&store, &refund).await, &itself).await).await;
    assert_eq!(batch().await.released, 0);
    assert_eq!(store.breaches().await.unwrap(), []);
    database.run_beside("DELETE FROM bank_differences").unwrap();
    let breaches = store.breaches().await.unwrap();
    assert!(breaches.len() == 1 && breaches[0].row == refund.id.to_string(), "{breaches:?}");
}
