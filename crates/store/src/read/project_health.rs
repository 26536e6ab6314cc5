//! How far a new project's setup is, and the health of all projects for the operator.
//!
//! As in `change_token`, the newest rows of a project are selected by a range of its id, so that its own index serves
//! them.

use domain::{id::ProjectId, project::Project, time::Timestamp};

use super::projects;
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// The newest events among which a delivered one is searched.
const DELIVERED_AMONG: i64 = 1_000;

/// Which steps of the setup a project has done: created a key, created a link, received a payment, received a webhook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetupProgress {
    pub key: bool,
    pub link: bool,
    pub paid: bool,
    pub delivered: bool,
}

/// The state of a project, for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectHealth {
    pub project: Project,
    pub members: i64,
    /// Receipts that nobody has decided about.
    pub undecided: i64,
    /// Deliveries that failed and are not delivered.
    pub failing: i64,
    pub last_payment_at: Option<Timestamp>,
}

impl Store {
    /// Which steps of the setup a project has done. The cost does not grow with the number of its payments.
    pub async fn setup_progress(&self, project_id: ProjectId) -> Result<SetupProgress, StoreError> {
        // Only paid payments post to the accounts `pending` and `fees`.
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
        Ok(self.many(Query::new(sql, parameters), setup_progress).await?.pop().unwrap_or_default())
    }

    /// The health of every project, oldest project first.
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

fn setup_progress(columns: &mut Columns<'_>) -> Result<SetupProgress, StoreError> {
    Ok(SetupProgress {
        key: columns.truth()?,
        link: columns.truth()?,
        paid: columns.truth()?,
        delivered: columns.truth()?,
    })
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
