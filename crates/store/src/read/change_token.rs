//! What pages ask for often: whether anything has changed, how far a newcomer is, and how the projects do.
//!
//! The newest rows of a project are asked for by a range that only its own index can serve in order. By an equality PostgreSQL
//! may prefer to walk all projects' rows from the newest on, and so through everything that busier ones have.

use domain::{id::ProjectId, project::Project, time::Timestamp};

use super::projects;
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// The newest payments, links and events whose every change shows in a pulse.
const NEWEST: i64 = 50;
/// The newest events among which one that was delivered is looked for.
const DELIVERED_AMONG: i64 = 1_000;

/// What of the first steps was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Firsts {
    pub key: bool,
    pub link: bool,
    pub paid: bool,
    pub delivered: bool,
}

/// How a project does, for whoever runs the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectHealth {
    pub project: Project,
    pub members: i64,
    /// Receipts that wait for somebody to decide.
    pub undecided: i64,
    /// Deliveries that failed and are not delivered.
    pub failing: i64,
    pub last_payment_at: Option<Timestamp>,
}

impl Store {
    /// A text that is another one once anything has changed that a page of the project shows. Versions and counts of attempts
    /// only ever grow, so their sums tell of every change among the newest; each part is found by an index.
    pub async fn pulse(&self, project_id: ProjectId) -> Result<String, StoreError> {
        let sql = "WITH newest_payments AS (SELECT id, version FROM payments \
                   WHERE project_id >= $1 AND project_id <= $1 ORDER BY project_id DESC, id DESC LIMIT $2), \
                   newest_links AS (SELECT id, version FROM links \
                   WHERE project_id >= $1 AND project_id <= $1 ORDER BY project_id DESC, id DESC LIMIT $2), \
                   newest_events AS (SELECT id FROM events \
                   WHERE project_id >= $1 AND project_id <= $1 ORDER BY project_id DESC, id DESC LIMIT $2), \
                   told AS (SELECT d.attempts, d.resent_after FROM newest_events n JOIN deliveries d ON d.event_id = n.id) \
                   SELECT (SELECT MAX(id) FROM newest_payments), (SELECT MAX(id) FROM newest_links), \
                   (SELECT MAX(id) FROM newest_events), \
                   (SELECT id FROM audit WHERE project_id >= $1 AND project_id <= $1 \
                   ORDER BY project_id DESC, id DESC LIMIT 1), \
                   (SELECT version FROM projects WHERE id = $1), \
                   (SELECT CAST(SUM(version) AS BIGINT) FROM newest_payments), \
                   (SELECT CAST(SUM(version) AS BIGINT) FROM newest_links), \
                   (SELECT COUNT(*) FROM newest_payments n JOIN views v ON v.payment_id = n.id), \
                   (SELECT COUNT(*) FROM told), \
                   (SELECT CAST(SUM(attempts) AS BIGINT) FROM told), \
                   (SELECT CAST(SUM(resent_after) AS BIGINT) FROM told), \
                   (SELECT COUNT(*) FROM api_keys WHERE project_id = $1 AND revoked_at IS NULL), \
                   (SELECT COUNT(*) FROM receipts WHERE project_id = $1 AND outcome = 'unapplied' AND decision IS NULL), \
                   (SELECT MAX(at) FROM entries WHERE project_id = $1 AND account = 'available'), \
                   (SELECT MAX(at) FROM entries WHERE project_id = $1 AND account = 'clearing')";
        let parts = self.many(Query::new(sql, [Value::shown(project_id), NEWEST.into()]), parts).await?;
        Ok(parts.into_iter().next().unwrap_or_default())
    }

    /// Which of the first steps a project has done. Costs the same however much has happened since.
    pub async fn has_first(&self, project_id: ProjectId) -> Result<Firsts, StoreError> {
        // Only what was paid leaves anything in these two accounts.
        let sql = "SELECT CAST(CASE WHEN EXISTS (SELECT 1 FROM api_keys WHERE project_id = $1) \
                   THEN 1 ELSE 0 END AS BIGINT), \
                   CAST(CASE WHEN EXISTS (SELECT 1 FROM links WHERE project_id = $1) THEN 1 ELSE 0 END AS BIGINT), \
                   CAST(CASE WHEN EXISTS (SELECT 1 FROM entries WHERE project_id = $1 AND account = 'pending') \
                   OR EXISTS (SELECT 1 FROM entries WHERE project_id = $1 AND account = 'fees') \
                   THEN 1 ELSE 0 END AS BIGINT), \
                   CAST(CASE WHEN EXISTS (SELECT 1 FROM (SELECT id FROM events \
                   WHERE project_id >= $1 AND project_id <= $1 ORDER BY project_id DESC, id DESC LIMIT $2) e \
                   JOIN deliveries d ON d.event_id = e.id WHERE d.state = 'delivered') \
                   THEN 1 ELSE 0 END AS BIGINT)";
        let parameters = [Value::shown(project_id), DELIVERED_AMONG.into()];
        Ok(self.many(Query::new(sql, parameters), firsts).await?.pop().unwrap_or_default())
    }

    /// How every project does, in the order in which they were made.
    pub async fn project_health(&self) -> Result<Vec<ProjectHealth>, StoreError> {
        let sql = format!(
            "SELECT {}, (SELECT COUNT(*) FROM members m WHERE m.project_id = p.id), \
             (SELECT COUNT(*) FROM receipts r WHERE r.project_id = p.id AND r.outcome = 'unapplied' \
             AND r.decision IS NULL), \
             (SELECT COUNT(*) FROM deliveries d WHERE d.project_id = p.id AND d.state <> 'delivered' \
             AND d.attempts > d.resent_after), \
             (SELECT y.created_at FROM payments y WHERE y.project_id >= p.id AND y.project_id <= p.id \
             ORDER BY y.project_id DESC, y.id DESC LIMIT 1) \
             FROM projects p ORDER BY p.id",
            projects::COLUMNS
        );
        self.many(Query::new(sql, []), health).await
    }
}

/// Four texts, and numbers after them.
fn parts(columns: &mut Columns<'_>) -> Result<String, StoreError> {
    const TEXTS: usize = 4;
    const NUMBERS: usize = 11;
    let mut parts = Vec::with_capacity(TEXTS + NUMBERS);
    for _ in 0..TEXTS {
        parts.push(columns.optional_text()?.unwrap_or_default());
    }
    for _ in 0..NUMBERS {
        parts.push(columns.optional_integer()?.unwrap_or_default().to_string());
    }
    Ok(parts.join("."))
}

fn firsts(columns: &mut Columns<'_>) -> Result<Firsts, StoreError> {
    Ok(Firsts { key: columns.truth()?, link: columns.truth()?, paid: columns.truth()?, delivered: columns.truth()? })
}

fn health(columns: &mut Columns<'_>) -> Result<ProjectHealth, StoreError> {
    Ok(ProjectHealth {
        project: projects::project(columns)?,
        members: columns.integer()?,
        undecided: columns.integer()?,
        failing: columns.integer()?,
        last_payment_at: columns.optional_timestamp()?,
    })
}
