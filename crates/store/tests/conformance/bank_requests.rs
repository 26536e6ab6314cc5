//! What banks asked: an external id counts once a day, and money is judged once.

use domain::{
    bank_request::{BankRequest, BankService, Verdict, jakarta_day},
    id::mint,
    receipt::ReceiptKey,
};
use futures_util::future::join_all;
use store::{BankWrite, Guard, Store};

use crate::{
    bank_samples::{accepted, inquiry, kept_account, kept_stray, refused, taken},
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{AMOUNT, NOW, account_payment, after, entropy, kept_payment, kept_project},
};

on_every_database![
    requests_are_read_back_as_they_were_stored,
    an_external_id_is_unique_for_its_account_service_and_day,
    the_first_request_for_some_money_is_unique_and_later_ones_are_not,
    a_request_id_may_be_that_of_other_money,
    of_many_that_ask_for_the_same_money_at_once_exactly_one_is_the_first,
    what_pays_and_what_was_asked_are_kept_together_or_not_at_all,
    a_request_has_the_parts_of_its_service,
    inquiries_are_forgotten_oldest_first_and_payments_never,
];

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;
/// The number that samples are about.
const NUMBER: &str = "1234599999";

async fn requests_are_read_back_as_they_were_stored(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let payment = kept_payment(&store, account_payment(&project, "1234500001")).await;
    let about = |request| BankRequest { payment_id: Some(payment.id), number: payment.code.clone(), ..request };
    let asked = about(BankRequest { verdict: Verdict::Accepted, ..inquiry(&account, "é 1") });
    let first = refused(&account, "é 1", "money");
    let again = BankRequest { is_first: false, at: after(7), ..refused(&account, "2", "money") };
    let verdicts = [Verdict::Expired, Verdict::AlreadyPaid, Verdict::WrongAmount];
    let others = verdicts.map(|verdict| {
        about(BankRequest { verdict, ..refused(&account, verdict.word(), &format!("money {}", verdict.word())) })
    });
    let stored: Vec<BankRequest> = [asked, first.clone(), again].into_iter().chain(others).collect();
    for request in &stored {
        keep(&store, BankWrite::Requested(request.clone())).await;
    }
    for request in stored {
        let found = store.bank_request(account.id, request.service, request.day, &request.external_id).await.unwrap();
        assert_eq!(found, Some(request));
    }
    assert_eq!(store.first_bank_request(account.id, "money", NUMBER, AMOUNT).await.unwrap(), Some(first));
    // The request id of an inquiry is none of some money.
    assert_eq!(store.first_bank_request(account.id, "of é 1", NUMBER, AMOUNT).await.unwrap(), None);
    let day = jakarta_day(NOW);
    assert_eq!(store.bank_request(account.id, BankService::Inquiry, day, "2").await.unwrap(), None);
    assert_eq!(store.bank_request(account.id, BankService::Payment, day + 1, "2").await.unwrap(), None);
    let nobody = mint(NOW, entropy());
    assert_eq!(store.bank_request(nobody, BankService::Payment, day, "2").await.unwrap(), None);
    assert_eq!(store.first_bank_request(nobody, "money", NUMBER, AMOUNT).await.unwrap(), None);
}

async fn an_external_id_is_unique_for_its_account_service_and_day(database: Database) {
    let store = database.open().await;
    let (account, other) = (kept_account(&store).await, kept_account(&store).await);
    let asked = inquiry(&account, "1");
    keep(&store, BankWrite::Requested(asked.clone())).await;
    for elsewhere in [
        inquiry(&other, "1"),
        inquiry(&account, "2"),
        BankRequest { day: asked.day + 1, ..asked.clone() },
        refused(&account, "1", "money"),
    ] {
        keep(&store, BankWrite::Requested(elsewhere)).await;
    }
    for again in [
        asked.clone(),
        BankRequest { request_id: "another".to_owned(), at: after(1), ..asked.clone() },
        refused(&account, "1", "other money"),
    ] {
        assert_eq!(commit(&store, BankWrite::Requested(again)).await, Outcome::Conflict(Guard::BankRequest));
    }
    let stored = store.bank_request(account.id, BankService::Inquiry, asked.day, "1").await.unwrap();
    assert_eq!(stored, Some(asked));
}

async fn the_first_request_for_some_money_is_unique_and_later_ones_are_not(database: Database) {
    let store = database.open().await;
    let (account, other) = (kept_account(&store).await, kept_account(&store).await);
    let first = refused(&account, "1", "money");
    keep(&store, BankWrite::Requested(first.clone())).await;
    keep(&store, BankWrite::Requested(refused(&other, "1", "money"))).await;
    // On another day it is the same money all the same.
    let tomorrow = BankRequest { day: first.day + 1, ..first.clone() };
    for second in [refused(&account, "2", "money"), tomorrow] {
        let outcome = commit(&store, BankWrite::Requested(second.clone())).await;
        assert_eq!(outcome, Outcome::Conflict(Guard::BankRequest));
        keep(&store, BankWrite::Requested(BankRequest { is_first: false, ..second })).await;
    }
    assert_eq!(store.first_bank_request(account.id, "money", NUMBER, AMOUNT).await.unwrap(), Some(first));
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_request_id_may_be_that_of_other_money(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let first = refused(&account, "1", "money");
    let apart = |external_id: &str, receipt_id: &str| BankRequest {
        receipt_id: Some(receipt_id.to_owned()),
        ..refused(&account, external_id, "money")
    };
    let number = BankRequest { number: "1234500001".to_owned(), ..apart("2", "money/1234500001") };
    let amount = BankRequest { amount: Some(AMOUNT + AMOUNT), ..apart("3", "money/twice") };
    let again = BankRequest { at: after(DAY_MILLIS), ..apart("4", "money/again") };
    for request in [&first, &number, &amount, &again] {
        keep(&store, BankWrite::Requested(request.clone())).await;
    }
    let found =
        async |number: &str, amount| store.first_bank_request(account.id, "money", number, amount).await.unwrap();
    assert_eq!(found(NUMBER, AMOUNT).await, Some(again), "the latest");
    assert_eq!(found("1234500001", AMOUNT).await, Some(number));
    assert_eq!(found(NUMBER, AMOUNT + AMOUNT).await, Some(amount));
    assert_eq!(found("1234500001", AMOUNT + AMOUNT).await, None);
    let is_taken = async |id: &str| {
        let key = ReceiptKey { provider: account.id.to_string(), id: id.to_owned() };
        store.is_receipt_id_taken(&key).await.unwrap()
    };
    kept_stray(&store, &account, "stray").await;
    for (id, expected) in [("money", true), ("money/twice", true), ("stray", true), ("money/", false), ("2", false)] {
        assert_eq!(is_taken(id).await, expected, "{id}");
    }
    assert_eq!(store.breaches().await.unwrap(), []);
}

/// Commits requests that arrive at the same time, so that PostgreSQL gets many of them as one batch.
async fn at_once(store: &Store, requests: Vec<BankRequest>) -> Vec<Outcome> {
    let callers = requests.into_iter().map(|request| {
        let store = store.clone();
        tokio::spawn(async move { commit(&store, BankWrite::Requested(request)).await })
    });
    join_all(callers).await.into_iter().map(Result::unwrap).collect()
}

async fn of_many_that_ask_for_the_same_money_at_once_exactly_one_is_the_first(database: Database) {
    const CALLERS: usize = 48;
    let store = database.open().await;
    let account = kept_account(&store).await;
    let requests = (0..CALLERS).map(|index| match index % 4 {
        0 => inquiry(&account, &format!("inquiry {index}")),
        1 => refused(&account, "the same", &format!("money {index}")),
        _ => refused(&account, &format!("payment {index}"), "money"),
    });
    let requests: Vec<BankRequest> = requests.collect();
    let outcomes = at_once(&store, requests.clone()).await;
    let kept = |is_asked: &dyn Fn(&BankRequest) -> bool| {
        let asked = requests.iter().zip(&outcomes).filter(|(request, _)| is_asked(request));
        let (kept, refused): (Vec<_>, Vec<_>) = asked.partition(|(_, outcome)| **outcome == Outcome::Kept);
        assert!(refused.iter().all(|(_, outcome)| **outcome == Outcome::Conflict(Guard::BankRequest)), "{refused:?}");
        (kept.len(), refused.len())
    };
    assert_eq!(kept(&|request| request.service == BankService::Inquiry), (CALLERS / 4, 0));
    assert_eq!(kept(&|request| request.external_id == "the same"), (1, CALLERS / 4 - 1));
    assert_eq!(kept(&|request| request.request_id == "money"), (1, CALLERS / 2 - 1));
}

/// 24 requests with ids of their own want to pay one bill.
async fn what_pays_and_what_was_asked_are_kept_together_or_not_at_all(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let payment = kept_payment(&store, account_payment(&project, "1234500001")).await;
    keep(&store, taken(&account, &payment, NOW)).await;
    let ids: Vec<String> = (0..24).map(|index| format!("money {index}")).collect();
    let callers = ids.iter().map(|id| {
        let (store, change) = (store.clone(), accepted(&account, id, id, &payment));
        tokio::spawn(async move { commit(&store, change).await })
    });
    let outcomes: Vec<Outcome> = join_all(callers).await.into_iter().map(Result::unwrap).collect();
    for (id, outcome) in ids.iter().zip(&outcomes) {
        let stored = store.first_bank_request(account.id, id, &payment.code, AMOUNT).await.unwrap();
        assert_eq!(stored.map(|request| request.verdict), (*outcome == Outcome::Kept).then_some(Verdict::Accepted));
    }
    let lost = outcomes.iter().filter(|outcome| **outcome == Outcome::Conflict(Guard::PaymentVersion)).count();
    let kept = outcomes.iter().filter(|outcome| **outcome == Outcome::Kept).count();
    assert_eq!((kept, lost), (1, ids.len() - 1));
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_request_has_the_parts_of_its_service(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    for (name, request) in [
        ("an inquiry that is first", BankRequest { is_first: true, ..inquiry(&account, "1") }),
        ("an inquiry about money", BankRequest { amount: Some(AMOUNT), ..inquiry(&account, "1") }),
        ("money of no amount", BankRequest { amount: None, ..refused(&account, "1", "money") }),
        ("money of no receipt", BankRequest { receipt_id: None, ..refused(&account, "1", "money") }),
        ("an inquiry of a receipt", BankRequest { receipt_id: Some("1".to_owned()), ..inquiry(&account, "1") }),
        ("a payment of nobody", BankRequest { payment_id: Some(mint(NOW, entropy())), ..inquiry(&account, "1") }),
    ] {
        assert_eq!(commit(&store, BankWrite::Requested(request)).await, Outcome::Unexpected, "{name}");
    }
    assert!(!database.rows().iter().any(|row| row.starts_with("bank_requests:")));
}

async fn inquiries_are_forgotten_oldest_first_and_payments_never(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let at = |days: i64| after(days * DAY_MILLIS);
    for days in [3, 0, 2, 1] {
        let (id, day) = (days.to_string(), jakarta_day(at(days)));
        keep(&store, BankWrite::Requested(BankRequest { at: at(days), day, ..inquiry(&account, &id) })).await;
        keep(&store, BankWrite::Requested(BankRequest { at: at(days), day, ..refused(&account, &id, &id) })).await;
    }
    let left = async |service| {
        let mut left = Vec::new();
        for days in 0..4 {
            let found = store.bank_request(account.id, service, jakarta_day(at(days)), &days.to_string()).await;
            left.extend(found.unwrap().map(|_| days));
        }
        left
    };
    let forget = |before, most| BankWrite::InquiriesForgotten { before, most };
    assert!(!store.any_inquiry_before(at(0)).await.unwrap());
    keep(&store, forget(at(0), 9)).await;
    assert_eq!(left(BankService::Inquiry).await, [0, 1, 2, 3]);
    assert!(store.any_inquiry_before(at(3)).await.unwrap());
    keep(&store, forget(at(3), 2)).await;
    assert_eq!(left(BankService::Inquiry).await, [2, 3]);
    keep(&store, forget(at(3), 2)).await;
    assert_eq!(left(BankService::Inquiry).await, [3]);
    assert!(!store.any_inquiry_before(at(3)).await.unwrap());
    assert_eq!(left(BankService::Payment).await, [0, 1, 2, 3]);
    assert_eq!(store.breaches().await.unwrap(), []);
}
