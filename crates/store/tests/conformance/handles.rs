//! Several handles on one database, such as a command next to the server, and closing one of them.

use domain::{
    event::Event,
    link::Link,
    payment::{Payment, State},
    project::Project,
};
use futures_util::future::{join, join_all};
use store::{Change, EventFilter, Guard, LinkFilter, PaymentWrite, Store, WebhookWrite};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, EVERYTHING, NOW, kept_key, kept_link, kept_payment, kept_project},
};

on_every_database![
    a_second_handle_sees_and_makes_changes_at_once,
    the_guards_hold_between_handles,
    handles_that_write_at_once_lose_nothing,
    handles_opened_at_once_on_a_new_database_all_succeed,
    a_database_opened_again_is_as_it_was_left,
    after_closing_commits_are_refused_and_the_acknowledged_ones_are_there,
    closing_amid_commits_keeps_what_was_acknowledged_and_nothing_else,
];

async fn a_second_handle_sees_and_makes_changes_at_once(database: Database) {
    let server = database.open().await;
    let project = kept_project(&server).await;
    let key = kept_key(&server, &project, "server").await;
    let hash = samples::key_hash(&key);
    assert!(server.key_owner(hash).await.unwrap().is_some());

    let command = database.open().await;
    assert_eq!(command.project(project.id).await.unwrap(), Some(project.clone()));
    keep(&command, samples::revocation(&key, NOW)).await;
    assert!(server.key_owner(hash).await.unwrap().is_none());

    for (writing, reading) in [(&server, &command), (&command, &server)].repeat(10) {
        let link = kept_link(writing, &project, true).await;
        assert_eq!(reading.link(link.id).await.unwrap(), Some(link.clone()));
        let listed = reading.links(project.id, &LinkFilter::default(), EVERYTHING).await.unwrap();
        assert_eq!(listed.items.first(), Some(&link));
    }
}

async fn the_guards_hold_between_handles(database: Database) {
    let (one, other) = (database.open().await, database.open().await);
    let project = kept_project(&one).await;
    let payment = kept_payment(&one, samples::account_payment(&project, "1100000001")).await;
    keep(&other, samples::moved_to(&payment, State::Processing)).await;
    let stale = commit(&one, samples::moved_to(&payment, State::Expired)).await;
    assert_eq!(stale, Outcome::Conflict(Guard::PaymentVersion));
    let again = PaymentWrite::Created { payment: samples::account_payment(&project, &payment.code) };
    assert_eq!(commit(&other, again).await, Outcome::Conflict(Guard::AccountNumber));
    keep(&one, samples::bind(&project, "used", "one")).await;
    let bound = commit(&other, samples::bind(&project, "used", "other")).await;
    assert_eq!(bound, Outcome::Conflict(Guard::IdempotencyKey));
    assert_eq!(one.payment(payment.id).await.unwrap(), other.payment(payment.id).await.unwrap());
}

async fn handles_that_write_at_once_lose_nothing(database: Database) {
    const EACH: usize = 100;
    let handles = join_all((0..4).map(|_| database.open())).await;
    let project = kept_project(&handles[0]).await;
    let writing = handles.iter().map(|store| {
        let (store, project) = (store.clone(), project.clone());
        tokio::spawn(async move {
            join_all((0..EACH).map(|_| commit(&store, WebhookWrite::Event(samples::event(&project))))).await
        })
    });
    for outcomes in join_all(writing).await {
        assert_eq!(outcomes.unwrap(), [Outcome::Kept; EACH]);
    }
    for store in &handles {
        assert_eq!(store.events(project.id, EventFilter::default(), EVERYTHING).await.unwrap().total, 4 * EACH as i64);
    }
}

async fn handles_opened_at_once_on_a_new_database_all_succeed(database: Database) {
    const ROUNDS: usize = 10;
    const HANDLES: usize = 8;
    for _ in 0..ROUNDS {
        let database = std::sync::Arc::new(database.empty());
        let opening = (0..HANDLES).map(|_| {
            let database = database.clone();
            tokio::spawn(async move { database.try_open().await })
        });
        let handles: Vec<Store> = join_all(opening).await.into_iter().map(|opened| opened.unwrap().unwrap()).collect();
        let projects: Vec<Project> = join_all(handles.iter().map(kept_project)).await;
        for store in &handles {
            assert_eq!(store.projects().await.unwrap().len(), projects.len());
        }
    }
}

async fn a_database_opened_again_is_as_it_was_left(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, false).await;
    let payment = kept_payment(&store, samples::attempt(&project, &link)).await;
    keep(&store, samples::confirmation(&payment, Some(&link), "one")).await;
    let before = database.rows();
    for _ in 0..3 {
        let again = database.open().await;
        assert_eq!(database.rows(), before);
        let paid = Payment { state: State::Paid { at: NOW }, version: 2, ..payment.clone() };
        assert_eq!(again.payment(payment.id).await.unwrap(), Some(paid));
        let claimed = Link { claimed_by: Some(payment.id), version: 2, ..link.clone() };
        assert_eq!(again.link(link.id).await.unwrap(), Some(claimed));
        again.close().await;
    }
}

async fn after_closing_commits_are_refused_and_the_acknowledged_ones_are_there(database: Database) {
    let store = database.open().await;
    let clone = store.clone();
    let project = kept_project(&store).await;
    let kept: Vec<Event> = (0..50).map(|_| samples::event(&project)).collect();
    join_all(kept.iter().map(|event| keep(&store, WebhookWrite::Event(event.clone())))).await;
    join(store.close(), clone.close()).await;
    store.close().await;

    let late = samples::event(&project);
    for store in [&store, &clone] {
        assert_eq!(commit(store, WebhookWrite::Event(late.clone())).await, Outcome::Unavailable);
        assert_eq!(commit(store, Change::default()).await, Outcome::Unavailable);
    }
    let reopened = database.open().await;
    for event in kept {
        assert_eq!(reopened.event(project.id, event.id).await.unwrap(), Some(event));
    }
    assert_eq!(reopened.event(project.id, late.id).await.unwrap(), None);
}

async fn closing_amid_commits_keeps_what_was_acknowledged_and_nothing_else(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let sent: Vec<Event> = (0..400).map(|_| samples::event(&project)).collect();
    let sending = sent.iter().cloned().map(|event| {
        let store = store.clone();
        tokio::spawn(async move { commit(&store, WebhookWrite::Event(event)).await })
    });
    let (outcomes, ()) = join(join_all(sending), store.close()).await;
    let reopened = database.open().await;
    for (event, outcome) in sent.into_iter().zip(outcomes) {
        let found = reopened.event(project.id, event.id).await.unwrap();
        match outcome.unwrap() {
            Outcome::Kept => assert_eq!(found, Some(event)),
            Outcome::Unavailable => assert_eq!(found, None),
            other => panic!("{other:?}"),
        }
    }
}
