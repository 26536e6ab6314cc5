//! Money that banks have told us of: it is found again by its id where nothing that was said of it differs.

use std::time::Duration;

use domain::{bank_account::BankAccount, bank_money::MoneyMarks, opening::MoneySource, receipt::ReceiptKey};
use store::{BankWrite, Change, Guard, OpeningWrite, Store};

use crate::{
    bank_samples::{kept_account, stray},
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{AMOUNT, NOW, after},
};

on_every_database![
    money_is_found_by_its_id_where_all_that_both_say_agrees,
    money_in_another_amount_is_found_only_if_the_amount_may_differ,
    times_agree_to_the_second_between_notifications_and_within_minutes_otherwise,
    the_first_notification_about_money_sets_the_time_that_others_are_compared_with,
    money_that_was_booked_without_an_amount_is_found_in_any,
    money_of_the_nearest_time_is_found_first,
    money_without_an_id_gets_one_name_of_the_bank,
    what_is_said_later_is_added_and_does_not_contradict,
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
        lacks_amount: false,
    }
}

fn key(account: &BankAccount, id: &str) -> ReceiptKey {
    ReceiptKey { provider: account.id.to_string(), id: id.to_owned() }
}

/// Money that was told in full, money of which nothing was said, and money that has the id of the first.
async fn account_with_money(store: &Store) -> BankAccount {
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
    let found = store.money_alike(account.id, bank_id, marks, (AMOUNT, MoneySource::Notification)).await.unwrap();
    found.map(|money| money.receipt_id)
}

async fn money_is_found_by_its_id_where_all_that_both_say_agrees(database: Database) {
    let store = database.open().await;
    let account = account_with_money(&store).await;
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
    let account = account_with_money(&store).await;
    let sources =
        [(MoneySource::Notification, None), (MoneySource::Query, text("id")), (MoneySource::Report, text("id"))];
    for (source, expected) in sources {
        let found = store.money_alike(account.id, "id", &full(), (AMOUNT + AMOUNT, source)).await.unwrap();
        assert_eq!(found.map(|money| money.receipt_id), expected);
    }
}

async fn times_agree_to_the_second_between_notifications_and_within_minutes_otherwise(database: Database) {
    let store = database.open().await;
    let account = account_with_money(&store).await;
    let (notified, asked) = (MoneySource::Notification, MoneySource::Query);
    for (source, millis, expected) in [
        (notified, 999, text("id")),
        (notified, 1_000, None),
        (asked, 1_000, text("id")),
        (asked, 299_999, text("id")),
        (asked, 300_000, None),
    ] {
        for at in [NOW.plus(Duration::from_millis(millis)), NOW.minus(Duration::from_millis(millis))] {
            let marks = MoneyMarks { paid_at: Some(at), ..full() };
            let found = store.money_alike(account.id, "id", &marks, (AMOUNT, source)).await.unwrap();
            assert_eq!(found.map(|money| money.receipt_id), expected, "{source:?} {millis}");
        }
    }
}

async fn tell(store: &Store, account: &BankAccount, id: &str, source: MoneySource, marks: MoneyMarks) {
    let (receipt, bank_id) = (key(account, id), id.to_owned());
    let told = OpeningWrite::MoneyTold { receipt, bank_id, marks, source, amount: AMOUNT, paid_at: NOW, at: after(1) };
    keep(store, Change::from(told).with(BankWrite::StrayReceived(stray(account, id)))).await;
}

async fn the_first_notification_about_money_sets_the_time_that_others_are_compared_with(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let at = |seconds| NOW.plus(Duration::from_secs(seconds));
    for source in [MoneySource::Query, MoneySource::Report] {
        let id = source.word();
        tell(&store, &account, id, source, full()).await;
        let is_found = async |seconds| {
            found(&store, &account, id, &MoneyMarks { paid_at: Some(at(seconds)), ..full() }).await.is_some()
        };
        assert!(is_found(0).await && is_found(2).await && is_found(92).await && !is_found(300).await);
        let first = |seconds| OpeningWrite::MoneyNotified { receipt: key(&account, id), paid_at: at(seconds) };
        assert_eq!(commit(&store, first(2)).await, Outcome::Kept);
        assert_eq!(commit(&store, first(92)).await, Outcome::Conflict(Guard::Receipt));
        assert!(!is_found(0).await && is_found(2).await && !is_found(92).await);
        let answer = (AMOUNT, MoneySource::Query);
        let alike = store.money_alike(account.id, id, &full(), answer).await.unwrap();
        assert!(alike.is_some_and(|money| money.is_notified), "what the bank answers is still the same money");
    }
}

async fn money_that_was_booked_without_an_amount_is_found_in_any(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    tell(&store, &account, "id", MoneySource::Query, MoneyMarks { lacks_amount: true, ..full() }).await;
    let other = (AMOUNT + AMOUNT, MoneySource::Notification);
    let alike = store.money_alike(account.id, "id", &full(), other).await.unwrap().unwrap();
    assert!(alike.marks.lacks_amount && !alike.is_notified);
}

async fn money_of_the_nearest_time_is_found_first(database: Database) {
    let store = database.open().await;
    let account = account_with_money(&store).await;
    let timeless = OpeningWrite::MoneyTold {
        receipt: key(&account, "timeless"),
        bank_id: "id".to_owned(),
        marks: MoneyMarks { paid_at: None, ..full() },
        source: MoneySource::Notification,
        amount: AMOUNT,
        paid_at: NOW,
        at: NOW,
    };
    keep(&store, Change::from(timeless).with(BankWrite::StrayReceived(stray(&account, "timeless")))).await;
    assert_eq!(found(&store, &account, "id", &full()).await, text("id"));
}

async fn money_without_an_id_gets_one_name_of_the_bank(database: Database) {
    let store = database.open().await;
    let account = account_with_money(&store).await;
    let named = |id: &str| OpeningWrite::MoneyNamed {
        receipt: key(&account, "bare"),
        from: "bare".to_owned(),
        bank_id: id.to_owned(),
    };
    assert_eq!(commit(&store, named("P-1")).await, Outcome::Kept);
    assert_eq!(commit(&store, named("P-2")).await, Outcome::Conflict(Guard::Receipt));
    let naming = store.money_naming(&key(&account, "bare")).await.unwrap().unwrap();
    assert_eq!((naming.bank_id.as_str(), naming.lacks_amount), ("P-1", false));
    assert_eq!(found(&store, &account, "P-1", &MoneyMarks::default()).await, text("bare"));
    assert_eq!(store.money_naming(&key(&account, "none")).await.unwrap(), None);
    let called = store.money_called(account.id, ["none", "P-1"]).await.unwrap();
    assert_eq!(called, [("bare".to_owned(), naming)]);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn what_is_said_later_is_added_and_does_not_contradict(database: Database) {
    let store = database.open().await;
    let account = account_with_money(&store).await;
    let marked =
        |marks: &MoneyMarks| OpeningWrite::MoneyMarked { receipt: key(&account, "bare"), marks: marks.clone() };
    keep(&store, marked(&MoneyMarks { rrn: None, ..full() })).await;
    keep(&store, marked(&full())).await;
    let paid_at = Some(NOW.plus(Duration::from_secs(1)));
    for other in [
        MoneyMarks { reference: text("x"), ..full() },
        MoneyMarks { bank_reference: text("x"), ..full() },
        MoneyMarks { number: text("x"), ..full() },
        MoneyMarks { rrn: text("x"), ..full() },
        MoneyMarks { payment_reference: text("x"), ..full() },
        MoneyMarks { paid_at, ..full() },
    ] {
        assert_eq!(commit(&store, marked(&other)).await, Outcome::Conflict(Guard::Receipt), "{other:?}");
        assert_eq!(found(&store, &account, "bare", &other).await, None);
    }
    assert_eq!(found(&store, &account, "bare", &full()).await, text("bare"));
}
