//! The API under `/v1`: what merchants' programs send and get back.

mod answer_headers;
mod authentication;
mod bad_input;
mod bad_members;
mod balance;
mod cors;
mod events;
mod framework_errors;
mod idempotency;
mod instructions;
mod keys;
mod link_payments;
mod link_states;
mod links;
mod openapi;
mod order_of_checks;
mod payment_list;
mod payment_states;
mod payments;
mod production;
mod rate_limits;
mod reconcilers;
pub(crate) mod schemathesis;
mod session_answers;
mod sessions;
mod simulate;
mod unauthorized;
