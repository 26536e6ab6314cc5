//! The suite: the contract (docs/contract.md) and the pages, through real sockets and the real binary. A folder for
//! each surface, a file for each part of it, and each test is named after the rule that it proves.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod api;
mod checkout;
mod clients;
mod commands;
mod dashboard;
mod documents;
mod faults;
mod house;
mod install;
mod letters;
mod site;
mod snap;
mod support;
mod webhooks;
