//! Settles: moves what is left of the net of paid payments from pending to available once their settlement delay is over.
//! Refunds may have taken some of it, or all.

use domain::{ledger::Posting, money::Rupiah, time::Timestamp};
use futures_util::future::join_all;
use store::{Change, CommitError, Due, Guard, LedgerWrite, PaymentWrite};

use super::BATCH_MOST;
use crate::{Engine, Error};

impl Engine {
    /// One round; answers how many payments were due.
    pub async fn settle_due(&self) -> Result<usize, Error> {
        let now = self.now();
        if self.store.due_to_settle(now, 1).await?.is_empty() {
            return Ok(0);
        }
        // One node at a time. Settling twice would be prevented by guards, but would waste work.
        let Some(lock) = self.store.try_lock_settlement().await? else { return Ok(0) };
        let due = self.store.due_to_settle(now, BATCH_MOST).await?;
        // Concurrently, so that they are committed in one batch.
        let settled = join_all(due.iter().map(|due| self.settle(*due, now))).await;
        settled.into_iter().collect::<Result<(), Error>>()?;
        lock.release().await?;
        Ok(due.len())
    }

    async fn settle(&self, due: Due, now: Timestamp) -> Result<(), Error> {
        let Due { project_id, payment_id, left, version } = due;
        let posting = (left > Rupiah::ZERO).then(|| Posting::settled(project_id, payment_id, left, now));
        let change =
            Change::from(PaymentWrite::Settled { payment_id, version }).with_all(posting.map(LedgerWrite::Posting));
        match self.store.commit(change).await {
            // Another process has settled it, or a refund was made meanwhile: what is left then is still due.
            Ok(()) | Err(CommitError::Conflict(Guard::Unsettled)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
