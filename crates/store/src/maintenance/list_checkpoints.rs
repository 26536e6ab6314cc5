//! List checkpoints: every thousandth payment of a project, with its position in the list, and what the payments from the
//! checkpoint before up to it add up to by state and method. With them, a list is counted, summed and paged through without
//! reading all of it. Their tables are called `payment_marks` and `payment_sums`.

use domain::{
    id::{PaymentId, ProjectId},
    time::Timestamp,
};

use super::first_unstable_id;
use crate::{
    Change, CommitError, MaintenanceWrite, Store, StoreError,
    value::{Query, Value},
};

/// Payments from one checkpoint to the next.
pub(crate) const PAYMENTS_APART: i64 = 1_000;
/// Checkpoints added by one commit, and checkpoints whose sums one commit adds up.
const CHECKPOINTS_AT_ONCE: usize = 64;
const SUMS_AT_ONCE: usize = 4;
/// A read that goes through more payments after the last checkpoint, or in hours that are not closed, requests
/// maintenance.
pub(crate) const LONG_TAIL: i64 = 2 * PAYMENTS_APART;

/// Checkpoints without sums, up to which all payments have ended since the checkpoint before.
const UNSUMMED: &str = "SELECT m.id FROM payment_marks m WHERE m.project_id = $1 AND m.is_summed = 0 \
    AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.project_id = $1 AND p.id > m.previous AND p.id <= m.id \
    AND p.state IN ('pending', 'processing')) ORDER BY m.id LIMIT $2";

impl Store {
    /// Adds the next checkpoints for one project that a read has requested them for, and the sums of those whose payments
    /// have ended; answers whether there is more to do.
    pub async fn extend_list_checkpoints(&self, now: Timestamp) -> Result<bool, CommitError> {
        let Some(project_id) = self.maintenance.list_checkpoints.any() else { return Ok(false) };
        let more = match self.add_checkpoints(project_id, now).await {
            Ok(false) => self.add_sums(project_id).await,
            more => more,
        };
        self.maintenance.list_checkpoints.done(project_id, &more);
        more
    }

    async fn add_checkpoints(&self, project_id: ProjectId, now: Timestamp) -> Result<bool, CommitError> {
        let last = "SELECT id, position FROM payment_marks WHERE project_id = $1 ORDER BY id DESC LIMIT 1";
        let last = Query::new(last, [Value::stored(project_id)]);
        let last = self.one(last, |columns| Ok((columns.payment_id()?, columns.integer()?))).await?;
        let (mut id, position) = last.unzip();
        let mut position = position.unwrap_or_default();
        let mut checkpoints = Vec::new();
        while checkpoints.len() < CHECKPOINTS_AT_ONCE
            && let Some(next) = self.next_checkpoint(project_id, id, now).await?
        {
            position += PAYMENTS_APART;
            let previous = id.replace(next);
            checkpoints.push(MaintenanceWrite::ListCheckpoint { project_id, id: next, position, previous });
        }
        // Sums are left to another round: a payment that moves must find the checkpoint whose sums it makes untrue.
        let more = !checkpoints.is_empty();
        if more {
            self.commit(Change::default().with_all(checkpoints)).await?;
        }
        Ok(more)
    }

    /// The payment of the next checkpoint; none where there are too few payments.
    async fn next_checkpoint(
        &self,
        project_id: ProjectId,
        after: Option<PaymentId>,
        now: Timestamp,
    ) -> Result<Option<PaymentId>, StoreError> {
        let sql = "SELECT id FROM payments WHERE project_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT 1 OFFSET $4";
        let until = Value::stored(first_unstable_id(now));
        let after = after.map_or("".into(), Value::stored);
        let parameters = [Value::stored(project_id), after, until, (PAYMENTS_APART - 1).into()];
        Ok(self.many(Query::new(sql, parameters), |columns| columns.parsed()).await?.pop())
    }

    async fn add_sums(&self, project_id: ProjectId) -> Result<bool, CommitError> {
        let most = i64::try_from(SUMS_AT_ONCE).unwrap_or(i64::MAX);
        let unsummed = Query::new(UNSUMMED, [Value::stored(project_id), most.into()]);
        let unsummed: Vec<PaymentId> = self.many(unsummed, |columns| columns.parsed()).await?;
        if unsummed.is_empty() {
            return Ok(false);
        }
        let more = unsummed.len() == SUMS_AT_ONCE;
        let sums = unsummed.into_iter().map(|id| MaintenanceWrite::ListSums { project_id, id });
        self.commit(Change::default().with_all(sums)).await?;
        Ok(more)
    }
}
