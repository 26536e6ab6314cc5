//! What is true: money, ids, payments, links, fees, ledger, events and their delivery, QRIS and banks, as values and pure
//! functions.
//!
//! Nothing here waits, reads a clock, draws randomness, speaks SQL or HTTP, or knows how values look on the wire.

pub mod access;
pub mod api_key;
pub mod audit;
pub mod bank;
pub mod customer;
pub mod delivery;
pub mod event;
pub mod fee;
pub mod id;
pub mod idempotency;
pub mod ledger;
pub mod link;
pub mod method;
pub mod money;
pub mod payment;
pub mod project;
pub mod qr_image;
pub mod qris;
pub mod receipt;
pub mod rules;
pub mod signature;
pub mod steps;
pub mod time;
pub mod user;
