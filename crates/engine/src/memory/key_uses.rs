//! When API keys were last used, to the minute, until it is saved.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use domain::{
    id::{KeyId, ProjectId},
    time::Timestamp,
};
use store::KeyWrite;

/// How exactly the last use of a key is known.
const SAVED_EVERY: Duration = Duration::from_mins(1);
/// Uses that one commit saves.
pub(crate) const SAVED_AT_ONCE: usize = 100;
/// Keys in memory. When there are more, all are dropped; each comes back with its next request.
const KEYS_MOST: usize = 100_000;

/// The last use of each key. Uses are saved in the background, since no request should wait for that.
#[derive(Default)]
pub(crate) struct KeyUses(Mutex<HashMap<KeyId, KeyUse>>);

struct KeyUse {
    project_id: ProjectId,
    at: Timestamp,
    /// The time that was saved last.
    saved: Option<Timestamp>,
}

impl KeyUses {
    pub(crate) fn note(&self, key_id: KeyId, project_id: ProjectId, at: Timestamp) {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if uses.len() >= KEYS_MOST {
            uses.clear();
        }
        uses.entry(key_id).or_insert(KeyUse { project_id, at, saved: None }).at = at;
    }

    /// The uses to save now: a key's first use at once, later ones once a minute.
    pub(crate) fn due(&self) -> Vec<KeyWrite> {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = uses.iter_mut().filter(|(_, used)| used.saved.is_none_or(|saved| used.at >= saved.plus(SAVED_EVERY)));
        due.take(SAVED_AT_ONCE)
            .map(|(key_id, used)| {
                used.saved = Some(used.at);
                KeyWrite::Used { key_id: *key_id, project_id: used.project_id, at: used.at }
            })
            .collect()
    }
}
