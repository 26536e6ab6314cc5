//! Compares each day with the banks after it is over. Accounts are compared at once, so that a bank that hangs delays no other.

use domain::id::BankAccountId;
use futures_util::{StreamExt, stream};

use crate::{BankError, Engine, Error};

/// Accounts that are compared at once.
const ACCOUNTS_AT_ONCE: usize = 8;

impl Engine {
    /// Compares every day that is due of every enabled account; answers how many days.
    pub async fn reconcile_due(&self) -> Result<usize, Error> {
        let accounts = self.store.bank_accounts().await?.into_iter().filter(|account| account.enabled);
        let ids: Vec<BankAccountId> = accounts.map(|account| account.id).collect();
        let comparing = stream::iter(ids).map(|id| self.reconcile_account(id));
        Ok(comparing.buffer_unordered(ACCOUNTS_AT_ONCE).fold(0, async |sum, days| sum + days).await)
    }

    async fn reconcile_account(&self, id: BankAccountId) -> usize {
        match self.compare_due_days(id).await {
            Ok(days) => days,
            Err(Error::Bank(BankError::BeingCompared)) => 0,
            Err(error) => {
                tracing::warn!(%error, account = %id, "comparing a day with a bank failed and will be retried");
                0
            }
        }
    }
}
