//! Moves the net of paid payments from pending to available once their delay is over.

use domain::{ledger::Posting, time::Timestamp};
use futures_util::future::join_all;
use store::{Change, CommitError, Due, Guard, Write};

use super::BATCH_MOST;
use crate::{Engine, Error};

impl Engine {
    /// One round; answers how many payments were due.
    pub async fn settle_due(&self) -> Result<usize, Error> {
        let now = self.now();
        if self.store.due_to_settle(now, 1).await?.is_empty() {
            return Ok(0);
        }
        // Whoever has the turn does all of it; to do it twice would be no more than labour lost.
        let Some(turn) = self.store.turn_to_settle().await? else { return Ok(0) };
        let due = self.store.due_to_settle(now, BATCH_MOST).await?;
        // All at once, so that they share a transaction.
        let settled = join_all(due.iter().map(|due| self.settle(*due, now))).await;
        settled.into_iter().collect::<Result<(), Error>>()?;
        turn.end().await?;
        Ok(due.len())
    }

    async fn settle(&self, due: Due, now: Timestamp) -> Result<(), Error> {
        let posting = Posting::settled(due.project_id, due.payment_id, due.net, now);
        let change = Change::from(Write::Settled { payment_id: due.payment_id }).with(Write::Posting(posting));
        match self.store.commit(change).await {
            // Another process was quicker.
            Ok(()) | Err(CommitError::Conflict(Guard::Unsettled)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
