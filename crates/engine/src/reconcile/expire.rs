//! Writes expiries down. Readers see an expiry at its exact instant already; this keeps queries and account numbers tidy.

use store::{CommitError, Guard, Write};

use super::BATCH_MOST;
use crate::{Engine, Error};

impl Engine {
    /// One round; answers whether there was anything to do.
    pub async fn expire_due(&self) -> Result<usize, Error> {
        let now = self.now();
        if !self.store.any_to_expire(now).await? {
            return Ok(0);
        }
        match self.store.commit(Write::PendingExpired { now, most: BATCH_MOST }.into()).await {
            Ok(()) => Ok(1),
            // Other nodes have them all in hand.
            Err(CommitError::Conflict(Guard::AnyExpired)) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}
