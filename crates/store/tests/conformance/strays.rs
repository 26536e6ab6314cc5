//! Strays: each is received once and decided about once, and what was booked for it stays.

use domain::{
    bank_account::BankAccount,
    id::mint,
    money::Rupiah,
    stray::{Stray, StrayDecision},
};
use futures_util::future::join_all;
use store::{BankWrite, Change, Guard, OpenStrays, Window};

use crate::{
    bank_samples::{assigned_stray, decision, kept_account, kept_stray, returned, stray, strayed},
    database::{Database, Outcome, commit, keep, on_every_database},
    opening_samples::money_told,
    samples::{AMOUNT, EVERYTHING, NOW, account_payment, after, entropy, kept_payment, kept_project},
};

on_every_database![
    a_stray_is_received_once,
    a_decision_about_a_stray_is_read_back,
    a_stray_is_decided_about_once,
    of_many_that_decide_about_a_stray_at_once_exactly_one_wins,
    strays_are_listed_newest_first_open_ones_apart,
    what_was_booked_for_strays_is_never_changed,
    a_stray_has_the_parts_of_its_decision,
    a_notice_that_cannot_be_read_is_kept_once_and_on_no_books,
    the_amount_of_a_notice_that_cannot_be_read_is_stated_once,
];

async fn a_stray_is_received_once(database: Database) {
    let store = database.open().await;
    let (account, other) = (kept_account(&store).await, kept_account(&store).await);
    let first = kept_stray(&store, &account, "money").await;
    assert_eq!(store.stray(first.id).await.unwrap().as_ref(), Some(&first));
    let before = database.rows();
    let again = stray(&account, "money");
    for change in [BankWrite::StrayReceived(again.clone()).into(), strayed(&account, &again)] {
        assert_eq!(commit(&store, change).await, Outcome::Conflict(Guard::Receipt));
    }
    assert_eq!(database.rows(), before);
    assert_eq!(store.stray(again.id).await.unwrap(), None);
    kept_stray(&store, &account, "other money").await;
    kept_stray(&store, &other, "money").await;
    assert_eq!(store.open_strays().await.unwrap().count, 3);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_decision_about_a_stray_is_read_back(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let payment = kept_payment(&store, account_payment(&project, "1234500001")).await;
    let (fits, foreign) = (kept_stray(&store, &account, "fits").await, kept_stray(&store, &account, "foreign").await);
    keep(&store, assigned_stray(&fits, &payment)).await;
    keep(&store, returned(&foreign)).await;
    let assigned = StrayDecision::Assigned { project_id: project.id, payment_id: payment.id };
    for (stray, expected) in [(&fits, assigned), (&foreign, StrayDecision::Returned)] {
        let stored = store.stray(stray.id).await.unwrap().unwrap();
        assert_eq!(stored, Stray { decided: Some(decision(expected)), ..stray.clone() });
    }
    assert_eq!(store.payment_of_receipt(&fits.receipt_key()).await.unwrap(), Some(payment.id));
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_stray_is_decided_about_once(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let payment = kept_payment(&store, account_payment(&project, "1234500001")).await;
    let other = kept_payment(&store, account_payment(&project, "1234500002")).await;
    let (fits, foreign) = (kept_stray(&store, &account, "fits").await, kept_stray(&store, &account, "foreign").await);
    keep(&store, assigned_stray(&fits, &payment)).await;
    keep(&store, returned(&foreign)).await;
    let before = database.rows();
    let unheard_of = stray(&account, "unheard of");
    for (change, guard) in [
        (returned(&fits).into(), Guard::StrayUndecided),
        (returned(&foreign).into(), Guard::StrayUndecided),
        (returned(&unheard_of).into(), Guard::StrayUndecided),
        (assigned_stray(&foreign, &other), Guard::StrayUndecided),
        // The money is a receipt already.
        (assigned_stray(&fits, &other), Guard::Receipt),
    ] {
        assert_eq!(commit(&store, change).await, Outcome::Conflict(guard));
    }
    assert_eq!(database.rows(), before);
}

async fn of_many_that_decide_about_a_stray_at_once_exactly_one_wins(database: Database) {
    const CALLERS: usize = 16;
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let stray = kept_stray(&store, &account, "money").await;
    let mut changes = Vec::new();
    for index in 0..CALLERS {
        let payment = kept_payment(&store, account_payment(&project, &format!("123450000{index}"))).await;
        changes.push(if index % 2 == 0 { assigned_stray(&stray, &payment) } else { returned(&stray).into() });
    }
    let callers = changes.into_iter().map(|change| {
        let store = store.clone();
        tokio::spawn(async move { commit(&store, change).await })
    });
    let outcomes: Vec<Outcome> = join_all(callers).await.into_iter().map(Result::unwrap).collect();
    let lost = [Outcome::Conflict(Guard::StrayUndecided), Outcome::Conflict(Guard::Receipt)];
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Kept).count(), 1, "{outcomes:?}");
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Kept || lost.contains(outcome)), "{outcomes:?}");
    assert!(store.stray(stray.id).await.unwrap().unwrap().decided.is_some());
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn strays_are_listed_newest_first_open_ones_apart(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    assert_eq!(store.open_strays().await.unwrap(), OpenStrays { count: 0, amount: Rupiah::ZERO, unreadable: 0 });
    let mut all = Vec::new();
    for id in ["1", "2", "3", "4"] {
        all.push(kept_stray(&store, &account, id).await);
    }
    keep(&store, returned(&all[1])).await;
    let listed = async |open, window| {
        let listed = store.strays(open, window).await.unwrap();
        (listed.items.into_iter().map(|stray| stray.receipt_id).collect::<Vec<_>>(), listed.total)
    };
    let ids = |ids: &[&str]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(listed(true, EVERYTHING).await, (ids(&["4", "3", "1"]), 3));
    assert_eq!(listed(true, Window { offset: 1, limit: 1 }).await, (ids(&["3"]), 3));
    assert_eq!(listed(true, Window { offset: 3, limit: 1 }).await, (ids(&[]), 3));
    assert_eq!(listed(false, EVERYTHING).await, (ids(&["2"]), 1));
    let open = OpenStrays { count: 3, amount: AMOUNT + AMOUNT + AMOUNT, unreadable: 0 };
    assert_eq!(store.open_strays().await.unwrap(), open);
}

async fn what_was_booked_for_strays_is_never_changed(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let stray = kept_stray(&store, &account, "money").await;
    keep(&store, returned(&stray)).await;
    let before = database.rows();
    for sql in [
        "UPDATE stray_entries SET amount = amount + 1",
        "DELETE FROM stray_entries WHERE movement = 'returned'",
        "DELETE FROM stray_entries",
    ] {
        let refused = database.run_beside(sql);
        assert!(refused.as_ref().is_err_and(|error| error.contains("append-only")), "{sql}: {refused:?}");
    }
    // Nor is there an entry of no stray, of another account or of nothing.
    for values in [
        "'str_none', 'received', 'strays', 1, 5".to_owned(),
        format!("'{}', 'received', 'fees', 1, 5", stray.id),
        format!("'{}', 'lost', 'strays', 1, 5", stray.id),
        format!("'{}', 'assigned', 'strays', 1, 0", stray.id),
    ] {
        assert!(database.run_beside(&format!("INSERT INTO stray_entries VALUES ({values})")).is_err(), "{values}");
    }
    assert_eq!(database.rows(), before);
}

async fn a_stray_has_the_parts_of_its_decision(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let payment = kept_payment(&store, account_payment(&project, "1234500001")).await;
    let known = kept_stray(&store, &account, "money").await;
    let before = database.rows();
    for (name, refused) in [
        ("of nothing", Stray { amount: Some(Rupiah::ZERO), ..stray(&account, "1") }),
        ("of no amount, and without a notice", Stray { amount: None, ..stray(&account, "1") }),
        ("of no account", Stray { account_id: mint(NOW, entropy()), ..stray(&account, "1") }),
    ] {
        assert_eq!(commit(&store, BankWrite::StrayReceived(refused)).await, Outcome::Unexpected, "{name}");
    }
    let (project, payment) = (project.id, payment.id);
    for set in [
        "decision = 'kept', decided_at = 1, decision_note = ''".to_owned(),
        "decision = 'returned'".to_owned(),
        "decision = 'returned', decided_at = 1".to_owned(),
        "decided_at = 1, decision_note = ''".to_owned(),
        "decision = 'assigned', decided_at = 1, decision_note = ''".to_owned(),
        format!("decision = 'assigned', decided_at = 1, decision_note = '', payment_id = '{payment}'"),
        format!("project_id = '{project}', payment_id = '{payment}'"),
        format!(
            "decision = 'returned', decided_at = 1, decision_note = '', project_id = '{project}', \
             payment_id = '{payment}'"
        ),
    ] {
        let sql = format!("UPDATE strays SET {set} WHERE id = '{}'", known.id);
        assert!(database.run_beside(&sql).is_err(), "{set}");
    }
    assert_eq!(database.rows(), before);
}

/// A notice that cannot be read.
fn unreadable(account: &BankAccount, receipt_id: &str) -> Stray {
    Stray { amount: None, body: Some("{\"amount\": \"a lot\"}".to_owned()), ..stray(account, receipt_id) }
}

/// What is committed when an operator states the amount.
fn stated(account: &BankAccount, stray: &Stray) -> Change {
    Change::from(BankWrite::StrayStated { id: stray.id, amount: AMOUNT, at: after(15) })
        .with(money_told(account, &stray.receipt_id))
}

async fn a_notice_that_cannot_be_read_is_kept_once_and_on_no_books(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let stray = unreadable(&account, "notice");
    keep(&store, BankWrite::StrayReceived(stray.clone())).await;
    let again = BankWrite::StrayReceived(unreadable(&account, "notice"));
    assert_eq!(commit(&store, again).await, Outcome::Conflict(Guard::Receipt));
    assert_eq!(store.stray(stray.id).await.unwrap().as_ref(), Some(&stray));
    let open = OpenStrays { count: 1, amount: Rupiah::ZERO, unreadable: 1 };
    assert_eq!((store.open_strays().await.unwrap(), store.breaches().await.unwrap()), (open, vec![]));
    keep(&store, returned(&stray)).await;
    assert_eq!(commit(&store, stated(&account, &stray)).await, Outcome::Conflict(Guard::StrayUndecided));
    assert_eq!((store.open_strays().await.unwrap().count, store.breaches().await.unwrap()), (0, vec![]));
}

async fn the_amount_of_a_notice_that_cannot_be_read_is_stated_once(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let stray = unreadable(&account, "notice");
    keep(&store, BankWrite::StrayReceived(stray.clone())).await;
    keep(&store, stated(&account, &stray)).await;
    // Nobody decides about it by what was known before.
    for change in [returned(&stray).into(), stated(&account, &stray)] {
        assert_eq!(commit(&store, change).await, Outcome::Conflict(Guard::StrayUndecided));
    }
    let open = OpenStrays { count: 1, amount: AMOUNT, unreadable: 0 };
    assert_eq!((store.open_strays().await.unwrap(), store.breaches().await.unwrap()), (open, vec![]));
    keep(&store, returned(&Stray { amount: Some(AMOUNT), ..stray })).await;
    assert_eq!((store.open_strays().await.unwrap().count, store.breaches().await.unwrap()), (0, vec![]));
}
