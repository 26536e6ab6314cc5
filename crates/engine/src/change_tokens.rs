//! A cache of projects' change tokens: each project's token is read about once a second, however many open pages poll
//! it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use domain::id::ProjectId;
use tokio::sync::Mutex as AsyncMutex;

use crate::{Engine, Error};

/// A cached token is used for this long.
const FRESH: Duration = Duration::from_millis(900);
/// Projects in the cache. When there are more, the cache is cleared; the next poll of each project adds it again.
const PROJECTS_MOST: usize = 10_000;

/// A project's last token, and when it was read.
type Last = Option<(Instant, String)>;

#[derive(Default)]
pub(crate) struct ChangeTokens(Mutex<HashMap<ProjectId, Arc<AsyncMutex<Last>>>>);

impl ChangeTokens {
    fn of(&self, id: ProjectId) -> Arc<AsyncMutex<Last>> {
        let mut projects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if projects.len() >= PROJECTS_MOST {
            projects.clear();
        }
        Arc::clone(projects.entry(id).or_default())
    }
}

impl Engine {
    /// A token that changes within a second of what the project's pages show. Of many concurrent callers, one reads it
    /// from the database.
    pub(crate) async fn change_token(&self, id: ProjectId) -> Result<String, Error> {
        let cached = self.change_tokens.of(id);
        let mut last = cached.lock().await;
        if let Some((_, token)) = last.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(token.clone());
        }
        let token = self.store.change_token(id).await?;
        *last = Some((Instant::now(), token.clone()));
        Ok(token)
    }
}
