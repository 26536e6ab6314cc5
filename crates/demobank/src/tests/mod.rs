//! Tests of the bank through HTTP, against a small door that records what it is sent.

mod accounts;
mod asked;
mod asked_faults;
mod callers;
mod calls;
mod door;
mod knobs;
mod notices;
mod qr_codes;
mod scan;
mod screens;
mod shop;
mod signatures;
