//! Attempts to sign in: a few are free, then each failure doubles the delay, and success resets it.

use std::time::Duration;

use domain::{time::Timestamp, user::User};
use futures_util::future::join_all;
use store::{Change, Guard, SessionWrite, Store};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{NOW, after, kept_user},
};

on_every_database![
    of_many_attempts_at_one_instant_five_are_let_through,
    each_failure_after_the_fifth_doubles_the_wait_up_to_a_quarter_of_an_hour,
    failures_are_forgotten_after_an_hour_without_any,
    success_resets_the_account_and_takes_one_attempt_back_from_the_address,
    an_attempt_that_one_of_its_subjects_must_wait_with_counts_for_neither,
    a_subject_may_have_a_shorter_longest_delay,
    all_delays_are_lifted_at_once,
    an_address_is_known_to_the_user_who_signed_in_there,
    a_form_is_sent_once_however_many_try,
];

fn tried(subject: &str, at: Timestamp) -> SessionWrite {
    SessionWrite::Tried { subject: subject.to_owned(), at, longest: Duration::from_mins(15) }
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
        || SessionWrite::Succeeded { forgiven: Some("account".to_owned()), address: Some("address".to_owned()) };
    // A user who always succeeds never has to wait.
    for _ in 0..20 {
        assert_eq!(commit(&store, both(NOW)).await, Outcome::Kept);
        keep(&store, succeeded()).await;
    }
    assert_eq!(blocked_until(&store, "account").await, None);
    for at in [NOW, NOW, NOW, NOW, NOW, after(1_000), after(3_000)] {
        assert_eq!(commit(&store, both(at)).await, Outcome::Kept);
    }
    assert_eq!(blocked_until(&store, "address").await, Some(after(7_000)));
    keep(&store, succeeded()).await;
    assert_eq!(blocked_until(&store, "account").await, None);
    assert_eq!(blocked_until(&store, "address").await, None);
    // Earlier failures from that address still count: the delay is unchanged.
    assert_eq!(commit(&store, both(after(3_000))).await, Outcome::Kept);
    assert_eq!(blocked_until(&store, "account").await, None);
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

async fn a_subject_may_have_a_shorter_longest_delay(database: Database) {
    let store = database.open().await;
    let longest = Duration::from_secs(3);
    let mut now = NOW;
    for wait in [0, 0, 0, 0, 1_000, 2_000, 3_000, 3_000, 3_000] {
        keep(&store, SessionWrite::Tried { subject: "account".to_owned(), at: now, longest }).await;
        now = Timestamp::from_millis(now.as_millis() + wait);
        assert_eq!(blocked_until(&store, "account").await, (wait > 0).then_some(now));
    }
}

async fn all_delays_are_lifted_at_once(database: Database) {
    let store = database.open().await;
    for subject in ["account", "address", "browser"] {
        for _ in 0..5 {
            keep(&store, tried(subject, NOW)).await;
        }
        assert_eq!(commit(&store, tried(subject, NOW)).await, REFUSED);
    }
    keep(&store, SessionWrite::AllForgiven).await;
    for subject in ["account", "address", "browser"] {
        assert_eq!(blocked_until(&store, subject).await, None);
    }
}

async fn an_address_is_known_to_the_user_who_signed_in_there(database: Database) {
    let store = database.open().await;
    let (user, other) = (kept_user(&store).await, kept_user(&store).await);
    let known =
        |address: &str, at| SessionWrite::AddressKnown { user_id: user.id, address: address.to_owned(), at, most: 2 };
    for (address, at) in [("one", NOW), ("two", after(1)), ("one", after(2)), ("one", NOW)] {
        keep(&store, known(address, at)).await;
    }
    let knows = async |user: &User, address, since| store.knows_address(&user.email, address, since).await.unwrap();
    assert!(knows(&user, "one", after(2)).await && knows(&user, "two", after(1)).await);
    assert!(!knows(&user, "one", after(3)).await, "it is longer ago");
    assert!(!knows(&other, "one", NOW).await && !knows(&user, "three", NOW).await);
    // Only the latest ones are kept.
    keep(&store, known("three", after(4))).await;
    assert!(knows(&user, "one", NOW).await && knows(&user, "three", NOW).await && !knows(&user, "two", NOW).await);
}

async fn a_form_is_sent_once_however_many_try(database: Database) {
    let store = database.open().await;
    let (user, other) = (kept_user(&store).await, kept_user(&store).await);
    let sent = |user: &User, resource: String, at| SessionWrite::FormSent {
        user_id: user.id,
        form: "form".to_owned(),
        resource,
        at,
    };
    let sending = (0..16).map(|n| commit(&store, sent(&user, n.to_string(), NOW)));
    let outcomes = join_all(sending).await;
    let refused = Outcome::Conflict(Guard::FormUnused);
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == refused).count(), 15);
    let first = outcomes.iter().position(|outcome| *outcome == Outcome::Kept).unwrap();
    assert_eq!(store.form_resource(user.id, "form").await.unwrap(), Some(first.to_string()));
    assert_eq!(store.form_resource(user.id, "another").await.unwrap(), None);
    assert_eq!(store.form_resource(other.id, "form").await.unwrap(), None);
    keep(&store, sent(&other, "theirs".to_owned(), after(1))).await;
    keep(&store, SessionWrite::OldDeleted { created_before: after(1), most: 10 }).await;
    assert_eq!(store.form_resource(user.id, "form").await.unwrap(), None);
    assert_eq!(store.form_resource(other.id, "form").await.unwrap().as_deref(), Some("theirs"));
}
