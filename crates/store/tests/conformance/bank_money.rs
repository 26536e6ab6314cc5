//! Money that banks have told us of: it is found again by its id where nothing that was said of it differs.

use std::time::Duration;

use domain::{bank_account::BankAccount, bank_money::MoneyMarks, opening::MoneySource, receipt::ReceiptKey};
use store::{BankWrite, Change, OpeningWrite, Store};

use crate::{
    bank_samples::{kept_account, stray},
    database::{Database, keep, on_every_database},
    samples::{AMOUNT, NOW, after},
};

on_every_database![
    money_is_found_by_its_id_where_all_that_both_say_agrees,
    money_in_another_amount_is_found_only_if_the_amount_may_differ,
    what_is_said_later_is_added_and_changes_nothing,
];

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn full() -> MoneyMarks {
    MoneyMarks {
        reference: text("R"),
        bank_reference: text("B"),
        number: text("1"),
        rrn: text("2"),
        payment_reference: text("3"),
        paid_at: Some(NOW),
    }
}

fn key(account: &BankAccount, id: &str) -> ReceiptKey {
    ReceiptKey { provider: account.id.to_string(), id: id.to_owned() }
}

/// Money that was told in full, money of which nothing was said, and money that has the id of the first.
async fn told(store: &Store) -> BankAccount {
    let account = kept_account(store).await;
    let apart = MoneyMarks { rrn: text("other"), ..full() };
    for (id, bank_id, marks) in
        [("id", "id", full()), ("bare", "bare", MoneyMarks::default()), ("id/apart", "id", apart)]
    {
        let told = OpeningWrite::MoneyTold {
            receipt: key(&account, id),
            bank_id: bank_id.to_owned(),
            marks,
            source: MoneySource::Notification,
            amount: AMOUNT,
            paid_at: NOW,
            at: after(1),
        };
        keep(store, Change::from(told).with(BankWrite::StrayReceived(stray(&account, id)))).await;
    }
    account
}

async fn found(store: &Store, account: &BankAccount, bank_id: &str, marks: &MoneyMarks) -> Option<String> {
    let found = store.money_alike(account.id, bank_id, marks, (AMOUNT, true)).await.unwrap();
    found.map(|money| money.receipt_id)
}

async fn money_is_found_by_its_id_where_all_that_both_say_agrees(database: Database) {
    let store = database.open().await;
    let account = told(&store).await;
    let soon = |millis| Some(NOW.plus(Duration::from_millis(millis)));
    for (marks, expected) in [
        (full(), text("id")),
        (MoneyMarks { paid_at: soon(999), ..full() }, text("id")),
        (MoneyMarks { reference: None, number: None, paid_at: None, ..full() }, text("id")),
        (MoneyMarks { rrn: text("other"), ..full() }, text("id/apart")),
        (MoneyMarks { paid_at: soon(1_000), ..full() }, None),
        (MoneyMarks { reference: text("x"), ..full() }, None),
        (MoneyMarks { bank_reference: text("x"), ..full() }, None),
        (MoneyMarks { number: text("x"), ..full() }, None),
        (MoneyMarks { rrn: text("x"), ..full() }, None),
        (MoneyMarks { payment_reference: text("x"), ..full() }, None),
    ] {
        assert_eq!(found(&store, &account, "id", &marks).await, expected, "{marks:?}");
        assert_eq!(found(&store, &account, "bare", &marks).await, text("bare"), "{marks:?}");
    }
    assert_eq!(found(&store, &account, "id/apart", &full()).await, None, "that is our id, and not the bank's");
    for (id, reference, expected) in [("id", "R", false), ("id", "x", true), ("bare", "R", true), ("none", "R", false)]
    {
        let is_shared = store.is_bank_id_shared(&key(&account, id), reference).await.unwrap();
        assert_eq!(is_shared, expected, "{id} {reference}");
    }
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn money_in_another_amount_is_found_only_if_the_amount_may_differ(database: Database) {
    let store = database.open().await;
    let account = told(&store).await;
    for (is_fixed, expected) in [(true, None), (false, text("id"))] {
        let found = store.money_alike(account.id, "id", &full(), (AMOUNT + AMOUNT, is_fixed)).await.unwrap();
        assert_eq!(found.map(|money| money.receipt_id), expected);
    }
}

async fn what_is_said_later_is_added_and_changes_nothing(database: Database) {
    let store = database.open().await;
    let account = told(&store).await;
    let other = MoneyMarks { rrn: text("x"), ..full() };
    for marks in [&full(), &other] {
        keep(&store, OpeningWrite::MoneyMarked { receipt: key(&account, "bare"), marks: marks.clone() }).await;
    }
    assert_eq!(found(&store, &account, "bare", &full()).await, text("bare"));
    assert_eq!(found(&store, &account, "bare", &other).await, None);
}
