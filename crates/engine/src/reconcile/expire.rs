//! Writes the expiry of pending payments. Readers compute an expiry at its exact instant already; writing it keeps
//! queries simple and frees account numbers.

use store::{CommitError, Guard, PaymentWrite};

use super::BATCH_MOST;
use crate::{Engine, Error};

impl Engine {
    /// One round; answers 0 when there is nothing more to do.
    pub async fn expire_due(&self) -> Result<usize, Error> {
        let now = self.now();
        if !self.store.any_to_expire(now).await? {
            return Ok(0);
        }
        match self.store.commit(PaymentWrite::PendingExpired { now, most: BATCH_MOST }.into()).await {
            Ok(()) => Ok(1),
            // Other nodes are writing all of them.
            Err(CommitError::Conflict(Guard::AnyExpired)) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}
