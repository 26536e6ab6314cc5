//! What the store promises, whichever database is below it. Each test runs on a new database of every kind in `database.rs`;
//! only those in `files.rs` are about SQLite alone.

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
