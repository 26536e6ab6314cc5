//! Contracts with banks: accounts, their settings and secrets, which projects use them, the numbers that they give out, and
//! how an account does.

pub(super) mod account_reads;
pub(super) mod accounts;
pub(super) mod call_log;
pub(super) mod credentials;
pub(super) mod doors;
pub(super) mod go_live;
pub(super) mod health;
pub(super) mod methods;
pub(super) mod numbers;
pub(super) mod numbers_taken;
pub(super) mod open_account;
