//! Deliveries of events, their attempts, and where webhooks go.

use std::{sync::LazyLock, time::Duration};

use domain::{
    delivery::{Attempt, AttemptOutcome, Delivery, DeliveryState, Failure, FailureClass},
    event::Event,
    id::{EventId, ProjectId, first_id_at, kind},
    payment::Payment,
    project::Environment,
    time::Timestamp,
};

use super::{
    events,
    payments::{self, checkout_columns, payment_columns},
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

/// An event, and the payment that it is about, as it is now; none for events about API keys.
pub struct EventToSend {
    pub event: Event,
    pub payment: Option<Payment>,
}

static EVENT_TO_SEND: LazyLock<String> = LazyLock::new(|| {
    let of_event = events::COLUMNS.split(", ").map(|column| format!("e.{column}")).collect::<Vec<_>>().join(", ");
    let (of_payment, of_checkout) = (payment_columns!(), checkout_columns!());
    format!(
        "SELECT {of_event}, {of_payment}, {of_checkout} FROM events e LEFT JOIN payments p ON p.id = e.subject \
         LEFT JOIN checkouts c ON c.payment_id = p.id WHERE e.project_id = $1 AND e.id = $2"
    )
});

impl Store {
    /// Due deliveries: urgent ones first, then longest due first, but at most `per_project` urgent ones and as many
    /// others of each project. So a slow receiver with many due deliveries crowds out neither other projects nor its
    /// own project's urgent deliveries.
    pub async fn due_deliveries(&self, now: Timestamp, per_project: usize) -> Result<Vec<Delivery>, StoreError> {
        self.due(Query::new(due_deliveries_sql(self.dialect(), per_project), [now.into()]), delivery).await
    }

    /// The same for these projects only.
    pub async fn due_deliveries_of(
        &self,
        projects: &[ProjectId],
        now: Timestamp,
        per_project: usize,
    ) -> Result<Vec<Delivery>, StoreError> {
        let waiting = projects.iter().map(ProjectId::to_string).collect::<Vec<_>>().join(",");
        let sql = due_deliveries_of_sql(self.dialect(), per_project);
        self.due(Query::new(sql, [waiting.into(), now.into()]), delivery).await
    }

    /// These events of a project with what is told about them, in the same order; none where there is no such event.
    pub async fn events_to_send(
        &self,
        project_id: ProjectId,
        ids: &[EventId],
    ) -> Vec<Result<Option<EventToSend>, StoreError>> {
        let project_id = Value::stored(project_id);
        let query = |id: &EventId| Query::new(EVENT_TO_SEND.as_str(), [project_id.clone(), Value::stored(id)]);
        self.each(ids.iter().map(query).collect(), event_to_send).await
    }

    pub async fn delivery(&self, event_id: EventId) -> Result<Option<Delivery>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM deliveries d WHERE d.event_id = $1");
        self.one(Query::new(sql, [Value::stored(event_id)]), delivery).await
    }

    /// A delivery's attempts, oldest first.
    pub async fn attempts(&self, event_id: EventId) -> Result<Vec<Attempt>, StoreError> {
        let sql =
            "SELECT at, latency, status, answer, failure, detail FROM attempts WHERE event_id = $1 ORDER BY number";
        self.many(Query::new(sql, [Value::stored(event_id)]), attempt).await
    }

    /// How many deliveries of events from `since` on have failed and are not delivered.
    pub async fn failed_deliveries(&self, project_id: ProjectId, since: Timestamp) -> Result<i64, StoreError> {
        let sql = "SELECT COUNT(*) FROM deliveries WHERE project_id = $1 AND event_id >= $2 AND state <> 'delivered' \
                   AND attempts > resent_after";
        let parameters = [Value::stored(project_id), Value::stored(first_id_at::<kind::Event>(since))];
        Ok(self.many(Query::new(sql, parameters), |columns| columns.integer()).await?.into_iter().sum())
    }

    pub async fn webhook_target(&self, id: ProjectId) -> Result<Option<WebhookTarget>, StoreError> {
        let sql = "SELECT environment, webhook_url, webhook_secret, previous_webhook_secret, webhook_secret_rotated_at \
                   FROM projects WHERE id = $1";
        self.one(Query::new(sql, [Value::stored(id)]), target).await
    }
}

/// The limit is part of the text: SQLite prepares a statement anew each time that a limit is bound to it, and this one is
/// run after nearly every commit.
fn due_deliveries_sql(dialect: Dialect, per_project: usize) -> String {
    let waiting = "WITH RECURSIVE waiting (project_id) AS (SELECT MIN(project_id) FROM deliveries \
        WHERE state = 'pending' UNION ALL SELECT (SELECT MIN(n.project_id) FROM deliveries n WHERE n.state = 'pending' \
        AND n.project_id > waiting.project_id) FROM waiting WHERE waiting.project_id IS NOT NULL)";
    format!("{waiting} {}", due_of_waiting(dialect, per_project, "$1"))
}

fn due_deliveries_of_sql(dialect: Dialect, per_project: usize) -> String {
    let projects = match dialect {
        Dialect::Sqlite => {
            "SELECT n.short FROM json_each('[\"' || replace($1, ',', '\",\"') || '\"]') wanted \
             CROSS JOIN project_numbers n ON n.id = wanted.value"
        }
        Dialect::Postgres => "SELECT UNNEST(string_to_array($1, ','))",
    };
    format!("WITH waiting (project_id) AS ({projects}) {}", due_of_waiting(dialect, per_project, "$2"))
}

/// Reads the due deliveries of the projects in `waiting`.
fn due_of_waiting(dialect: Dialect, per_project: usize, now: &str) -> String {
    let most = i64::try_from(per_project).unwrap_or(i64::MAX);
    let (rows, end) = match dialect {
        Dialect::Sqlite => ("JOIN deliveries d ON d.event_id IN (SELECT t.event_id", ""),
        Dialect::Postgres => ("CROSS JOIN LATERAL (SELECT *", " d"),
    };
    format!(
        "SELECT {COLUMNS} FROM waiting CROSS JOIN (SELECT 1 AS urgent UNION ALL SELECT 0) kinds \
         {rows} FROM deliveries t WHERE t.state = 'pending' AND t.project_id = waiting.project_id \
         AND t.urgent = kinds.urgent AND t.due_at <= {now} ORDER BY t.due_at LIMIT {most}){end} \
         ORDER BY d.urgent DESC, d.due_at"
    )
}

/// How many columns a list of them names.
const fn width(columns: &str) -> usize {
    let (bytes, mut at, mut width) = (columns.as_bytes(), 0, 1);
    while at < bytes.len() {
        if bytes[at] == b',' {
            width += 1;
        }
        at += 1;
    }
    width
}

fn event_to_send(columns: &mut Columns<'_>) -> Result<EventToSend, StoreError> {
    let mut payment = columns.ahead(width(events::COLUMNS));
    let mut checkout = payment.ahead(width(payment_columns!()));
    let event = events::event(columns)?;
    let payment = match payment.ahead(0).optional_text()? {
        None => None,
        Some(_) => {
            let mut payment = payments::payment(&mut payment)?;
            // Only payments of links have a checkout.
            let of_link = payment.terms.link_id.map(|_| payments::checkout(&mut checkout)).transpose()?;
            payment.terms.checkout = of_link.flatten();
            Some(payment)
        }
    };
    Ok(EventToSend { event, payment })
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
        let mut of_some = connection.prepare(&due_deliveries_of_sql(Dialect::Sqlite, 30)).unwrap();
        for now in 0..10_i64 {
            assert!(!statement.exists([now]).unwrap());
            assert!(!of_some.exists(("prj_1,prj_2", now)).unwrap());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
        assert_eq!(of_some.get_status(StatementStatus::RePrepare), 0);
    }
}
