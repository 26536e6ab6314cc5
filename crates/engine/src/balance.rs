//! A project's balance.

use domain::{id::ProjectId, money::Rupiah, rules::Invalid, time::Timestamp};

use crate::{Engine, Error};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BalanceAt {
    pub available: Rupiah,
    pub pending: Rupiah,
    pub unapplied: Rupiah,
    /// On its way back to customers.
    pub refunding: Rupiah,
    pub as_of: Timestamp,
}

impl Engine {
    /// The balance now, or as it was at some instant. Nobody knows the balance of an instant that is still to come.
    pub async fn balance(&self, project_id: ProjectId, at: Option<Timestamp>) -> Result<BalanceAt, Error> {
        let now = self.now();
        if at.is_some_and(|at| at > now) {
            return Err(Invalid::new("at", "must not be in the future").into());
        }
        let as_of = at.unwrap_or(now);
        let balance = self.store.balance(project_id, at).await?;
        Ok(BalanceAt {
            available: balance.available,
            pending: balance.pending,
            unapplied: balance.unapplied,
            refunding: balance.refunding,
            as_of,
        })
    }
}
