//! What a process keeps in memory about banks: accounts that are ready for use, the state of its calls, and what is
//! saved later. As in `crate::memory`, nothing here knows the engine.

pub(super) mod calls;
pub(super) mod open_accounts;
pub(super) mod outbound;
pub(super) mod unfinished;
pub(super) mod unsaved_words;
