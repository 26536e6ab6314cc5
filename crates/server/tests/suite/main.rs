//! The contract through real HTTP and the real binary: one file per part, each test named after the rule it holds to.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod acts;
mod answer_headers;
mod api_keys;
mod auth;
mod balance;
mod cors;
mod events;
mod idempotency;
mod instructions;
mod link_states;
mod links;
mod order_of_checks;
mod payment_acts;
mod payment_claims;
mod payment_list;
mod payment_states;
mod payments;
mod production;
mod rate_limits;
mod reconcilers;
mod samples;
mod simulate;
