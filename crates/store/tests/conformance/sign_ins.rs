//! Attempts to sign in: a few are free, then each failure doubles the delay, and success resets it.

use domain::time::Timestamp;
use futures_util::future::join_all;
use store::{Change, Guard, SessionWrite, Store};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{NOW, after},
};

on_every_database![
    of_many_attempts_at_one_instant_five_are_let_through,
    each_failure_after_the_fifth_doubles_the_wait_up_to_a_quarter_of_an_hour,
    failures_are_forgotten_after_an_hour_without_any,
    success_resets_the_account_and_takes_one_attempt_back_from_the_address,
    an_attempt_that_one_of_its_subjects_must_wait_with_counts_for_neither,
];

fn tried(subject: &str, at: Timestamp) -> SessionWrite {
    SessionWrite::Tried { subject: subject.to_owned(), at }
}

async fn try_at(store: &Store, at: Timestamp) -> Outcome {
    commit(store, tried("account", at)).await
}

async fn blocked_until(store: &Store, subject: &str) -> Option<Timestamp> {
    store.sign_in_blocked_until(&[subject.to_owned(), "nobody".to_owned()]).await.unwrap()
}

const REFUSED: Outcome = Outcome::Conflict(Guard::SignInAllowed);

async fn of_many_attempts_at_one_instant_five_are_let_through(database: Database) {
    let store = database.open().await;
    let trying = (0..50).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { commit(&store, tried("account", NOW)).await })
    });
    let outcomes: Vec<Outcome> = join_all(trying).await.into_iter().map(Result::unwrap).collect();
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert_eq!((count(Outcome::Kept), count(REFUSED)), (5, 45));
    assert_eq!(blocked_until(&store, "account").await, Some(after(1_000)));
    // Other subjects need not wait.
    assert_eq!(commit(&store, tried("other", NOW)).await, Outcome::Kept);
    let both = ["other", "account"].map(str::to_owned);
    assert_eq!(store.sign_in_blocked_until(&both).await.unwrap(), Some(after(1_000)));
    assert_eq!(blocked_until(&store, "unheard of").await, None);
}

async fn each_failure_after_the_fifth_doubles_the_wait_up_to_a_quarter_of_an_hour(database: Database) {
    let store = database.open().await;
    let mut now = NOW;
    for _ in 0..5 {
        assert_eq!(try_at(&store, now).await, Outcome::Kept);
    }
    let waits = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900].map(|seconds| seconds * 1_000);
    for wait in waits {
        let over = Timestamp::from_millis(now.as_millis() + wait);
        let almost = Timestamp::from_millis(over.as_millis() - 1);
        assert_eq!(blocked_until(&store, "account").await, Some(over));
        for early in [now, almost] {
            assert_eq!(try_at(&store, early).await, REFUSED, "{wait}");
        }
        assert_eq!(try_at(&store, over).await, Outcome::Kept, "{wait}");
        now = over;
    }
}

async fn failures_are_forgotten_after_an_hour_without_any(database: Database) {
    let store = database.open().await;
    for _ in 0..5 {
        assert_eq!(try_at(&store, NOW).await, Outcome::Kept);
    }
    // An hour to the millisecond is not more than an hour.
    assert_eq!(try_at(&store, after(3_600_000)).await, Outcome::Kept);
    assert_eq!(blocked_until(&store, "account").await, Some(after(3_602_000)));
    let later = after(3_600_000 + 3_600_001);
    for _ in 0..5 {
        assert_eq!(try_at(&store, later).await, Outcome::Kept);
    }
    assert_eq!(try_at(&store, later).await, REFUSED);
    assert_eq!(blocked_until(&store, "account").await, Some(Timestamp::from_millis(later.as_millis() + 1_000)));
}

async fn success_resets_the_account_and_takes_one_attempt_back_from_the_address(database: Database) {
    let store = database.open().await;
    let both = |at| Change::from(tried("account", at)).with(tried("address", at));
    let succeeded =
        |at| SessionWrite::Succeeded { account: "account".to_owned(), address: Some("address".to_owned()), at };
    // A user who always succeeds never has to wait.
    for _ in 0..20 {
        assert_eq!(commit(&store, both(NOW)).await, Outcome::Kept);
        keep(&store, succeeded(NOW)).await;
    }
    assert_eq!(blocked_until(&store, "account").await, None);
    for at in [NOW, NOW, NOW, NOW, NOW, after(1_000), after(3_000)] {
        assert_eq!(commit(&store, both(at)).await, Outcome::Kept);
    }
    assert_eq!(blocked_until(&store, "address").await, Some(after(7_000)));
    keep(&store, succeeded(after(3_000))).await;
    assert_eq!(blocked_until(&store, "account").await, None);
    assert_eq!(blocked_until(&store, "address").await, Some(after(3_000)));
    // Earlier failures from that address still count: the delay is unchanged.
    assert_eq!(commit(&store, both(after(3_000))).await, Outcome::Kept);
    assert_eq!(blocked_until(&store, "account").await, Some(after(3_000)));
    assert_eq!(blocked_until(&store, "address").await, Some(after(7_000)));
}

async fn an_attempt_that_one_of_its_subjects_must_wait_with_counts_for_neither(database: Database) {
    let store = database.open().await;
    for _ in 0..5 {
        keep(&store, tried("address", NOW)).await;
    }
    let before = database.rows();
    let both = Change::from(tried("account", NOW)).with(tried("address", NOW));
    assert_eq!(commit(&store, both).await, REFUSED);
    assert_eq!(database.rows(), before);
}
