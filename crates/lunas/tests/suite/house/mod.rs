//! The rules that the source tree itself keeps.

pub(crate) mod source_rules;
