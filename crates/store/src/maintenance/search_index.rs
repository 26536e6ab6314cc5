//! The search index over payments' references. New references are added in batches rather than with each payment, which
//! would make every payment slower.

use std::sync::atomic::Ordering;

use domain::{id::PaymentId, time::Timestamp};

use super::{AFTER_EVERY_ID, first_unstable_id};
use crate::{
    CommitError, MaintenanceWrite, Store, StoreError,
    plan::Dialect,
    value::{Query, Value},
};

/// References added by one commit.
const REFERENCES_AT_ONCE: i64 = 500;
/// A search that finds more references missing from the index requests maintenance.
pub(crate) const LONG_SEARCH: i64 = 1_000;

impl Store {
    /// Adds the next references to the index if a search has requested it; answers whether there is more to do.
    pub async fn extend_search_index(&self, now: Timestamp) -> Result<bool, CommitError> {
        if !self.maintenance.search_index.swap(false, Ordering::Relaxed) {
            return Ok(false);
        }
        let until = first_unstable_id(now);
        self.commit(MaintenanceWrite::SearchIndexed { until, most: REFERENCES_AT_ONCE }.into()).await?;
        let more = self.search_lacks(Some(until), REFERENCES_AT_ONCE).await?;
        if more {
            self.maintenance.search_index();
        }
        Ok(more)
    }

    /// Whether more than `many` references are missing from the index; with `until`, only those of payments created
    /// before it count.
    pub(crate) async fn search_lacks(&self, until: Option<PaymentId>, many: i64) -> Result<bool, StoreError> {
        let query = match self.dialect() {
            Dialect::Sqlite => Query::new(
                "SELECT 1 FROM payment_searchable s WHERE (SELECT MAX(number) FROM payments) - s.upto > $1",
                [many.into()],
            ),
            Dialect::Postgres => Query::new(
                "SELECT 1 FROM payments WHERE id > (SELECT upto FROM payment_searchable) AND id < $1 LIMIT 1 OFFSET $2",
                [until.map_or_else(|| AFTER_EVERY_ID.into(), Value::shown), many.into()],
            ),
        };
        Ok(self.one(query, |_| Ok(())).await?.is_some())
    }
}
