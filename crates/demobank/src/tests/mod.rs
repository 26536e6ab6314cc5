//! Tests of the bank through HTTP, against a small door that records what it is sent.

mod accounts;
mod callers;
mod calls;
mod door;
mod inquiries;
mod knobs;
mod money_profiles;
mod money_screens;
mod notices;
mod qr_codes;
mod refund_profiles;
mod refunds;
mod scan;
mod screens;
mod sender;
mod services;
mod services_faults;
mod shop;
mod signatures;
mod statements;
mod transfer_faults;
mod transfers;
