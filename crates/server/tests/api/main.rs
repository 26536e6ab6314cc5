//! The contract through real HTTP: one file per part of it, each test named after the rule it holds to.

mod payments;
mod samples;
