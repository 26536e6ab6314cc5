//! Unapplied money: it is held until a member decides about it, once.

use domain::{
    id::{ProjectId, mint},
    money::Rupiah,
    receipt::{Decided, Decision, Receipt, Unapplied, UnappliedReceipt},
    time::Timestamp,
};
use futures_util::future::join_all;
use store::{Balance, Guard, HeldSum, Noted, Store, UnappliedFilter, Window};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, AMOUNT, EVERYTHING, FEE, NOW, after, kept_payment, kept_project, receipt_key},
};

on_every_database![
    held_money_is_read_back_with_what_was_decided_about_it,
    held_money_is_listed_until_somebody_decides_about_it,
    held_money_is_counted_and_added_up_until_somebody_decides_about_it,
    held_money_is_decided_about_once_however_many_try,
    accepted_money_pays_and_returned_money_leaves,
];

async fn listed(store: &Store, project: ProjectId, filter: UnappliedFilter) -> Vec<String> {
    let listed = store.unapplied_receipts(project, filter, None, EVERYTHING).await.unwrap();
    assert_eq!(listed.total, listed.items.len() as i64);
    listed.items.into_iter().map(|held| held.receipt.key.id).collect()
}

async fn held_money_is_read_back_with_what_was_decided_about_it(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let payment = kept_payment(&store, samples::payment(&project)).await;
    let amount = Rupiah::new(500);
    keep(&store, samples::surplus(&payment, "held", amount, Unapplied::WrongAmount)).await;
    keep(&store, samples::confirmation(&payment, None, "applied")).await;
    keep(&store, samples::note(&payment, "progress", Noted::Progress)).await;
    let all = store.unapplied_receipts(project.id, UnappliedFilter::All, None, EVERYTHING).await.unwrap();
    let [UnappliedReceipt { id, .. }] = all.items[..] else { panic!("{all:?}") };
    let held = UnappliedReceipt {
        id,
        receipt: Receipt { key: receipt_key("held"), amount, paid_at: NOW, received_at: after(10) },
        project_id: project.id,
        payment_id: payment.id,
        reason: Unapplied::WrongAmount,
        decided: None,
    };
    assert_eq!(store.unapplied_receipt(project.id, id).await.unwrap().as_ref(), Some(&held));
    for (project, id) in [(other.id, id), (project.id, mint(NOW, samples::entropy()))] {
        assert_eq!(store.unapplied_receipt(project, id).await.unwrap(), None);
    }
    keep(&store, samples::giving_back(&payment, "held", amount, after(20))).await;
    let note = "Dihubungi\nlewat telepon".to_owned();
    let decided = Some(Decided { decision: Decision::Returned, at: after(20), note, by: None, refund: None });
    let held = UnappliedReceipt { decided, ..held };
    assert_eq!(store.unapplied_receipt(project.id, id).await.unwrap(), Some(held));
}

async fn held_money_is_listed_until_somebody_decides_about_it(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let payment = kept_payment(&store, samples::payment(&project)).await;
    let elsewhere = kept_payment(&store, samples::payment(&other)).await;
    for (payment, receipt) in [(&payment, "a"), (&payment, "b"), (&elsewhere, "c")] {
        keep(&store, samples::surplus(payment, receipt, AMOUNT, Unapplied::TooLate)).await;
    }
    keep(&store, samples::confirmation(&payment, None, "applied")).await;
    assert_eq!(listed(&store, project.id, UnappliedFilter::Undecided).await, ["a", "b"]);
    assert!(listed(&store, project.id, UnappliedFilter::Decided).await.is_empty());
    for (id, at) in [("a", after(20)), ("b", after(30))] {
        keep(&store, samples::giving_back(&payment, id, AMOUNT, at)).await;
    }
    assert!(listed(&store, project.id, UnappliedFilter::Undecided).await.is_empty());
    assert_eq!(listed(&store, project.id, UnappliedFilter::Decided).await, ["b", "a"]);
    let window = Window { offset: 1, limit: 5 };
    let second = store.unapplied_receipts(project.id, UnappliedFilter::Decided, None, window).await.unwrap();
    assert_eq!((second.items.len(), second.total), (1, 2));
    assert_eq!(listed(&store, other.id, UnappliedFilter::Undecided).await, ["c"]);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn held_money_is_counted_and_added_up_until_somebody_decides_about_it(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let payment = kept_payment(&store, samples::payment(&project)).await;
    for (receipt, amount) in [("a", AMOUNT), ("b", FEE)] {
        keep(&store, samples::surplus(&payment, receipt, amount, Unapplied::TooLate)).await;
    }
    let held = async |project| store.held_sum(project).await.unwrap();
    assert_eq!(held(project.id).await, HeldSum { receipts: 2, amount: AMOUNT + FEE });
    assert_eq!(held(other.id).await, HeldSum::default());
    keep(&store, samples::giving_back(&payment, "a", AMOUNT, after(20))).await;
    assert_eq!(held(project.id).await, HeldSum { receipts: 1, amount: FEE });
}

async fn held_money_is_decided_about_once_however_many_try(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = kept_payment(&store, samples::payment(&project)).await;
    keep(&store, samples::surplus(&payment, "held", AMOUNT, Unapplied::TooLate)).await;
    let deciding = (0..16).map(|turn| {
        let change = match turn % 2 {
            0 => samples::acceptance(&payment, "held", after(20)),
            _ => samples::giving_back(&payment, "held", AMOUNT, after(20)),
        };
        commit(&store, change)
    });
    let outcomes = join_all(deciding).await;
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert_eq!((count(Outcome::Kept), count(Outcome::Conflict(Guard::ReceiptUndecided))), (1, 15));
    assert_eq!(store.balance(project.id, None).await.unwrap().unapplied, Rupiah::ZERO);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn accepted_money_pays_and_returned_money_leaves(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let accepted = kept_payment(&store, samples::payment(&project)).await;
    let returned = kept_payment(&store, samples::payment(&project)).await;
    for (payment, id) in [(&accepted, "one"), (&returned, "two")] {
        keep(&store, samples::surplus(payment, id, AMOUNT, Unapplied::TooLate)).await;
    }
    let balance = |at: Timestamp| store.balance(project.id, Some(at));
    keep(&store, samples::acceptance(&accepted, "one", after(20))).await;
    keep(&store, samples::giving_back(&returned, "two", AMOUNT, after(30))).await;
    let held = Balance { unapplied: AMOUNT + AMOUNT, ..Balance::default() };
    let paid = Balance { pending: AMOUNT - FEE, unapplied: AMOUNT, ..Balance::default() };
    assert_eq!(balance(after(10)).await.unwrap(), held);
    assert_eq!(balance(after(20)).await.unwrap(), paid);
    assert_eq!(balance(after(30)).await.unwrap(), Balance { unapplied: Rupiah::ZERO, ..paid });
    // It settles like other paid payments.
    let due = store.due_to_settle(after(100_000), 10).await.unwrap();
    assert_eq!(due.iter().map(|due| due.payment_id).collect::<Vec<_>>(), [accepted.id]);
    keep(&store, samples::settlement(&accepted, after(100_000))).await;
    assert_eq!(store.breaches().await.unwrap(), []);
}
