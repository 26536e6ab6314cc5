//! The event log: events with the state of their delivery.

use std::time::Duration;

use domain::{
    delivery::Delivery,
    event::{Event, EventKind},
    id::{ProjectId, first_id_at, kind},
    time::Timestamp,
};

use super::{Conditions, List, Listed, Window, deliveries, events};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// The delivery comes first, since the number of columns that an event reads depends on its kind.
const COLUMNS: &str = "d.event_id, d.event_id, d.project_id, d.state, d.due_at, d.attempts, d.resent_after, d.urgent, \
    e.id, e.project_id, e.kind, e.subject, e.created_at, e.paid_at, e.success_word";
const DELIVERY_COLUMNS: usize = 7;

/// Reports about one payment that are searched for events; banks send a few.
const NOTIFICATIONS_MOST: i64 = 100;
/// An event's id has the time of its cause. This allows for a clock that is read twice in between.
const AROUND: Duration = Duration::from_secs(1);

/// Which events of a project to list; all conditions must hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventLogFilter {
    /// Only events whose delivery has failed so far.
    pub failing_only: bool,
    pub kind: Option<EventKind>,
}

impl Store {
    /// A project's events, newest first, each with its delivery if it has one.
    pub async fn event_log(
        &self,
        project_id: ProjectId,
        filter: EventLogFilter,
        window: Window,
    ) -> Result<Listed<(Event, Option<Delivery>)>, StoreError> {
        let mut conditions = Conditions::new();
        let (table, id, order) = match filter.failing_only {
            true => {
                let failing = "d.project_id = ? AND d.state <> 'delivered' AND d.attempts > d.resent_after";
                conditions.and(failing, Value::shown(project_id));
                let table = match filter.kind {
                    Some(_) => "deliveries d JOIN events e ON e.id = d.event_id",
                    None => "deliveries d",
                };
                (table, "d.event_id", "d.event_id DESC")
            }
            false => {
                conditions.and("e.project_id = ?", Value::shown(project_id));
                ("events e", "e.id", "e.id DESC")
            }
        };
        if let Some(kind) = filter.kind {
            conditions.and("e.kind = ?", kind.word());
        }
        let from = "events e LEFT JOIN deliveries d ON d.event_id = e.id";
        let list = List { columns: COLUMNS, from, table, id, order, decode: logged };
        self.listed(list, conditions, window).await
    }

    /// How many deliveries have failed and are not delivered, and when the oldest of their events happened; none if
    /// there are no such deliveries.
    pub async fn failing_since(&self, project_id: ProjectId) -> Result<Option<(i64, Timestamp)>, StoreError> {
        let sql = "SELECT f.failing, e.created_at FROM (SELECT COUNT(*) AS failing, MIN(event_id) AS oldest \
                   FROM deliveries WHERE project_id = $1 AND state <> 'delivered' AND attempts > resent_after) f \
                   JOIN events e ON e.id = f.oldest";
        let found = |columns: &mut Columns<'_>| Ok((columns.integer()?, columns.timestamp()?));
        Ok(self.many(Query::new(sql, [Value::shown(project_id)]), found).await?.pop())
    }

    /// The events of one payment or key, oldest first. An index by subject would slow down every event. It is not
    /// needed: each event has the same time as the receipt or revocation that caused it, and ids sort by time.
    pub async fn events_about(&self, project_id: ProjectId, subject: &str) -> Result<Vec<Event>, StoreError> {
        let sql = "SELECT received_at, decided_at FROM receipts WHERE payment_id = $1 AND project_id = $2 \
                   UNION ALL SELECT received_at, NULL FROM notices WHERE payment_id = $1 AND project_id = $2 \
                   UNION ALL SELECT revoked_at, NULL FROM api_keys WHERE id = $1 AND project_id = $2 AND revoked_at IS NOT NULL \
                   ORDER BY 1 LIMIT $3";
        let parameters = [subject.to_owned().into(), Value::shown(project_id), NOTIFICATIONS_MOST.into()];
        let instants = |columns: &mut Columns<'_>| Ok([columns.optional_timestamp()?, columns.optional_timestamp()?]);
        let instants = self.many(Query::new(sql, parameters), instants).await?;
        let mut found = Vec::new();
        for (from, until) in ranges(instants.into_iter().flatten().flatten()) {
            let sql = format!(
                "SELECT {} FROM events WHERE project_id = $1 AND id >= $2 AND id < $3 AND subject = $4 ORDER BY id",
                events::COLUMNS
            );
            let ids = [from, until].map(|instant| Value::shown(first_id_at::<kind::Event>(instant)));
            let [from, until] = ids;
            let parameters = [Value::shown(project_id), from, until, subject.to_owned().into()];
            found.extend(self.many(Query::new(sql, parameters), events::event).await?);
        }
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

fn logged(columns: &mut Columns<'_>) -> Result<(Event, Option<Delivery>), StoreError> {
    let delivery = match columns.optional_text()? {
        Some(_) => Some(deliveries::delivery(columns)?),
        None => {
            columns.skip(DELIVERY_COLUMNS);
            None
        }
    };
    Ok((events::event(columns)?, delivery))
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
