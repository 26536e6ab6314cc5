//! Events and their delivery.

use domain::{
    delivery::{Attempt, Delivery, DeliveryState},
    event::{Event, HeldMoney, News},
    id::{EventId, ProjectId, first_id_at, kind},
    payment::State,
    time::Timestamp,
};

use super::statement::{Dialect, Statement};
use crate::{
    change::{NodeId, WebhookWrite},
    error::Guard,
    value::Value,
};

pub(super) fn plan(statements: &mut Vec<Statement>, write: WebhookWrite, dialect: Dialect) {
    match write {
        WebhookWrite::Event(event) => new_event(statements, event),
        WebhookWrite::DeliveryMoved { event_id, from, to, leased_by } => {
            statements.push(delivery_moved(event_id, (from, to), leased_by, dialect));
        }
        WebhookWrite::Attempted { leased_until, leased_by, delivery, attempt } => {
            attempted(statements, (leased_until, leased_by), delivery, attempt);
        }
        WebhookWrite::Resent { event_id, project_id, urgent, at } => {
            statements.push(resent(event_id, project_id, urgent, at));
        }
        WebhookWrite::Recovered { project_id, since, at, most } => {
            statements.push(recovered(project_id, since, at, most));
        }
        WebhookWrite::SecretRotated { project_id, replaced, previous, sealed, at } => {
            statements.push(
                Statement::new(
                    "UPDATE projects SET previous_webhook_secret = $1, webhook_secret = $2, \
                     webhook_secret_rotated_at = $3, version = version + 1 WHERE id = $4 AND webhook_secret = $5",
                    [previous.into(), sealed.into(), at.into(), Value::stored(project_id), replaced.into()],
                )
                .guarded(Guard::WebhookSecret),
            );
        }
    }
}

fn new_event(statements: &mut Vec<Statement>, new: Event) {
    let (id, project_id, at, urgent) = (new.id, new.project_id, new.created_at, new.kind().is_urgent());
    if new.kind().is_extra() {
        return extra_event(statements, new);
    }
    statements.push(event(new));
    // The statement reads the URL itself, so that it decides by the URL at the time of the commit.
    statements.push(Statement::new(
        "INSERT INTO deliveries (event_id, project_id, state, due_at, attempts, resent_after, urgent) \
         SELECT $1, p.id, 'pending', $2, 0, 0, $3 FROM projects p WHERE p.id = $4 AND p.webhook_url IS NOT NULL",
        [Value::stored(id), at.into(), urgent.into(), Value::stored(project_id)],
    ));
}

fn event(event: Event) -> Statement {
    let kind = event.kind().word();
    let (paid_at, word) = match event.news {
        News::PaymentPaid { paid_at, word, .. } => (Some(paid_at), Some(word.word())),
        _ => (None, None),
    };
    Statement::new(
        "INSERT INTO events (id, project_id, kind, subject, created_at, paid_at, success_word) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        [
            Value::stored(event.id),
            Value::stored(event.project_id),
            kind.into(),
            subject(event.news),
            event.created_at.into(),
            paid_at.into(),
            word.into(),
        ],
    )
}

/// The id of the payment, refund or key that the news is about.
fn subject(news: News) -> Value {
    match news {
        News::PaymentPaid { payment, .. }
        | News::PaymentFailed { payment }
        | News::PaymentExpired { payment }
        | News::PaymentCancelled { payment }
        | News::PaymentHeld { payment, .. } => Value::stored(payment),
        News::ApiKeyDeleted { key } => Value::stored(key),
        News::Refund { refund, .. } => Value::stored(refund),
    }
}

/// An event that only those projects get that ask for it, by their settings at the time of the commit.
fn extra_event(statements: &mut Vec<Statement>, event: Event) {
    let (id, project_id, kind) = (Value::stored(event.id), Value::stored(event.project_id), event.kind().word());
    let [word, receipt, amount, reason, paid_at, state, state_at, expires_at] = held_columns(event.news);
    statements.push(Statement::new(
        "INSERT INTO events (id, project_id, kind, subject, created_at, success_word, receipt_id, receipt_amount, \
         receipt_reason, receipt_paid_at, payment_state, payment_state_at, payment_expires_at) \
         SELECT $1, x.project_id, x.kind, $2, CAST($3 AS BIGINT), $4, $5, CAST($6 AS BIGINT), $7, CAST($8 AS BIGINT), $9, \
         CAST($10 AS BIGINT), CAST($11 AS BIGINT) FROM extra_events x WHERE x.project_id = $12 AND x.kind = $13",
        [
            id.clone(),
            subject(event.news),
            event.created_at.into(),
            word,
            receipt,
            amount,
            reason,
            paid_at,
            state,
            state_at,
            expires_at,
            project_id.clone(),
            kind.into(),
        ],
    ));
    statements.push(Statement::new(
        "INSERT INTO deliveries (event_id, project_id, state, due_at, attempts, resent_after, urgent) \
         SELECT $1, p.id, 'pending', $2, 0, 0, 0 FROM projects p JOIN extra_events x ON x.project_id = p.id \
         WHERE p.id = $3 AND x.kind = $4 AND p.webhook_url IS NOT NULL",
        [id, event.created_at.into(), project_id, kind.into()],
    ));
}

/// What an event about held money stores besides what all do: the word for success, the receipt, and its payment's state.
fn held_columns(news: News) -> [Value; 8] {
    let News::PaymentHeld { state, expires_at, word, money, .. } = news else { return [const { Value::Null }; 8] };
    let HeldMoney { receipt, amount, reason, paid_at } = money;
    let (state, at) = match state {
        State::Pending => ("pending", None),
        State::Processing => ("processing", None),
        State::Paid { at } => ("paid", Some(at)),
        State::Failed { at } => ("failed", Some(at)),
        State::Expired => ("expired", None),
        State::Cancelled { at } => ("cancelled", Some(at)),
    };
    [
        word.word().into(),
        Value::stored(receipt),
        amount.into(),
        reason.word().into(),
        paid_at.into(),
        state.into(),
        at.into(),
        expires_at.into(),
    ]
}

/// A delivery that another node has locked counts as taken; this node does not wait for it.
///
/// Only pending deliveries have a `due_at`. That the state is pending is not asked for again here and in [`attempted`]:
/// it would allow PostgreSQL to use the index of pending deliveries, and it does whenever none was pending as its
/// statistics were made. Each row would then be looked for among all deliveries that are pending by now.
fn delivery_moved(
    event_id: EventId,
    (from, to): (Timestamp, Timestamp),
    leased_by: Option<NodeId>,
    dialect: Dialect,
) -> Statement {
    let sql = match dialect {
        Dialect::Sqlite => "UPDATE deliveries SET due_at = $1, leased_by = $2 WHERE event_id = $3 AND due_at = $4",
        Dialect::Postgres => {
            "UPDATE deliveries SET due_at = $1, leased_by = $2 WHERE event_id = (SELECT d.event_id FROM deliveries d \
             WHERE d.event_id = $3 AND d.due_at = $4 FOR UPDATE SKIP LOCKED)"
        }
    };
    let parameters = [to.into(), leased_by.into(), Value::stored(event_id), from.into()];
    Statement::new(sql, parameters).guarded(Guard::DeliveryDue)
}

/// Two nodes may have leased it until the same millisecond, one after the other, so a lease is its end and its node.
fn attempted(
    statements: &mut Vec<Statement>,
    (leased_until, leased_by): (Timestamp, Option<NodeId>),
    delivery: Delivery,
    attempt: Attempt,
) {
    let due_at = match delivery.state {
        DeliveryState::Pending { due_at } => Some(due_at),
        DeliveryState::Delivered | DeliveryState::Exhausted => None,
    };
    let (id, number) = (Value::stored(delivery.event_id), i64::from(delivery.attempts));
    statements.push(
        Statement::new(
            "UPDATE deliveries SET state = $1, due_at = $2, attempts = $3, leased_by = NULL WHERE event_id = $4 \
             AND attempts + 1 = $3 AND resent_after = $5 AND due_at = $6 AND leased_by IS NOT DISTINCT FROM $7",
            [
                delivery.state.word().into(),
                due_at.into(),
                number.into(),
                id.clone(),
                i64::from(delivery.resent_after).into(),
                leased_until.into(),
                leased_by.into(),
            ],
        )
        .guarded(Guard::DeliveryAttempts),
    );
    let outcome = attempt.outcome;
    let latency = i64::try_from(outcome.latency.as_millis()).unwrap_or(i64::MAX);
    let (failure, detail) = outcome.failure.map(|failure| (failure.class.word(), failure.detail)).unzip();
    statements.push(Statement::new(
        "INSERT INTO attempts (event_id, number, project_id, at, latency, status, answer, failure, detail) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        [
            id,
            number.into(),
            Value::stored(delivery.project_id),
            attempt.at.into(),
            latency.into(),
            outcome.status.map(i64::from).into(),
            outcome.answer.into(),
            failure.into(),
            detail.into(),
        ],
    ));
}

fn resent(event_id: EventId, project_id: ProjectId, urgent: bool, at: Timestamp) -> Statement {
    Statement::new(
        "INSERT INTO deliveries (event_id, project_id, state, due_at, attempts, resent_after, urgent) \
         VALUES ($1, $2, 'pending', $3, 0, 0, $4) \
         ON CONFLICT (event_id) DO UPDATE SET state = 'pending', due_at = $3, resent_after = deliveries.attempts, \
         leased_by = NULL",
        [Value::stored(event_id), Value::stored(project_id), at.into(), urgent.into()],
    )
}

fn recovered(project_id: ProjectId, since: Timestamp, at: Timestamp, most: i64) -> Statement {
    Statement::new(
        "UPDATE deliveries SET state = 'pending', due_at = $1, resent_after = attempts, leased_by = NULL WHERE event_id IN \
         (SELECT event_id FROM deliveries WHERE project_id = $2 AND event_id >= $3 AND state <> 'delivered' \
         AND attempts > resent_after ORDER BY event_id LIMIT $4) AND state <> 'delivered' AND attempts > resent_after",
        [at.into(), Value::stored(project_id), Value::stored(first_id_at::<kind::Event>(since)), most.into()],
    )
}
