//! The contract through real HTTP and the real binary: one file per part, each test named after the rule it holds to.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod api;
mod checkout;
mod commands;
mod dashboard;
mod faults;
mod house;
mod support;
mod webhooks;
