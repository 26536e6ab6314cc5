//! Tests of the bank through HTTP, against a small door that records what it is sent.

mod accounts;
mod callers;
mod calls;
mod door;
mod knobs;
mod notices;
mod qr_codes;
mod scan;
mod screens;
mod services;
mod services_faults;
mod shop;
mod signatures;
