//! What we ask of banks: a code, where it stands, that it is voided. What is asked is stored before the call, so that a call
//! which is lost is found again.

pub(super) mod back_off;
pub(super) mod conclude;
pub(super) mod jobs;
pub(super) mod line;
pub(super) mod openings;
pub(in crate::banks) mod refunds;
pub(super) mod rows;
pub(super) mod story;
pub(super) mod test_account;
