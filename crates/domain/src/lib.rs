//! The rules of the business as values and pure functions: money, ids, payments, links, fees, the ledger, events and
//! their delivery, QRIS, banks, roles.
//!
//! Nothing here does I/O, waits, reads a clock or draws random numbers; callers pass both in. Nothing here knows SQL,
//! HTTP or how values look as JSON.

pub mod access;
pub mod api_key;
pub mod attempt_limits;
pub mod audit;
pub mod audit_chain;
pub mod bank;
pub mod bank_account;
pub mod bank_difference;
mod bank_menus;
pub mod bank_money;
pub mod bank_request;
pub mod colour;
pub mod customer;
pub mod delivery;
pub mod destination;
pub mod event;
pub mod event_kind;
pub mod face;
pub mod fee;
pub mod hex;
pub mod id;
pub mod idempotency;
pub mod instructions;
pub mod key_networks;
pub mod key_rights;
pub mod language;
pub mod ledger;
pub mod letter;
pub mod letter_queue;
pub mod link;
pub mod link_edit;
pub mod metadata;
pub mod method;
pub mod money;
pub mod opening;
pub mod orders;
pub mod password_reset;
pub mod payment;
pub mod payment_state;
pub mod payment_terms;
pub mod pricing;
pub mod project;
pub mod qris;
pub mod receipt;
pub mod refund;
pub mod refund_news;
pub mod refund_settings;
pub mod return_url;
pub mod rules;
pub mod sale;
pub mod search;
pub mod second_factor;
pub mod signature;
pub mod stray;
pub mod time;
pub mod undecided;
pub mod user;
pub mod visible;
