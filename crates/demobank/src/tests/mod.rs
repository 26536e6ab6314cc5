//! Tests of the bank through HTTP, against a small door that records what it is sent.

mod asked;
mod calls;
mod door;
mod knobs;
mod screens;
mod signatures;
