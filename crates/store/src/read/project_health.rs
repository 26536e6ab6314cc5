//! How far a new project's setup is, and the health of all projects for the operator.
//!
//! As in `change_token`, the newest rows of a project are selected by a range of its id, so that its own index serves
//! them.

use domain::{id::ProjectId, project::Project, time::Timestamp};

use super::{Listed, Window, projects};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// The newest events among which a delivered one is searched.
const DELIVERED_AMONG: i64 = 1_000;
/// The condition of a project `p` that waits for an approval.
const WAITING: &str = "p.environment = 'production' AND p.approved = 0";

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
        let parameters = [Value::stored(project_id), DELIVERED_AMONG.into()];
        Ok(self.many(Query::new(sql, parameters), setup_progress).await?.pop().unwrap_or_default())
    }

    /// The health of a project.
    pub async fn project_health(&self, id: ProjectId) -> Result<Option<ProjectHealth>, StoreError> {
        let sql = format!("{} WHERE p.id = $1", health_columns());
        Ok(self.many(Query::new(sql, [Value::stored(id)]), health).await?.pop())
    }

    /// One page of the health of all projects, or of those that wait for an approval. Those that wait come first, then
    /// the newest. Only the projects of the page are looked at more closely.
    pub async fn project_healths(
        &self,
        only_waiting: bool,
        window: Window,
    ) -> Result<Listed<ProjectHealth>, StoreError> {
        let condition = if only_waiting { format!("WHERE {WAITING}") } else { String::new() };
        let order = format!("CASE WHEN {WAITING} THEN 0 ELSE 1 END, p.id DESC");
        let sql = format!(
            "{} WHERE p.id IN (SELECT p.id FROM projects p {condition} ORDER BY {order} LIMIT $1 OFFSET $2) \
             ORDER BY {order}",
            health_columns()
        );
        let items = self.many(Query::new(sql, [window.limit.into(), window.offset.into()]), health).await?;
        Ok(Listed { items, total: self.count_projects(only_waiting).await? })
    }

    /// How many projects there are, or how many wait for an approval.
    pub async fn count_projects(&self, only_waiting: bool) -> Result<i64, StoreError> {
        let condition = if only_waiting { format!("WHERE {WAITING}") } else { String::new() };
        let sql = format!("SELECT COUNT(*) FROM projects p {condition}");
        Ok(self.many(Query::new(sql, []), |columns| columns.integer()).await?.into_iter().sum())
    }
}

/// Selects what [`health`] reads.
fn health_columns() -> String {
    format!(
        "SELECT {}, (SELECT COUNT(*) FROM members m WHERE m.project_id = p.id), \
         (SELECT COUNT(*) FROM receipts r WHERE r.project_id = p.id AND r.outcome = 'unapplied' \
         AND r.decision IS NULL), \
         (SELECT COUNT(*) FROM deliveries d WHERE d.project_id = p.id AND d.state <> 'delivered' \
         AND d.attempts > d.resent_after), \
         (SELECT y.created_at FROM payments y WHERE y.project_id >= p.id AND y.project_id <= p.id \
         ORDER BY y.project_id DESC, y.id DESC LIMIT 1) \
         FROM projects p",
        projects::COLUMNS
    )
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
