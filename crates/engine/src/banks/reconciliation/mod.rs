//! Days of accounts, compared with what their banks know of them.

pub(super) mod compare;
pub(super) mod comparison;
pub(super) mod days;
