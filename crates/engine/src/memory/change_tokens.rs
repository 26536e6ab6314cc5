//! A cache of projects' change tokens.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use domain::id::ProjectId;
use tokio::sync::Mutex as AsyncMutex;

/// Projects in the cache. When there are more, the cache is cleared; the next poll of each project adds it again.
const PROJECTS_MOST: usize = 10_000;

/// A project's last token, and when it was read.
pub(crate) type Last = Option<(Instant, String)>;

#[derive(Default)]
pub(crate) struct ChangeTokens(Mutex<HashMap<ProjectId, Arc<AsyncMutex<Last>>>>);

impl ChangeTokens {
    pub(crate) fn of(&self, id: ProjectId) -> Arc<AsyncMutex<Last>> {
        let mut projects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if projects.len() >= PROJECTS_MOST {
            projects.clear();
        }
        Arc::clone(projects.entry(id).or_default())
    }
}
