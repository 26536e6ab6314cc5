//! Payments that one statement expires or cancels, and the extra events that tell of it. The events are written by SQL too, for
//! those of the payments whose project asks for them at that moment.

use domain::{
    event::EventKind,
    id::{first_id_at, kind},
    time::Timestamp,
};

use super::statement::{Dialect, Statement};
use crate::{error::Guard, value::Value};

/// The characters of an event's id up to its time: `evt_` and ten more. The rest is that of the payment's id, which no other
/// payment has; and no payment both expires and is cancelled.
const STEM_CHARACTERS: usize = 14;

/// The statements of a move of payments `m`. `$1` is its time.
pub(super) struct Move {
    kind: EventKind,
    events: String,
    deliveries: String,
    moved: String,
    at_once: String,
}

impl Move {
    /// `set` and `which` are parts of an UPDATE with the parameters from `$1` to `$n`, where `n` is `given`.
    pub(super) fn new(kind: EventKind, set: &str, which: &str, given: usize) -> Move {
        let (stem, word) = (given + 1, given + 2);
        let told = |into: &str, join: &str, more: &str| {
            format!(
                "INSERT INTO {into} FROM moved m CROSS JOIN extra_events x{join} \
                 WHERE x.project_id = m.project_id AND x.kind = ${word}{more}"
            )
        };
        let id = |text: &str| format!("CAST(${stem} AS TEXT) || substr({text}, {})", STEM_CHARACTERS + 1);
        let events = |id: &str| {
            told(
                &format!(
                    "events (id, project_id, subject, created_at, kind) \
                     SELECT {id}, m.project_id, m.id, CAST($1 AS BIGINT), x.kind"
                ),
                "",
                "",
            )
        };
        let deliveries = |id: &str| {
            told(
                &format!(
                    "deliveries (event_id, project_id, state, due_at, attempts, resent_after, urgent) \
                     SELECT {id}, m.project_id, 'pending', CAST($1 AS BIGINT), 0, 0, 0"
                ),
                " CROSS JOIN projects p",
                " AND p.id = m.project_id AND p.webhook_url IS NOT NULL",
            )
        };
        let (on_sqlite, on_postgres) = (id("payment_text(m.id)"), id("m.id"));
        let moving = format!("WITH moved AS (SELECT m.id, m.project_id FROM payments m WHERE {which})");
        let moved = format!("UPDATE payments AS m SET {set}, version = version + 1 WHERE {which}");
        Move {
            kind,
            at_once: format!(
                "WITH moved AS ({moved} RETURNING m.id, m.project_id), told AS ({} RETURNING 1), \
                 sent AS ({} RETURNING 1) SELECT 1 FROM moved",
                events(&on_postgres),
                deliveries(&on_postgres)
            ),
            events: format!("{moving} {}", events(&on_sqlite)),
            deliveries: format!("{moving} {}", deliveries(&on_sqlite)),
            moved,
        }
    }

    /// PostgreSQL moves and tells with one statement, since another node may move the same payments at the same time. On SQLite
    /// the events come first, by the same condition as the move; nothing comes between.
    pub(super) fn plan(
        &'static self,
        statements: &mut Vec<Statement>,
        at: Timestamp,
        parameters: Vec<Value>,
        guard: Option<Guard>,
        dialect: Dialect,
    ) {
        let guarded = |statement: Statement| Statement { guard, ..statement };
        let stem: String = first_id_at::<kind::Event>(at).to_string().chars().take(STEM_CHARACTERS).collect();
        let given: Vec<Value> = std::iter::once(at.into()).chain(parameters).collect();
        let with_event = [given.clone(), vec![stem.into(), self.kind.word().into()]].concat();
        match dialect {
            Dialect::Sqlite => {
                statements.push(Statement::new(&self.events, with_event.clone()));
                statements.push(Statement::new(&self.deliveries, with_event));
                statements.push(guarded(Statement::new(&self.moved, given)));
            }
            Dialect::Postgres => statements.push(guarded(Statement::new(&self.at_once, with_event))),
        }
    }
}
