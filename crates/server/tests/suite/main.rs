//! The contract through real HTTP and the real binary: one file per part, each test named after the rule it holds to.

mod payments;
mod samples;
