//! The contract through real HTTP and the real binary: one file per part, each test named after the rule it holds to.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod acts;
mod answer_headers;
mod api_keys;
mod auth;
mod bad_input;
mod bad_members;
mod balance;
mod beside_a_server;
mod command_line;
mod cors;
mod dev_command;
mod durability;
mod events;
mod framework_errors;
mod house;
mod idempotency;
mod instructions;
mod link_states;
mod links;
mod openapi;
mod order_of_checks;
mod payment_acts;
mod payment_claims;
mod payment_list;
mod payment_states;
mod payments;
mod production;
mod rate_limits;
mod reconcilers;
mod refusals;
mod request_log;
mod samples;
mod schemathesis;
mod serve_command;
mod shutdown;
mod simulate;
mod sockets;
mod strangers;
mod webhook_answers;
mod webhook_crashes;
mod webhook_isolation;
mod webhook_schedule;
mod webhook_sending;
mod webhook_urls;
