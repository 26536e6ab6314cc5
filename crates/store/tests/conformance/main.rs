//! What every database under the store must do. Each test runs on a fresh database of every kind that `database`
//! knows; only `files` is about SQLite alone.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod attention;
mod audit;
mod commit;
mod commits;
mod database;
mod deliveries;
mod events;
mod expiry;
mod files;
mod handles;
mod keys;
mod ledger;
mod links;
mod lists;
mod log;
mod migration;
mod payments;
mod people;
mod projects;
mod pulse;
mod samples;
mod search;
mod sign_ins;
mod verify;
mod volume;
