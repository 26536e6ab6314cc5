//! What a process keeps in memory beside the database: caches, counts, and what is saved later, many at once. Each type
//! has a limit, and none knows the engine: the use cases read, fill and save what is kept here.

pub(super) mod audited_refusals;
pub(super) mod beats;
pub(super) mod change_tokens;
pub(super) mod key_uses;
pub(super) mod logo_reading;
pub(super) mod mail;
pub(super) mod page_views;
pub(super) mod project_cache;
pub(super) mod recent_keys;
pub(super) mod watchers;
