//! Projects' change tokens: each project's token is read about once a second, however many open pages poll it.

use std::time::{Duration, Instant};

use domain::id::ProjectId;

use crate::{Engine, Error};

/// A cached token is used for this long.
const FRESH: Duration = Duration::from_millis(900);

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
