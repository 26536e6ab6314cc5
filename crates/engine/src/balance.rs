//! A project's balance.

use domain::{id::ProjectId, money::Rupiah, time::Timestamp};

use crate::{Engine, Error};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BalanceAt {
    pub available: Rupiah,
    pub pending: Rupiah,
    pub unapplied: Rupiah,
    pub as_of: Timestamp,
}

impl Engine {
    /// The balance now, or as it was at some instant.
    pub async fn balance(&self, project_id: ProjectId, at: Option<Timestamp>) -> Result<BalanceAt, Error> {
        let as_of = at.unwrap_or_else(|| self.now());
        let balance = self.store.balance(project_id, at).await?;
        Ok(BalanceAt { available: balance.available, pending: balance.pending, unapplied: balance.unapplied, as_of })
    }
}
