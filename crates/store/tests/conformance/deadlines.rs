//! Changes that must be committed by some time or never, and what banks were told when that was not known.

use std::time::{Duration, Instant};

use domain::{
    bank_account::BankAccount,
    bank_difference::{Difference, DifferenceKey, DifferenceKind},
    bank_request::{BankRequest, Verdict, jakarta_day},
    undecided::{OpenWord, UndecidedFinding, UndecidedWord},
};
use store::{BankWrite, Change, Guard, OpeningWrite};

use crate::{
    bank_samples::{kept_account, refused, stray},
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{AMOUNT, NOW, after},
};

on_every_database![
    a_change_is_committed_before_its_time_and_never_after_it,
    a_word_to_a_bank_is_looked_after_by_one_node_until_it_is_done,
    a_word_about_a_request_that_was_not_committed_is_kept_only_if_the_money_was_booked_before,
    a_booking_is_found_for_a_word_whatever_was_asked_later_or_refused,
    a_booking_that_is_dated_shortly_after_a_word_and_its_difference_are_sound,
];

/// Longer than any commit takes here.
const LONG: Duration = Duration::from_mins(10);

fn word(account: &BankAccount) -> UndecidedWord {
    UndecidedWord {
        account_id: account.id,
        external_id: "é 1".to_owned(),
        request_id: "money".to_owned(),
        number: "1234500001".to_owned(),
        amount: AMOUNT,
        asked_at: NOW,
        said: "2022500".to_owned(),
        said_at: after(10),
    }
}

async fn a_change_is_committed_before_its_time_and_never_after_it(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let (timely, late) = (store.committing_by(Instant::now() + LONG), store.committing_by(Instant::now()));
    // One that is committed in batches, and one that is not.
    let request = || BankWrite::Requested(refused(&account, "1", "money"));
    let said = || BankWrite::UndecidedSaid(word(&account));
    assert_eq!(commit(&late, request()).await, Outcome::Unavailable);
    assert_eq!(commit(&late, said()).await, Outcome::Unavailable);
    assert_eq!(store.due_undecided(after(10), 10).await.unwrap(), []);
    // A request id that was stored would be a conflict.
    assert_eq!(commit(&timely, request()).await, Outcome::Kept);
    assert_eq!(commit(&timely, request()).await, Outcome::Conflict(Guard::BankRequest));
    assert_eq!(commit(&timely, said()).await, Outcome::Kept);
    assert_eq!(store.due_undecided(after(10), 10).await.unwrap().len(), 1);
    store.close().await;
}

async fn a_word_to_a_bank_is_looked_after_by_one_node_until_it_is_done(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    keep(&store, BankWrite::UndecidedSaid(word(&account))).await;
    assert_eq!(store.due_undecided(after(9), 10).await.unwrap(), []);
    let first = OpenWord { word: word(&account), finding: None, due_at: after(10), tries: 0 };
    assert_eq!(store.due_undecided(after(10), 10).await.unwrap(), std::slice::from_ref(&first));
    let booked = |open: &OpenWord, due_at| BankWrite::UndecidedLookedAfter {
        open: open.clone(),
        finding: Some(UndecidedFinding::Booked),
        due_at,
    };
    assert_eq!(commit(&store, booked(&first, Some(after(20)))).await, Outcome::Kept);
    assert_eq!(commit(&store, booked(&first, Some(after(20)))).await, Outcome::Conflict(Guard::JobDue));
    let next = OpenWord { finding: Some(UndecidedFinding::Booked), due_at: after(20), tries: 1, ..first };
    assert_eq!(store.due_undecided(after(20), 10).await.unwrap(), std::slice::from_ref(&next));
    assert_eq!(commit(&store, booked(&next, None)).await, Outcome::Kept);
    assert_eq!(store.due_undecided(after(1_000), 10).await.unwrap(), []);
    store.close().await;
}

/// A bank asks to take the money that [`word`] is about, and we take it.
fn booking(account: &BankAccount, external_id: &str, receipt_id: &str) -> BankRequest {
    let UndecidedWord { request_id, number, .. } = word(account);
    BankRequest {
        number,
        verdict: Verdict::Accepted,
        receipt_id: Some(receipt_id.to_owned()),
        ..refused(account, external_id, &request_id)
    }
}

async fn a_word_about_a_request_that_was_not_committed_is_kept_only_if_the_money_was_booked_before(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let said = || BankWrite::UndecidedSaidOfBooked(word(&account));
    let kept = async || {
        assert_eq!(commit(&store, said()).await, Outcome::Kept);
        store.due_undecided(after(1_000), 10).await.unwrap().into_iter().map(|open| open.word).collect::<Vec<_>>()
    };
    assert_eq!(kept().await, []);
    // Refused money, other money, and money that was booked later than the word by any clock of a node.
    let of_money = |external_id: &str| booking(&account, external_id, external_id);
    for request in [
        BankRequest { verdict: Verdict::Unknown, ..of_money("1") },
        BankRequest { number: "1234500002".to_owned(), ..of_money("2") },
        BankRequest { amount: Some(AMOUNT + AMOUNT), ..of_money("3") },
        BankRequest { request_id: "other".to_owned(), ..of_money("4") },
        BankRequest { at: after(10 + 5_001), ..of_money("5") },
    ] {
        keep(&store, BankWrite::Requested(request)).await;
        assert_eq!(kept().await, []);
    }
    keep(&store, BankWrite::Requested(BankRequest { at: after(10 + 5_000), ..of_money("6") })).await;
    assert_eq!(kept().await, [word(&account)]);
    assert_eq!(kept().await, [word(&account)], "once");
    store.close().await;
}

/// By a node whose clock is ahead, and under an id of its own.
async fn a_booking_that_is_dated_shortly_after_a_word_and_its_difference_are_sound(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let stray = stray(&account, "money/apart");
    let word = UndecidedWord { number: stray.number.clone(), ..word(&account) };
    let booked =
        BankRequest { number: stray.number.clone(), at: after(4_000), ..booking(&account, "1", &stray.receipt_id) };
    let key =
        DifferenceKey { account_id: account.id, subject: stray.receipt_id.clone(), kind: DifferenceKind::Undecided };
    keep(&store, Change::from(BankWrite::StrayReceived(stray)).with(BankWrite::Requested(booked.clone()))).await;
    keep(&store, BankWrite::UndecidedSaidOfBooked(word.clone())).await;
    assert_eq!(store.booking_of(&word).await.unwrap(), Some(booked));
    let [open]: [OpenWord; 1] = store.due_undecided(after(10), 10).await.unwrap().try_into().unwrap();
    let difference = Difference {
        key,
        day: jakarta_day(NOW),
        payment_id: None,
        ours: Some(AMOUNT),
        theirs: None,
        found_at: after(5_000),
        settled: None,
    };
    let looked_after = BankWrite::UndecidedLookedAfter { open, finding: Some(UndecidedFinding::Booked), due_at: None };
    keep(&store, Change::from(looked_after).with(OpeningWrite::DifferenceFound(difference))).await;
    assert_eq!(store.breaches().await.unwrap(), []);
    store.close().await;
}

async fn a_booking_is_found_for_a_word_whatever_was_asked_later_or_refused(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let found = async || store.booking_of(&word(&account)).await.unwrap();
    assert_eq!(found().await, None);
    let booked = booking(&account, "1", "money");
    for request in [
        BankRequest { verdict: Verdict::Unknown, ..booking(&account, "2", "money/refused") },
        BankRequest { at: after(10 + 5_001), ..booking(&account, "3", "money/later") },
    ] {
        keep(&store, BankWrite::Requested(request)).await;
        assert_eq!(found().await, None);
    }
    keep(&store, BankWrite::Requested(booked.clone())).await;
    assert_eq!(found().await, Some(booked));
    let last = BankRequest { at: after(10 + 5_000), ..booking(&account, "4", "money/last") };
    keep(&store, BankWrite::Requested(last.clone())).await;
    assert_eq!(found().await, Some(last), "the latest");
    store.close().await;
}
