//! Deliveries of events, their attempts, and where webhooks go.

use std::time::Duration;

use domain::{
    delivery::{Attempt, AttemptOutcome, Delivery, DeliveryState, Failure, FailureClass},
    id::{EventId, ProjectId, first_id_at, kind},
    project::Environment,
    time::Timestamp,
};

use crate::{
    Store,
    error::StoreError,
    plan::Dialect,
    value::{Columns, Query, Value},
};

const COLUMNS: &str = "d.event_id, d.project_id, d.state, d.due_at, d.attempts, d.resent_after, d.urgent";

/// A project's webhook URL and secrets.
pub struct WebhookTarget {
    pub environment: Environment,
    pub url: Option<String>,
    pub secrets: SealedSecrets,
}

/// A project's encrypted webhook secrets.
pub struct SealedSecrets {
    pub current: Vec<u8>,
    /// The secret before the current one, and when it was replaced.
    pub previous: Option<(Vec<u8>, Timestamp)>,
}

impl Store {
    /// Due deliveries: urgent ones first, then longest due first, but at most `per_project` urgent ones and as many
    /// others of each project. So a slow receiver with many due deliveries crowds out neither other projects nor its
    /// own project's urgent deliveries.
    pub async fn due_deliveries(&self, now: Timestamp, per_project: usize) -> Result<Vec<Delivery>, StoreError> {
        self.due(Query::new(due_deliveries_sql(self.dialect(), per_project), [now.into()]), delivery).await
    }

    pub async fn delivery(&self, event_id: EventId) -> Result<Option<Delivery>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM deliveries d WHERE d.event_id = $1");
        self.one(Query::new(sql, [Value::shown(event_id)]), delivery).await
    }

    /// A delivery's attempts, oldest first.
    pub async fn attempts(&self, event_id: EventId) -> Result<Vec<Attempt>, StoreError> {
        let sql =
            "SELECT at, latency, status, answer, failure, detail FROM attempts WHERE event_id = $1 ORDER BY number";
        self.many(Query::new(sql, [Value::shown(event_id)]), attempt).await
    }

    /// How many deliveries of events from `since` on have failed and are not delivered.
    pub async fn failed_deliveries(&self, project_id: ProjectId, since: Timestamp) -> Result<i64, StoreError> {
        let sql = "SELECT COUNT(*) FROM deliveries WHERE project_id = $1 AND event_id >= $2 AND state <> 'delivered' \
                   AND attempts > resent_after";
        let parameters = [Value::shown(project_id), Value::shown(first_id_at::<kind::Event>(since))];
        Ok(self.many(Query::new(sql, parameters), |columns| columns.integer()).await?.into_iter().sum())
    }

    pub async fn webhook_target(&self, id: ProjectId) -> Result<Option<WebhookTarget>, StoreError> {
        let sql = "SELECT environment, webhook_url, webhook_secret, previous_webhook_secret, webhook_secret_rotated_at \
                   FROM projects WHERE id = $1";
        self.one(Query::new(sql, [Value::shown(id)]), target).await
    }
}

/// The limit is part of the text: SQLite prepares a statement anew each time that a limit is bound to it, and this one is
/// run after nearly every commit.
fn due_deliveries_sql(dialect: Dialect, per_project: usize) -> String {
    let most = i64::try_from(per_project).unwrap_or(i64::MAX);
    let (rows, end) = match dialect {
        Dialect::Sqlite => ("JOIN deliveries d ON d.event_id IN (SELECT t.event_id", ""),
        Dialect::Postgres => ("CROSS JOIN LATERAL (SELECT *", " d"),
    };
    format!(
        "WITH RECURSIVE waiting (project_id) AS (SELECT MIN(project_id) FROM deliveries WHERE state = 'pending' \
         UNION ALL SELECT (SELECT MIN(n.project_id) FROM deliveries n WHERE n.state = 'pending' \
         AND n.project_id > waiting.project_id) FROM waiting WHERE waiting.project_id IS NOT NULL) \
         SELECT {COLUMNS} FROM waiting CROSS JOIN (SELECT 1 AS urgent UNION ALL SELECT 0) kinds \
         {rows} FROM deliveries t WHERE t.state = 'pending' AND t.project_id = waiting.project_id \
         AND t.urgent = kinds.urgent AND t.due_at <= $1 ORDER BY t.due_at LIMIT {most}){end} \
         ORDER BY d.urgent DESC, d.due_at"
    )
}

pub(super) fn delivery(columns: &mut Columns<'_>) -> Result<Delivery, StoreError> {
    let (event_id, project_id) = (columns.parsed()?, columns.parsed()?);
    let (word, due_at) = (columns.text()?, columns.optional_timestamp()?);
    let state = DeliveryState::parse(&word, due_at)
        .ok_or_else(|| StoreError::unexpected(format!("a delivery is {word:?}, due at {due_at:?}")))?;
    let (attempts, resent_after) = (columns.count()?, columns.count()?);
    Ok(Delivery { event_id, project_id, state, attempts, resent_after, urgent: columns.truth()? })
}

fn attempt(columns: &mut Columns<'_>) -> Result<Attempt, StoreError> {
    let at = columns.timestamp()?;
    let latency = Duration::from_millis(columns.integer()?.unsigned_abs());
    let status = columns.optional_integer()?.and_then(|status| status.try_into().ok());
    let answer = columns.text()?;
    let (class, detail) = (columns.optional_text()?, columns.optional_text()?);
    let failure = class.zip(detail).map(|(class, detail)| Failure {
        // A newer version may have stored a class that this one does not know.
        class: FailureClass::parse(&class).unwrap_or(FailureClass::Other),
        detail,
    });
    Ok(Attempt { at, outcome: AttemptOutcome { latency, status, answer, failure } })
}

fn target(columns: &mut Columns<'_>) -> Result<WebhookTarget, StoreError> {
    let (environment, url) = (columns.word(Environment::parse)?, columns.optional_text()?);
    let (current, previous) = (columns.bytes()?, columns.optional_bytes()?);
    let secrets = SealedSecrets { current, previous: previous.zip(columns.optional_timestamp()?) };
    Ok(WebhookTarget { environment, url, secrets })
}

#[cfg(test)]
mod tests {
    use rusqlite::{Connection, StatementStatus};

    use super::*;

    /// Regression: a bound limit made SQLite prepare the statement anew after nearly every commit.
    #[tokio::test]
    async fn the_statement_for_due_deliveries_is_prepared_once_on_sqlite() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lunas.db");
        Store::migrate_sqlite(&path).await.unwrap();
        let connection = Connection::open(&path).unwrap();
        let mut statement = connection.prepare(&due_deliveries_sql(Dialect::Sqlite, 30)).unwrap();
        for now in 0..10_i64 {
            assert!(!statement.exists([now]).unwrap());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
