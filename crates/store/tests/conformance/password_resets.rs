//! Lost passwords: requests for a new one, and links that set it.

use domain::{
    language::Language,
    password_reset::{PasswordReset, RESET_LIFETIME, ResetMaker, ResetRequest},
    time::Timestamp,
    user::{Email, User},
};
use futures_util::future::join_all;
use store::{Guard, ResetWrite, SessionWrite, Store};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{NOW, after, kept_user, token_hash},
};

on_every_database![
    a_request_is_kept_once_for_each_address_and_taken_once,
    no_more_requests_wait_than_may,
    a_link_is_used_once_however_many_try,
    a_link_sets_the_password_of_its_user_in_time,
    a_newer_link_ends_the_earlier_ones_of_its_user,
    old_links_are_forgotten_a_few_at_a_time,
];

const MOST: i64 = 1_000;

fn request(email: &str, at: Timestamp) -> ResetRequest {
    ResetRequest {
        email: Email::parse(email).unwrap(),
        at,
        address: "203.0.113.7".to_owned(),
        browser: "Firefox é".to_owned(),
        language: Language::English,
    }
}

fn requested(request: &ResetRequest) -> ResetWrite {
    ResetWrite::Requested { request: request.clone(), most: MOST }
}

fn link(user: &User, at: Timestamp) -> PasswordReset {
    PasswordReset::new(user.id, "$argon2id$none", ResetMaker::Letter, at)
}

async fn kept_link(store: &Store, user: &User, name: &str, at: Timestamp) {
    keep(store, ResetWrite::LinkMade { reset: link(user, at), hash: token_hash(name) }).await;
}

fn used(user: &User, name: &str, at: Timestamp) -> ResetWrite {
    ResetWrite::LinkUsed { user_id: user.id, hash: token_hash(name), at }
}

const REFUSED: Outcome = Outcome::Conflict(Guard::ResetOpen);

async fn a_request_is_kept_once_for_each_address_and_taken_once(database: Database) {
    let store = database.open().await;
    let (early, later) = (request("siti@example.com", NOW), request("siti@example.com", after(5)));
    let other = ResetRequest { language: Language::Indonesian, ..request("budi@example.com", after(1)) };
    for each in [&early, &other, &later] {
        keep(&store, requested(each)).await;
    }
    assert_eq!(store.reset_requests(10).await.unwrap(), [other.clone(), later.clone()]);
    assert_eq!(store.reset_requests(1).await.unwrap(), [other]);
    let taken = |request: &ResetRequest| ResetWrite::RequestTaken { email: request.email.clone(), at: request.at };
    let replaced = commit(&store, taken(&early)).await;
    assert_eq!(replaced, Outcome::Conflict(Guard::ResetRequested), "a later one has taken its place");
    let outcomes = join_all((0..8).map(|_| commit(&store, taken(&later)))).await;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Kept).count(), 1);
    assert_eq!(store.reset_requests(10).await.unwrap().len(), 1);
}

async fn no_more_requests_wait_than_may(database: Database) {
    let store = database.open().await;
    for (number, most) in [(0, 2), (1, 2), (2, 2), (1, 2)] {
        let request = request(&format!("{number}@example.com"), after(number));
        keep(&store, ResetWrite::Requested { request, most }).await;
    }
    assert_eq!(store.reset_requests(10).await.unwrap().len(), 2);
}

async fn a_link_is_used_once_however_many_try(database: Database) {
    let store = database.open().await;
    let user = kept_user(&store).await;
    kept_link(&store, &user, "one", NOW).await;
    assert_eq!(store.password_reset(token_hash("one")).await.unwrap(), Some(link(&user, NOW)));
    let using = (0..16).map(|_| {
        let (store, used) = (store.clone(), used(&user, "one", after(1)));
        tokio::spawn(async move { commit(&store, used).await })
    });
    let outcomes: Vec<Outcome> = join_all(using).await.into_iter().map(Result::unwrap).collect();
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert_eq!((count(Outcome::Kept), count(REFUSED)), (1, 15));
    assert_eq!(store.password_reset(token_hash("one")).await.unwrap(), None);
}

async fn a_link_sets_the_password_of_its_user_in_time(database: Database) {
    let store = database.open().await;
    let (user, other) = (kept_user(&store).await, kept_user(&store).await);
    kept_link(&store, &user, "one", NOW).await;
    kept_link(&store, &other, "theirs", NOW).await;
    let end = NOW.plus(RESET_LIFETIME);
    for wrong in [used(&user, "one", end), used(&other, "one", NOW), used(&user, "unknown", NOW)] {
        assert_eq!(commit(&store, wrong).await, REFUSED);
    }
    let last = Timestamp::from_millis(end.as_millis() - 1);
    assert_eq!(commit(&store, used(&user, "one", last)).await, Outcome::Kept);
    assert!(store.password_reset(token_hash("theirs")).await.unwrap().is_some(), "links of others stay");
}

async fn a_newer_link_ends_the_earlier_ones_of_its_user(database: Database) {
    let store = database.open().await;
    let user = kept_user(&store).await;
    for (name, at) in [("one", NOW), ("two", after(1)), ("three", after(2))] {
        kept_link(&store, &user, name, at).await;
    }
    for (name, outcome) in [("one", REFUSED), ("two", REFUSED), ("three", Outcome::Kept)] {
        assert_eq!(commit(&store, used(&user, name, after(3))).await, outcome, "{name}");
    }
    assert_eq!(store.resets_sent_since(user.id, NOW).await.unwrap(), 3, "links that have ended count");
    assert_eq!(store.resets_sent_since(user.id, after(2)).await.unwrap(), 1);
    let by_hand = PasswordReset { made_by: ResetMaker::Operator, ..link(&user, after(4)) };
    keep(&store, ResetWrite::LinkMade { reset: by_hand, hash: token_hash("four") }).await;
    assert_eq!(store.resets_sent_since(user.id, NOW).await.unwrap(), 3, "who has it from an operator got no letter");
}

async fn old_links_are_forgotten_a_few_at_a_time(database: Database) {
    let store = database.open().await;
    let user = kept_user(&store).await;
    for millis in 0..5 {
        kept_link(&store, &user, &millis.to_string(), after(millis)).await;
    }
    for left in [3, 1, 1] {
        keep(&store, SessionWrite::OldDeleted { created_before: after(4), most: 2 }).await;
        assert_eq!(store.resets_sent_since(user.id, NOW).await.unwrap(), left);
    }
}
