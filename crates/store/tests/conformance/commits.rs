//! Detecting commits without reading the committed rows.

use std::time::Duration;

use domain::payment::State;
use store::Commits;
use tokio::{task::yield_now, time::timeout};

use crate::{
    database::{Database, keep, on_every_database},
    samples::{self, kept_payment, kept_project},
};

on_every_database![
    the_first_answer_is_that_something_may_have_been_committed,
    everyone_who_asks_notices_a_commit,
    another_handles_commit_is_noticed,
    what_nobody_was_woken_for_is_noticed,
    commits_are_noticed_on_a_store_that_was_closed_in_between,
];

/// An upper bound for waits that end long before it unless something is broken.
const PATIENCE: Duration = Duration::from_secs(30);

/// Calls `any` until it answers `wanted`.
async fn until_any_is(wanted: bool, commits: &mut Commits) {
    let asking = async {
        while commits.any().unwrap() != wanted {
            yield_now().await;
        }
    };
    timeout(PATIENCE, asking).await.unwrap();
}

async fn the_first_answer_is_that_something_may_have_been_committed(database: Database) {
    let store = database.open().await;
    kept_project(&store).await;
    for _ in 0..3 {
        let mut commits = store.commits();
        assert!(commits.any().unwrap());
        until_any_is(false, &mut commits).await;
    }
}

async fn everyone_who_asks_notices_a_commit(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = kept_payment(&store, samples::payment(&project)).await;
    let (mut one, mut other) = (store.commits(), store.commits());
    for commits in [&mut one, &mut other] {
        until_any_is(false, commits).await;
    }
    keep(&store, samples::moved_to(&payment, State::Processing)).await;
    for commits in [&mut one, &mut other] {
        timeout(PATIENCE, commits.notified()).await.unwrap();
        assert!(commits.any().unwrap());
        until_any_is(false, commits).await;
    }
}

async fn another_handles_commit_is_noticed(database: Database) {
    let (server, command) = (database.open().await, database.open().await);
    let project = kept_project(&server).await;
    for _ in 0..5 {
        let payment = kept_payment(&server, samples::payment(&project)).await;
        let mut commits = server.commits();
        until_any_is(false, &mut commits).await;
        keep(&command, samples::moved_to(&payment, State::Processing)).await;
        until_any_is(true, &mut commits).await;
    }
}

async fn what_nobody_was_woken_for_is_noticed(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    kept_payment(&store, samples::payment(&project)).await;
    let mut commits = store.commits();
    until_any_is(false, &mut commits).await;
    database.run_beside("UPDATE payments SET state = 'processing', version = 2").unwrap();
    until_any_is(true, &mut commits).await;
}

async fn commits_are_noticed_on_a_store_that_was_closed_in_between(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let mut commits = store.commits();
    until_any_is(false, &mut commits).await;
    store.close().await;
    let again = database.open().await;
    let payment = kept_payment(&again, samples::payment(&project)).await;
    keep(&again, samples::moved_to(&payment, State::Processing)).await;
    until_any_is(true, &mut commits).await;
}
