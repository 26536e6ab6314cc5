//! The event log: events with the state of their delivery.

use std::time::Duration;

use domain::{
    delivery::{Delivery, DeliveryState, FailureClass},
    event::{Event, EventKind},
    id::{ProjectId, first_id_at, kind},
    time::Timestamp,
};

use super::{Conditions, List, Window, deliveries, events};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// The event comes last, since the number of columns that it reads depends on its kind.
const COLUMNS: &str = "a.latency, a.status, a.failure, \
    d.event_id, d.event_id, d.project_id, d.state, d.due_at, d.attempts, d.resent_after, d.urgent, \
    e.id, e.project_id, e.kind, e.subject, e.created_at, e.paid_at, e.success_word, e.receipt_id, e.receipt_amount, \
    e.receipt_reason, e.receipt_paid_at, e.payment_state, e.payment_state_at, e.payment_expires_at";
const DELIVERY_COLUMNS: usize = 7;

/// Events of the log that are counted; beyond that, the log only says that there are more.
pub const EVENTS_COUNTED: i64 = 10_000;
/// Failing deliveries that are counted.
pub const FAILING_COUNTED: i64 = 1_000;
/// Reports about one payment that are searched for events; banks send a few.
const NOTIFICATIONS_MOST: i64 = 100;
/// An event's id has the time of its cause. This allows for a clock that is read twice in between.
const AROUND: Duration = Duration::from_secs(1);

/// Which events of a project to list; all conditions must hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventLogFilter {
    pub deliveries: DeliveryFilter,
    pub kind: Option<EventKind>,
}

/// Events with which deliveries to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeliveryFilter {
    /// Any, or none.
    #[default]
    All,
    /// Those that have failed so far, whether or not they are retried.
    Failing,
    /// Those that are not retried any more.
    Exhausted,
}

/// A part of the event log.
#[derive(Debug)]
pub struct EventLog {
    pub items: Vec<LoggedEvent>,
    /// How many events there are; none if they are more than [`EVENTS_COUNTED`].
    pub total: Option<i64>,
}

/// An event in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedEvent {
    pub event: Event,
    /// None where the project had no webhook URL.
    pub delivery: Option<Delivery>,
    /// None before the first attempt.
    pub last_attempt: Option<LastAttempt>,
}

/// What the log says of an event's latest attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastAttempt {
    pub latency: Duration,
    /// The answer's HTTP status, when one came.
    pub status: Option<u16>,
    /// None when it succeeded.
    pub failure: Option<FailureClass>,
}

/// Deliveries of a project that have failed and are not delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailingDeliveries {
    /// Those that are not retried any more.
    pub exhausted: Option<FailingSince>,
    pub retrying: Option<FailingSince>,
}

/// How many deliveries fail, at most [`FAILING_COUNTED`], and when the oldest of their events happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailingSince {
    pub deliveries: i64,
    pub since: Timestamp,
}

impl Store {
    /// A project's events, newest first, each with its delivery if it has one.
    pub async fn event_log(
        &self,
        project_id: ProjectId,
        filter: EventLogFilter,
        window: Window,
    ) -> Result<EventLog, StoreError> {
        let failing = "d.project_id = ? AND d.state <> 'delivered' AND d.attempts > d.resent_after";
        let mut conditions = Conditions::new();
        let (table, id, order) = match (filter.deliveries, filter.kind) {
            (DeliveryFilter::All, _) => ("events e", "e.id", "e.id DESC"),
            (_, Some(_)) => ("deliveries d JOIN events e ON e.id = d.event_id", "d.event_id", "d.event_id DESC"),
            (_, None) => ("deliveries d", "d.event_id", "d.event_id DESC"),
        };
        match filter.deliveries {
            DeliveryFilter::All => conditions.and("e.project_id = ?", Value::stored(project_id)),
            DeliveryFilter::Failing => conditions.and(failing, Value::stored(project_id)),
            DeliveryFilter::Exhausted => {
                conditions.and(&format!("{failing} AND d.state = 'exhausted'"), Value::stored(project_id));
            }
        }
        if let Some(kind) = filter.kind {
            conditions.and("e.kind = ?", kind.word());
        }
        let Conditions { sql, parameters } = &conditions;
        let count = format!("SELECT COUNT(*) FROM (SELECT 1 FROM {table} {sql} LIMIT {}) counted", EVENTS_COUNTED + 1);
        let counted = self.many(Query::new(count, parameters.clone()), |columns| columns.integer()).await?;
        let from = "events e LEFT JOIN deliveries d ON d.event_id = e.id \
                    LEFT JOIN attempts a ON a.event_id = d.event_id AND a.number = d.attempts";
        let list = List { columns: COLUMNS, from, table, id, order, decode: logged };
        let items = self.page(&list, conditions, window).await?;
        Ok(EventLog { items, total: Some(counted.into_iter().sum()).filter(|total| *total <= EVENTS_COUNTED) })
    }

    /// Deliveries that have failed and are not delivered, the oldest ones if they are very many. Retries end after three
    /// days, so those that are not retried any more are among the oldest.
    pub async fn failing_deliveries(&self, project_id: ProjectId) -> Result<FailingDeliveries, StoreError> {
        let sql = format!(
            "SELECT f.state, f.failing, e.created_at FROM (SELECT state, COUNT(*) AS failing, MIN(event_id) AS oldest \
             FROM (SELECT event_id, state FROM deliveries WHERE project_id = $1 AND state <> 'delivered' \
             AND attempts > resent_after ORDER BY event_id LIMIT {FAILING_COUNTED}) d GROUP BY state) f \
             JOIN events e ON e.id = f.oldest"
        );
        let failing = |columns: &mut Columns<'_>| {
            let state = columns.text()?;
            Ok((state, FailingSince { deliveries: columns.integer()?, since: columns.timestamp()? }))
        };
        let found = self.many(Query::new(sql, [Value::stored(project_id)]), failing).await?;
        let of = |is_exhausted: bool| {
            let exhausted = DeliveryState::Exhausted.word();
            found.iter().find(|(state, _)| (state == exhausted) == is_exhausted).map(|(_, failing)| *failing)
        };
        Ok(FailingDeliveries { exhausted: of(true), retrying: of(false) })
    }

    /// The events of one payment or key, oldest first. An index by subject would slow down every event. It is not
    /// needed: each event has the same time as the receipt or revocation that caused it, and ids sort by time.
    pub async fn events_about(&self, project_id: ProjectId, subject: &str) -> Result<Vec<Event>, StoreError> {
        let sql = "SELECT received_at, decided_at FROM receipts WHERE payment_id = $1 AND project_id = $2 \
                   UNION ALL SELECT decided_at, NULL FROM receipts WHERE decided_payment_id = $1 AND project_id = $2 \
                   UNION ALL SELECT received_at, NULL FROM notices WHERE payment_id = $1 AND project_id = $2 \
                   UNION ALL SELECT revoked_at, NULL FROM api_keys WHERE id = $1 AND project_id = $2 AND revoked_at IS NOT NULL \
                   ORDER BY 1 LIMIT $3";
        let parameters = [Value::named(subject), Value::stored(project_id), NOTIFICATIONS_MOST.into()];
        let instants = |columns: &mut Columns<'_>| Ok([columns.optional_timestamp()?, columns.optional_timestamp()?]);
        let instants = self.many(Query::new(sql, parameters), instants).await?;
        let mut found = Vec::new();
        for (from, until) in ranges(instants.into_iter().flatten().flatten()) {
            let sql = format!(
                "SELECT {} FROM events WHERE project_id = $1 AND id >= $2 AND id < $3 AND subject = $4 ORDER BY id",
                events::COLUMNS
            );
            let ids = [from, until].map(|instant| Value::stored(first_id_at::<kind::Event>(instant)));
            let [from, until] = ids;
            let parameters = [Value::stored(project_id), from, until, Value::named(subject)];
            found.extend(self.many(Query::new(sql, parameters), events::event).await?);
        }
        // Nothing but the event says when an expiry was written. Extra events are few, so they have an index.
        let sql = format!(
            "SELECT {} FROM events WHERE subject = $1 AND project_id = $2 \
             AND kind IN ('payment.expired', 'payment.cancelled', 'payment.held')",
            events::COLUMNS
        );
        let parameters = [Value::named(subject), Value::stored(project_id)];
        found.extend(self.many(Query::new(sql, parameters), events::event).await?);
        found.sort_by_key(|event| event.id.to_string());
        found.dedup();
        Ok(found)
    }
}

/// The time ranges around the instants, in order; ranges that overlap are merged.
fn ranges(instants: impl Iterator<Item = Timestamp>) -> Vec<(Timestamp, Timestamp)> {
    let mut around: Vec<_> = instants.map(|at| (at.minus(AROUND), at.plus(AROUND))).collect();
    around.sort_unstable();
    let mut ranges: Vec<(Timestamp, Timestamp)> = Vec::new();
    for (from, until) in around {
        match ranges.last_mut() {
            Some(last) if from <= last.1 => last.1 = until,
            _ => ranges.push((from, until)),
        }
    }
    ranges
}

fn logged(columns: &mut Columns<'_>) -> Result<LoggedEvent, StoreError> {
    let latency = columns.optional_integer()?;
    let status = columns.optional_integer()?.and_then(|status| status.try_into().ok());
    // A newer version may have stored a class that this one does not know.
    let failure = columns.optional_text()?.map(|class| FailureClass::parse(&class).unwrap_or(FailureClass::Other));
    let last_attempt =
        latency.map(|millis| LastAttempt { latency: Duration::from_millis(millis.unsigned_abs()), status, failure });
    let delivery = match columns.optional_text()? {
        Some(_) => Some(deliveries::delivery(columns)?),
        None => {
            columns.skip(DELIVERY_COLUMNS);
            None
        }
    };
    Ok(LoggedEvent { event: events::event(columns)?, delivery, last_attempt })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_around_instants_close_to_each_other_are_merged() {
        let at = Timestamp::from_millis;
        let found = ranges([50_000, 10_000, 10_500, 12_000].into_iter().map(at));
        assert_eq!(found, [(at(9_000), at(13_000)), (at(49_000), at(51_000))]);
    }
}
