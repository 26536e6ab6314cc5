//! List checkpoints: every thousandth payment of a project, with its position in the list and the sum up to it. With
//! them, a list is counted, summed and paged through without reading all of it. Their table is called `payment_marks`.

use domain::{
    id::{PaymentId, ProjectId},
    money::Rupiah,
    time::Timestamp,
};

use super::first_unstable_id;
use crate::{
    Change, CommitError, MaintenanceWrite, Store, StoreError,
    value::{Columns, Query, Value},
};

/// Payments from one checkpoint to the next.
const PAYMENTS_APART: i64 = 1_000;
/// Checkpoints added by one commit.
const CHECKPOINTS_AT_ONCE: usize = 64;
/// A read that goes through more payments after the last checkpoint, or in hours that are not closed, requests
/// maintenance.
pub(crate) const LONG_TAIL: i64 = 2 * PAYMENTS_APART;

impl Store {
    /// Adds the next checkpoints for one project that a read has requested them for; answers whether there is more to
    /// do.
    pub async fn extend_list_checkpoints(&self, now: Timestamp) -> Result<bool, CommitError> {
        let Some(project_id) = self.maintenance.list_checkpoints.any() else { return Ok(false) };
        let more = self.add_checkpoints(project_id, now).await;
        self.maintenance.list_checkpoints.done(project_id, &more);
        more
    }

    async fn add_checkpoints(&self, project_id: ProjectId, now: Timestamp) -> Result<bool, CommitError> {
        let last = "SELECT id, position, amount FROM payment_marks WHERE project_id = $1 ORDER BY id DESC LIMIT 1";
        let last = Query::new(last, [Value::shown(project_id)]);
        let last = self.one(last, |columns| Ok((columns.text()?, columns.integer()?, columns.rupiah()?))).await?;
        let (mut id, mut position, mut amount) = last.unwrap_or_default();
        let mut checkpoints = Vec::new();
        while checkpoints.len() < CHECKPOINTS_AT_ONCE
            && let Some((next, added)) = self.next_checkpoint(project_id, &id, now).await?
        {
            position += PAYMENTS_APART;
            amount = amount + added;
            id = next.to_string();
            checkpoints.push(MaintenanceWrite::ListCheckpoint { project_id, id: next, position, amount });
        }
        let more = checkpoints.len() == CHECKPOINTS_AT_ONCE;
        if !checkpoints.is_empty() {
            self.commit(Change::default().with_all(checkpoints)).await?;
        }
        Ok(more)
    }

    /// The payment of the next checkpoint, and the sum of the amounts from the last checkpoint to it; none where there
    /// are too few payments.
    async fn next_checkpoint(
        &self,
        project_id: ProjectId,
        after: &str,
        now: Timestamp,
    ) -> Result<Option<(PaymentId, Rupiah)>, StoreError> {
        let sql = "SELECT MAX(id), CAST(SUM(amount) AS BIGINT) FROM (SELECT id, amount FROM payments \
                   WHERE project_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $4) next HAVING COUNT(*) = $4";
        let until = Value::shown(first_unstable_id(now));
        let parameters = [Value::shown(project_id), after.to_owned().into(), until, PAYMENTS_APART.into()];
        let next = |columns: &mut Columns<'_>| Ok((columns.parsed()?, columns.rupiah()?));
        Ok(self.many(Query::new(sql, parameters), next).await?.pop())
    }
}
