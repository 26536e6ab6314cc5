//! The conformance tests of the store. Each test runs on a fresh SQLite and a fresh PostgreSQL database; only `files`
//! is about SQLite alone, and one test of `nodes` about PostgreSQL alone.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod attempts;
mod attention;
mod audit;
mod audit_chain;
mod balance_checkpoints;
mod bank_money;
mod bank_numbers;
mod bank_requests;
mod bank_samples;
mod banks;
mod change_token;
mod commit;
mod commits;
mod comparisons;
mod connections;
mod customers;
mod database;
mod deadlines;
mod deliveries;
mod events;
mod expiry;
mod extra_events;
mod files;
mod handles;
mod held;
mod idempotency;
mod keys;
mod ledger;
mod links;
mod list_sums;
mod lists;
mod log;
mod migration;
mod nodes;
mod opening_samples;
mod openings;
mod payments;
mod people;
mod projects;
mod sales;
mod samples;
mod sealed;
mod search;
mod search_words;
mod short_ids;
mod sign_ins;
mod strays;
mod terms_samples;
mod users;
mod verify;
mod volume;
