//! The rules that the source tree itself keeps.

mod source_rules;
