//! The change token of a project: pages poll it to find out whether they must be drawn again.
//!
//! The newest rows of a project are selected by a range of its id (`>=` and `<=`), which only the project's own index
//! can serve in order. With an equality, PostgreSQL may prefer to read the rows of all projects from the newest on.

use domain::id::ProjectId;

use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// The newest payments, links, refunds and events of which every change shows in the token.
const NEWEST: i64 = 50;

impl Store {
    /// A text that changes whenever something changes that a page of the project shows. Versions and counts of attempts
    /// only ever grow, so their sums change with every change among the newest rows. An index serves each part of the
    /// query.
    pub async fn change_token(&self, project_id: ProjectId) -> Result<String, StoreError> {
        let sql = "WITH newest_payments AS (SELECT id, version FROM payments \
                   WHERE project_id >= $1 AND project_id <= $1 ORDER BY project_id DESC, id DESC LIMIT $2), \
                   newest_links AS (SELECT id, version FROM links \
                   WHERE project_id >= $1 AND project_id <= $1 ORDER BY project_id DESC, id DESC LIMIT $2), \
                   newest_events AS (SELECT id FROM events \
                   WHERE project_id >= $1 AND project_id <= $1 ORDER BY project_id DESC, id DESC LIMIT $2), \
                   newest_refunds AS (SELECT id, version FROM refunds \
                   WHERE project_id >= $1 AND project_id <= $1 ORDER BY project_id DESC, id DESC LIMIT $2), \
                   tried AS (SELECT a.asked, a.updated_at FROM newest_refunds n JOIN refund_attempts a ON a.refund_id = n.id), \
                   sent AS (SELECT d.attempts, d.resent_after FROM newest_events n JOIN deliveries d ON d.event_id = n.id) \
                   SELECT (SELECT MAX(id) FROM newest_payments), (SELECT MAX(id) FROM newest_links), \
                   (SELECT MAX(id) FROM newest_events), (SELECT MAX(id) FROM newest_refunds), \
                   (SELECT id FROM audit WHERE project_id >= $1 AND project_id <= $1 \
                   ORDER BY project_id DESC, id DESC LIMIT 1), \
                   (SELECT version FROM projects WHERE id = $1), \
                   (SELECT CAST(SUM(version) AS BIGINT) FROM newest_payments), \
                   (SELECT CAST(SUM(version) AS BIGINT) FROM newest_links), \
                   (SELECT CAST(SUM(version) AS BIGINT) FROM newest_refunds), \
                   (SELECT COUNT(*) FROM tried), (SELECT CAST(SUM(asked) AS BIGINT) FROM tried), \
                   (SELECT MAX(updated_at) FROM tried), \
                   (SELECT COUNT(*) FROM newest_payments n JOIN views v ON v.payment_id = n.id), \
                   (SELECT COUNT(*) FROM sent), \
                   (SELECT CAST(SUM(attempts) AS BIGINT) FROM sent), \
                   (SELECT CAST(SUM(resent_after) AS BIGINT) FROM sent), \
                   (SELECT COUNT(*) FROM api_keys WHERE project_id = $1 AND revoked_at IS NULL), \
                   (SELECT COUNT(*) FROM receipts WHERE project_id = $1 AND outcome = 'unapplied' AND decision IS NULL), \
                   (SELECT MAX(at) FROM entries WHERE project_id = $1 AND account = 'available'), \
                   (SELECT MAX(at) FROM entries WHERE project_id = $1 AND account = 'clearing'), \
                   (SELECT MAX(at) FROM entries WHERE project_id = $1 AND account = 'refunding')";
        let parts = self.many(Query::new(sql, [Value::stored(project_id), NEWEST.into()]), parts).await?;
        Ok(parts.into_iter().next().unwrap_or_default())
    }
}

/// Reads five texts and then the numbers.
fn parts(columns: &mut Columns<'_>) -> Result<String, StoreError> {
    const TEXTS: usize = 5;
    const NUMBERS: usize = 16;
    let mut parts = Vec::with_capacity(TEXTS + NUMBERS);
    for _ in 0..TEXTS {
        parts.push(columns.optional_text()?.unwrap_or_default());
    }
    for _ in 0..NUMBERS {
        parts.push(columns.optional_integer()?.unwrap_or_default().to_string());
    }
    Ok(parts.join("."))
}
