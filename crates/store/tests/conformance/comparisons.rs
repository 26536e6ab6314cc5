//! Which node compares an account, and what a comparison reads.

use std::time::Duration;

use domain::{
    bank_account::BankAccount,
    bank_difference::{Difference, DifferenceKey, DifferenceKind},
    bank_money::MoneyMarks,
    bank_request::jakarta_day,
    opening::MoneySource,
    receipt::ReceiptKey,
    stray::Stray,
    time::Timestamp,
};
use store::{After, BankWrite, Change, CommitError, Guard, OpeningWrite, Store, Window};

use crate::{
    bank_samples::kept_account,
    database::{Database, keep, on_every_database},
    samples::{AMOUNT, NOW, after},
};

on_every_database![
    one_node_at_a_time_has_the_comparing_of_an_account,
    only_the_node_that_has_the_comparing_ends_it,
    money_of_a_day_is_read_page_by_page_in_the_order_in_which_it_was_paid,
    a_difference_is_kept_once_and_settled_once,
];

fn leased(account: &BankAccount, now: Timestamp, until: Timestamp) -> Change {
    OpeningWrite::ComparisonLeased { account_id: account.id, now, until }.into()
}

async fn is_taken(store: &Store, change: Change) -> bool {
    match store.commit(change).await {
        Ok(()) => false,
        Err(CommitError::Conflict(Guard::Comparing)) => true,
        Err(error) => panic!("{error}"),
    }
}

async fn one_node_at_a_time_has_the_comparing_of_an_account(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let until = after(60);
    assert!(!is_taken(&store, leased(&account, NOW, until)).await);
    assert!(is_taken(&store, leased(&account, after(59), after(90))).await);
    let renewed = |from, until| Change::from(OpeningWrite::ComparisonRenewed { account_id: account.id, from, until });
    assert!(!is_taken(&store, renewed(until, after(100))).await);
    assert!(is_taken(&store, renewed(until, after(200))).await, "the lease has another end by now");
    // When it has run out, another node takes it over, and the first can neither keep nor end it.
    assert!(!is_taken(&store, leased(&account, after(100), after(160))).await);
    assert!(is_taken(&store, renewed(after(100), after(200))).await);
    store.close().await;
}

async fn only_the_node_that_has_the_comparing_ends_it(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    assert_eq!(store.comparison_retry_at(account.id).await.unwrap(), None);
    keep(&store, leased(&account, after(100), after(160))).await;
    let ended = |from| OpeningWrite::ComparisonEnded { account_id: account.id, from, retry_at: after(500) };
    keep(&store, ended(after(100))).await;
    assert!(is_taken(&store, leased(&account, after(101), after(161))).await);
    keep(&store, ended(after(160))).await;
    assert_eq!(store.comparison_retry_at(account.id).await.unwrap(), Some(after(500)));
    assert!(!is_taken(&store, leased(&account, after(101), after(161))).await);
    store.close().await;
}

async fn money_of_a_day_is_read_page_by_page_in_the_order_in_which_it_was_paid(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let until = NOW.plus(Duration::from_millis(10));
    for (receipt, millis) in [("b", 0), ("a", 0), ("c", 5), ("late", 10), ("d", 9)] {
        let paid_at = NOW.plus(Duration::from_millis(millis));
        let key = ReceiptKey { provider: account.id.to_string(), id: receipt.to_owned() };
        let stray = Stray {
            id: domain::id::mint(NOW, [receipt.as_bytes()[0]; domain::id::ENTROPY_BYTES]),
            account_id: account.id,
            receipt_id: receipt.to_owned(),
            number: "1".to_owned(),
            amount: Some(AMOUNT),
            paid_at,
            received_at: NOW,
            decided: None,
            body: None,
        };
        let told = OpeningWrite::MoneyTold {
            receipt: key,
            bank_id: receipt.to_owned(),
            marks: MoneyMarks::default(),
            source: MoneySource::Report,
            amount: AMOUNT,
            paid_at,
            at: after(1),
        };
        keep(&store, Change::from(told).with(BankWrite::StrayReceived(stray))).await;
    }
    let mut found = Vec::new();
    let mut next = After { at: NOW, text: String::new(), most: 2 };
    loop {
        let page = store.told_money(account.id, next, until).await.unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 2);
        next = After { at: last.paid_at, text: last.receipt_id.clone(), most: 2 };
        found.extend(page.into_iter().map(|told| told.receipt_id));
    }
    assert_eq!(found, ["a", "b", "c", "d"]);
    let told = store.told_receipt(account.id, "late").await.unwrap().unwrap();
    assert_eq!((told.amount, told.told_at, told.payment), (AMOUNT, after(1), None));
    assert_eq!(store.told_receipt(account.id, "none").await.unwrap(), None);
    store.close().await;
}

async fn a_difference_is_kept_once_and_settled_once(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let key = DifferenceKey { account_id: account.id, subject: "R-1".to_owned(), kind: DifferenceKind::Fee };
    let found = |found_at| Difference {
        key: key.clone(),
        day: jakarta_day(NOW),
        payment_id: None,
        ours: Some(AMOUNT),
        theirs: None,
        found_at,
        settled: None,
    };
    keep(&store, OpeningWrite::DifferenceFound(found(NOW))).await;
    keep(&store, OpeningWrite::DifferenceFound(found(after(5)))).await;
    assert_eq!(store.count_open_differences().await.unwrap(), 1);
    assert_eq!(store.difference(&key).await.unwrap(), Some(found(NOW)));
    let settle = |note: &str| OpeningWrite::DifferenceSettled { key: key.clone(), at: after(9), note: note.to_owned() };
    keep(&store, settle("seen to")).await;
    let again = store.commit(settle("twice").into()).await;
    assert!(matches!(again, Err(CommitError::Conflict(Guard::DifferenceOpen))));
    let settled = Difference { settled: Some((after(9), "seen to".to_owned())), ..found(NOW) };
    let all = Window { offset: 0, limit: 10 };
    assert_eq!(store.differences(false, all).await.unwrap().items, [settled]);
    assert_eq!(store.differences(true, all).await.unwrap().total, 0);
    store.close().await;
}
