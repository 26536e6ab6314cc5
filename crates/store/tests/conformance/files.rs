//! SQLite only: files that are not a database of ours, the file after closing, and the full queue.

use std::{fs, path::Path};

use domain::event::Event;
use rusqlite::Connection;
use store::{EventFilter, OpenError, Store, WebhookWrite};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::{
    database::{Outcome, commit, file_in},
    samples::{self, EVERYTHING, kept_project},
};

async fn refusal(path: &Path) -> OpenError {
    match Store::open_sqlite(path).await {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    for content in [&b"hello"[..], &[7; 10_000], b"SQLite format 3\0 but nothing more", &[0; 4_096]] {
        let directory = TempDir::new().unwrap();
        fs::write(file_in(&directory), content).unwrap();
        refusal(&file_in(&directory)).await;
        assert_eq!(fs::read(file_in(&directory)).unwrap(), content);
    }
}

#[tokio::test]
async fn a_place_where_no_file_can_be_is_refused() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "x").unwrap();
    for path in [directory.path().to_owned(), directory.path().join("missing/lunas.db"), file.join("lunas.db")] {
        refusal(&path).await;
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_refused() {
    let directory = TempDir::new().unwrap();
    Store::open_sqlite(&file_in(&directory)).await.unwrap().close().await;
    let mut permissions = fs::metadata(file_in(&directory)).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(file_in(&directory), permissions).unwrap();
    // root may write it all the same.
    let writable = fs::OpenOptions::new().append(true).open(file_in(&directory)).is_ok();
    assert_eq!(Store::open_sqlite(&file_in(&directory)).await.is_ok(), writable);
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused_and_left_alone() {
    let directory = TempDir::new().unwrap();
    Store::open_sqlite(&file_in(&directory)).await.unwrap().close().await;
    let connection = Connection::open(file_in(&directory)).unwrap();
    let newer = "INSERT INTO refinery_schema_history (version, name, applied_on, checksum) \
                 VALUES (999, 'future', '2027-01-15T08:00:00Z', '1')";
    connection.execute_batch(newer).unwrap();
    assert!(matches!(refusal(&file_in(&directory)).await, OpenError::Newer));
    let versions = "SELECT MAX(version) FROM refinery_schema_history";
    assert_eq!(connection.query_row(versions, [], |row| row.get::<_, i64>(0)).unwrap(), 999);
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_alone() {
    for theirs in [
        "CREATE TABLE orders (id INTEGER)",
        "CREATE TABLE refinery_schema_history (version INT4 PRIMARY KEY, name TEXT, applied_on TEXT, checksum TEXT); \
         INSERT INTO refinery_schema_history VALUES (1, 'theirs', 'yesterday', 'none')",
        "CREATE TABLE payments (id INTEGER); CREATE TABLE refinery_schema_history (when_made TEXT)",
    ] {
        let directory = TempDir::new().unwrap();
        let connection = Connection::open(file_in(&directory)).unwrap();
        connection.execute_batch(theirs).unwrap();
        let tables = || connection.query_row("SELECT group_concat(sql) FROM sqlite_master", [], |row| row.get(0));
        let before: String = tables().unwrap();
        let error = refusal(&file_in(&directory)).await;
        assert!(matches!(error, OpenError::OtherProgram), "{theirs}: {error:?}");
        assert_eq!(tables().unwrap(), before);
    }
}

#[tokio::test]
async fn an_empty_file_becomes_a_database() {
    let directory = TempDir::new().unwrap();
    fs::write(file_in(&directory), "").unwrap();
    let store = Store::open_sqlite(&file_in(&directory)).await.unwrap();
    kept_project(&store).await;
}

#[tokio::test]
async fn a_closed_database_is_one_file() {
    let directory = TempDir::new().unwrap();
    let store = Store::open_sqlite(&file_in(&directory)).await.unwrap();
    let project = kept_project(&store).await;
    assert!(store.project(project.id).await.unwrap().is_some());
    assert!(store.commits().any().unwrap());
    store.close().await;
    // So a copy of the file is complete.
    let files: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["lunas.db"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_refuses_at_once_and_keeps_what_it_took() {
    /// More plans than the queue and one batch can hold.
    const SENT: usize = 3_000;
    let directory = TempDir::new().unwrap();
    let store = Store::open_sqlite(&file_in(&directory)).await.unwrap();
    let project = kept_project(&store).await;
    // While another process holds the lock nothing is committed, so the first answer must be an error.
    let lock = Connection::open(file_in(&directory)).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut sending = JoinSet::new();
    for _ in 0..SENT {
        let (store, event) = (store.clone(), samples::event(&project));
        sending.spawn(async move { (commit(&store, WebhookWrite::Event(event.clone())).await, event) });
    }
    let (first, _) = sending.join_next().await.unwrap().unwrap();
    assert_eq!(first, Outcome::Unavailable);
    lock.execute_batch("ROLLBACK").unwrap();

    let mut kept: Vec<Event> = Vec::new();
    while let Some(sent) = sending.join_next().await {
        match sent.unwrap() {
            (Outcome::Kept, event) => kept.push(event),
            (outcome, _) => assert_eq!(outcome, Outcome::Unavailable),
        }
    }
    assert!(!kept.is_empty());
    let total = store.events(project.id, EventFilter::default(), EVERYTHING).await.unwrap().total;
    assert_eq!(total, kept.len() as i64);
    for event in kept {
        assert_eq!(store.event(project.id, event.id).await.unwrap(), Some(event));
    }
}

#[tokio::test]
async fn what_belongs_to_no_project_is_reported_by_its_short_id() {
    let directory = TempDir::new().unwrap();
    let store = Store::open_sqlite(&file_in(&directory)).await.unwrap();
    kept_project(&store).await;
    let rows = "PRAGMA foreign_keys = OFF; INSERT INTO members VALUES (x'85', 'usr_1', 'viewer', 1)";
    Connection::open(file_in(&directory)).unwrap().execute_batch(rows).unwrap();
    let found = store.breaches().await.unwrap();
    let rows: Vec<&str> = found.iter().map(|breach| breach.row.as_str()).collect();
    assert_eq!(rows, ["85:usr_1", "[85]"]);
}
