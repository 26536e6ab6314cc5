//! Closed hours: what was paid in each hour that is over, added up once. Their table is called `volumes`.

use domain::{
    id::ProjectId,
    time::{HOUR_MILLIS, Timestamp},
};

use super::POSTED_AFTER;
use crate::{Change, CommitError, MaintenanceWrite, Store};

/// Hours that are closed by one commit.
const HOURS_AT_ONCE: i64 = 6;
/// A read that goes through more payments of hours that are over and not closed requests closing them.
pub(crate) const MANY_OPEN: i64 = 300;

impl Store {
    /// Closes the next hours of one project that a read has requested it for; answers whether there is more to do.
    pub async fn close_hours(&self, now: Timestamp) -> Result<bool, CommitError> {
        let Some(project_id) = self.maintenance.closed_hours.any() else { return Ok(false) };
        let more = self.close_hours_of(project_id, now).await;
        self.maintenance.closed_hours.done(project_id, &more);
        more
    }

    /// Adds up the next hours in which anything was paid. They are stored in their order by one commit, so all hours up
    /// to a project's latest stored one are closed.
    async fn close_hours_of(&self, project_id: ProjectId, now: Timestamp) -> Result<bool, CommitError> {
        let open = now.minus(POSTED_AFTER).as_millis() / HOUR_MILLIS;
        let next = self.closed_hour(project_id).await?.map_or(0, |hour| hour + 1);
        let Some(first) = self.first_paid_hour(project_id, next, open).await? else { return Ok(false) };
        let until = open.min(first + HOURS_AT_ONCE);
        let paid = self.paid_by_hour(project_id, first, until).await?;
        let closed = paid.into_iter().map(|hour| MaintenanceWrite::HourClosed {
            project_id,
            hour: hour.hour,
            payments: hour.payments,
            amount: hour.amount,
        });
        self.commit(Change::default().with_all(closed)).await?;
        Ok(until < open)
    }
}
