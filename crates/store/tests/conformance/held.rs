//! Held money that pays another payment or another amount, and the lists of held money.

use domain::{
    id::{PaymentId, mint},
    money::Rupiah,
    payment::Payment,
    project::Project,
    receipt::{Decided, Decider, Decision, Unapplied, UnappliedReceipt},
};
use futures_util::future::join_all;
use store::{Balance, Change, Guard, HeldSum, LedgerWrite, Store, UnappliedFilter};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, AMOUNT, EVERYTHING, FEE, after, entropy, kept_payment, kept_project, receipt_key},
};

on_every_database![
    held_money_pays_the_payment_that_it_is_assigned_to_and_settles_as_what_is_left_of_it,
    a_payment_is_paid_once_however_many_receipts_are_accepted_for_it_at_once,
    a_decision_keeps_who_made_it,
    held_money_is_listed_by_what_became_of_it_and_by_payment,
    the_sum_of_held_money_is_of_what_nobody_has_decided_about,
    the_event_of_a_payment_that_assigned_money_paid_is_found,
];

async fn kept(store: &Store, project: &Project) -> Payment {
    kept_payment(store, samples::payment(project)).await
}

async fn held(store: &Store, payment: &Payment, receipt: &str, amount: Rupiah) {
    keep(store, samples::surplus(payment, receipt, amount, Unapplied::WrongAmount)).await;
}

async fn of(store: &Store, project: &Project, filter: UnappliedFilter, payment: Option<PaymentId>) -> Vec<String> {
    let listed = store.unapplied_receipts(project.id, filter, payment, EVERYTHING).await.unwrap();
    assert_eq!(listed.total, listed.items.len() as i64);
    listed.items.into_iter().map(|held| held.receipt.key.id).collect()
}

async fn held_money_pays_the_payment_that_it_is_assigned_to_and_settles_as_what_is_left_of_it(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (sender, more, less) =
        (kept(&store, &project).await, kept(&store, &project).await, kept(&store, &project).await);
    let [much, little] = [15_000, 9_000].map(Rupiah::new);
    held(&store, &sender, "much", much).await;
    held(&store, &sender, "little", little).await;
    keep(&store, samples::acceptance_of(&more, "much", much, after(20))).await;
    keep(&store, samples::acceptance_of(&less, "little", little, after(30))).await;
    let left = [much - FEE, little - FEE];
    let pending = Balance { pending: left[0] + left[1], ..Balance::default() };
    assert_eq!(store.balance(project.id, None).await.unwrap(), pending);
    assert_eq!(store.breaches().await.unwrap(), []);
    let due = store.due_to_settle(after(100_000), 10).await.unwrap();
    let due: Vec<_> = due.iter().map(|due| (due.payment_id, due.left)).collect();
    assert_eq!(due, [(more.id, left[0]), (less.id, left[1])]);
    for (payment, net) in [(&more, left[0]), (&less, left[1])] {
        keep(&store, samples::settlement_of(payment, net, after(100_000))).await;
    }
    let available = Balance { available: left[0] + left[1], ..Balance::default() };
    assert_eq!(store.balance(project.id, None).await.unwrap(), available);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_payment_is_paid_once_however_many_receipts_are_accepted_for_it_at_once(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (sender, payment) = (kept(&store, &project).await, kept(&store, &project).await);
    let receipts: Vec<String> = (0..12).map(|number| format!("r-{number}")).collect();
    for receipt in &receipts {
        held(&store, &sender, receipt, AMOUNT).await;
    }
    let accepting = receipts.iter().map(|receipt| commit(&store, samples::acceptance(&payment, receipt, after(20))));
    let outcomes = join_all(accepting).await;
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert_eq!((count(Outcome::Kept), count(Outcome::Conflict(Guard::PaymentVersion))), (1, 11));
    let balance = store.balance(project.id, None).await.unwrap();
    assert_eq!((balance.pending, balance.unapplied), (AMOUNT - FEE, Rupiah::new(11 * AMOUNT.get())));
    assert_eq!(of(&store, &project, UnappliedFilter::Undecided, None).await.len(), 11);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_decision_keeps_who_made_it(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = kept(&store, &project).await;
    let at = after(20);
    for by in [Decider::User(mint(at, entropy())), Decider::Key(mint(at, entropy()))] {
        let id = by.to_string();
        held(&store, &payment, &id, AMOUNT).await;
        let decided = Decided {
            decision: Decision::Returned,
            at,
            note: "Dikirim kembali".to_owned(),
            by: Some(by),
            refund: None,
        };
        let (key, project_id) = (receipt_key(&id), project.id);
        let write = LedgerWrite::ReceiptDecided { key, project_id, decided: decided.clone() };
        let posting = domain::ledger::Posting::returned(project.id, payment.id, receipt_key(&id), AMOUNT, at);
        keep(&store, Change::from(write).with(LedgerWrite::Posting(posting))).await;
        let listed = store.unapplied_receipts(project.id, UnappliedFilter::Decided, None, EVERYTHING).await.unwrap();
        let found = listed.items.into_iter().find(|held| held.receipt.key.id == id);
        assert_eq!(found.and_then(|held| held.decided), Some(decided));
    }
}

async fn held_money_is_listed_by_what_became_of_it_and_by_payment(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let (one, two, three) = (kept(&store, &project).await, kept(&store, &project).await, kept(&store, &project).await);
    let elsewhere = kept(&store, &other).await;
    for (payment, receipt) in [(&one, "a"), (&one, "b"), (&two, "c"), (&two, "d"), (&elsewhere, "e")] {
        held(&store, payment, receipt, AMOUNT).await;
    }
    keep(&store, samples::acceptance(&three, "b", after(20))).await;
    keep(&store, samples::giving_back(&two, "c", AMOUNT, after(30))).await;
    for (filter, payment, expected) in [
        (UnappliedFilter::All, None, vec!["a", "b", "c", "d"]),
        (UnappliedFilter::Undecided, None, vec!["a", "d"]),
        (UnappliedFilter::Decided, None, vec!["c", "b"]),
        (UnappliedFilter::Accepted, None, vec!["b"]),
        (UnappliedFilter::Returned, None, vec!["c"]),
        (UnappliedFilter::All, Some(one.id), vec!["a", "b"]),
        (UnappliedFilter::All, Some(three.id), vec!["b"]),
        (UnappliedFilter::Returned, Some(two.id), vec!["c"]),
        (UnappliedFilter::Undecided, Some(three.id), vec![]),
        (UnappliedFilter::All, Some(elsewhere.id), vec![]),
    ] {
        assert_eq!(of(&store, &project, filter, payment).await, expected, "{filter:?} of {payment:?}");
    }
    let sent = store.receipts_sent_for(project.id, &[two.id, three.id, elsewhere.id]).await.unwrap();
    assert_eq!(sent.iter().map(|held| held.receipt.key.id.as_str()).collect::<Vec<_>>(), ["c", "d"]);
    assert!(store.receipts_sent_for(project.id, &[]).await.unwrap().is_empty());
    let listed = store.held_receipts(project.id, UnappliedFilter::Accepted, EVERYTHING).await.unwrap();
    let [money] = &listed.items[..] else { panic!("{listed:?}") };
    assert_eq!((money.payment.id, money.payment.terms.reference.as_str()), (one.id, one.terms.reference.as_str()));
    let UnappliedReceipt { payment_id, decided, .. } = &money.receipt;
    let decision = Decision::Accepted { payment_id: three.id, difference: Rupiah::ZERO };
    assert_eq!((*payment_id, decided.as_ref().map(|decided| decided.decision)), (one.id, Some(decision)));
}

async fn the_sum_of_held_money_is_of_what_nobody_has_decided_about(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let payment = kept(&store, &project).await;
    held(&store, &payment, "a", Rupiah::new(500)).await;
    held(&store, &payment, "b", Rupiah::new(700)).await;
    held(&store, &payment, "c", Rupiah::new(900)).await;
    keep(&store, samples::giving_back(&payment, "b", Rupiah::new(700), after(20))).await;
    let sum = HeldSum { receipts: 2, amount: Rupiah::new(1_400) };
    assert_eq!(store.held_sum(project.id).await.unwrap(), sum);
    assert_eq!(store.balance(project.id, None).await.unwrap().unapplied, sum.amount);
    assert_eq!(store.held_sum(other.id).await.unwrap(), HeldSum { receipts: 0, amount: Rupiah::ZERO });
}

async fn the_event_of_a_payment_that_assigned_money_paid_is_found(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (sender, payment) = (kept(&store, &project).await, kept(&store, &project).await);
    held(&store, &sender, "held", AMOUNT).await;
    keep(&store, samples::acceptance(&payment, "held", after(500_000))).await;
    assert_eq!(store.events_about(project.id, &payment.id.to_string()).await.unwrap().len(), 1);
    assert!(store.events_about(project.id, &sender.id.to_string()).await.unwrap().is_empty());
}
