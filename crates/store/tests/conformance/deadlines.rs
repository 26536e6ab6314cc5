//! Changes that must be committed by some time or never, and what banks were told when that was not known.

use std::time::{Duration, Instant};

use domain::{
    bank_account::BankAccount,
    undecided::{OpenWord, UndecidedFinding, UndecidedWord},
};
use store::{BankWrite, Guard};

use crate::{
    bank_samples::{kept_account, refused},
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{AMOUNT, NOW, after},
};

on_every_database![
    a_change_is_committed_before_its_time_and_never_after_it,
    a_word_to_a_bank_is_looked_after_by_one_node_until_it_is_done,
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
