//! Payments.

use std::sync::LazyLock;

use domain::{
    event::EventKind,
    id::{PaymentId, ProjectId},
    metadata::Metadata,
    payment::{Checkout, Payment, State},
    search::{customer_text, folded},
    time::Timestamp,
};

use super::{
    bulk_events::Move,
    openings,
    statement::{Dialect, Statement, insert},
};
use crate::{
    change::PaymentWrite,
    error::Guard,
    terms_columns::{checkout_columns, checkout_values, terms_columns, terms_values},
    value::Value,
};

static CREATED: LazyLock<String> = LazyLock::new(|| {
    let own = "id, search_text, metadata_text, code, state, paid_at, ended_at, created_at, version, closes_after_query";
    format!("{} ON CONFLICT DO NOTHING", insert("payments", &[own, terms_columns!("")]))
});
static CHECKED_OUT: LazyLock<String> =
    LazyLock::new(|| insert("checkouts", &["payment_id, project_id, search_text", checkout_columns!("")]));
static CANCELLED_OF_LINK: LazyLock<Move> =
    LazyLock::new(|| cancelled("m.expires_at >= $1 AND m.state = 'pending' AND m.link_id = $2 AND m.id <> $3"));
static CANCELLED_OF_VISITOR: LazyLock<Move> = LazyLock::new(|| {
    cancelled(
        "m.expires_at >= $1 AND m.state = 'pending' AND m.id = (SELECT a.payment_id FROM link_attempts a \
         WHERE a.link_id = $2 AND a.visitor = $3 ORDER BY a.link_version DESC LIMIT 1)",
    )
});
static EXPIRED_ON_SQLITE: LazyLock<Move> = LazyLock::new(|| {
    // By the number too, so that each of the statements finds the same payments.
    expired(
        "m.id IN (SELECT id FROM payments WHERE state = 'pending' AND closes_after_query = 0 AND expires_at < $1 \
         ORDER BY expires_at, number LIMIT $2)",
    )
});
/// Of several nodes that run this at the same time, each takes payments that no other has locked.
static EXPIRED_ON_POSTGRES: LazyLock<Move> = LazyLock::new(|| {
    expired(
        "m.id = ANY (ARRAY (SELECT id FROM payments WHERE state = 'pending' AND closes_after_query = 0 \
         AND expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
    )
});

fn cancelled(which: &str) -> Move {
    Move::new(EventKind::PaymentCancelled, "state = 'cancelled', ended_at = $1", which, 3)
}

fn expired(which: &str) -> Move {
    Move::new(EventKind::PaymentExpired, "state = 'expired'", which, 2)
}

pub(super) fn plan(statements: &mut Vec<Statement>, write: PaymentWrite, dialect: Dialect) {
    match write {
        PaymentWrite::Created { payment } => new_payment(statements, payment, false, dialect),
        PaymentWrite::CreatedAtBank { payment } => new_payment(statements, payment, true, dialect),
        // The link is locked before, where that is needed.
        PaymentWrite::Moved { id, version, state, settles_at, link_id: _ } => {
            statements.push(payment_moved(id, version, state, settles_at));
        }
        PaymentWrite::PendingCancelled { link_id, but, at } => {
            let (link, but) = (Value::stored(link_id), but.map_or("".into(), Value::stored));
            statements.push(openings::voids_of_link(link.clone(), but.clone(), at));
            CANCELLED_OF_LINK.plan(statements, at, vec![link, but], None, dialect);
        }
        PaymentWrite::VisitorReplaced { link_id, visitor, at } => {
            let (link, visitor) = (Value::stored(link_id), Value::from(visitor));
            statements.push(openings::void_of_visitor(link.clone(), visitor.clone(), at));
            CANCELLED_OF_VISITOR.plan(statements, at, vec![link, visitor], None, dialect);
        }
        PaymentWrite::PendingExpired { now, most } => {
            let expired = match dialect {
                Dialect::Sqlite => &EXPIRED_ON_SQLITE,
                Dialect::Postgres => &EXPIRED_ON_POSTGRES,
            };
            expired.plan(statements, now, vec![most.into()], Some(Guard::AnyExpired), dialect);
        }
        PaymentWrite::ExpiredEarly { id, version, at } => statements.push(
            Statement::new(
                "UPDATE payments SET state = 'expired', expires_at = $1, version = version + 1 \
                 WHERE id = $2 AND version = $3",
                [at.into(), Value::stored(id), version.into()],
            )
            .guarded(Guard::PaymentVersion),
        ),
        PaymentWrite::Settled { payment_id, version } => statements.push(
            Statement::new(
                "UPDATE payments SET settles_at = NULL, version = version + 1 \
                 WHERE id = $1 AND version = $2 AND settles_at IS NOT NULL",
                [Value::stored(payment_id), version.into()],
            )
            .guarded(Guard::Unsettled),
        ),
        PaymentWrite::Viewed { payment_id, project_id, at } => statements.push(Statement::new(
            "INSERT INTO views (payment_id, project_id, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            [Value::stored(payment_id), Value::stored(project_id), at.into()],
        )),
        PaymentWrite::Sold { resource, project_id, user_id, at } => statements.push(Statement::new(
            "INSERT INTO sales (resource, project_id, user_id, at) VALUES ($1, $2, $3, $4)",
            [Value::named(&resource), Value::stored(project_id), Value::stored(user_id), at.into()],
        )),
    }
}

fn new_payment(statements: &mut Vec<Statement>, payment: Payment, closes_after_query: bool, dialect: Dialect) {
    // A payment begins without refunds.
    let Payment { id, mut terms, code, state, created_at, version, refunds: _ } = payment;
    let (project_id, checkout) = (terms.project_id, terms.checkout.take());
    let (state, paid_at, ended_at) = state_columns(state);
    let own = [
        Value::stored(id),
        folded(&terms.reference).into(),
        terms.metadata.as_ref().map(metadata_text).into(),
        code.into(),
        state,
        paid_at,
        ended_at,
        created_at.into(),
        version.into(),
        closes_after_query.into(),
    ];
    let values: Vec<Value> = own.into_iter().chain(terms_values(terms)).collect();
    statements.push(Statement::new(&CREATED, values).guarded(Guard::AccountNumber));
    statements.extend(checkout.map(|checkout| new_checkout(id, project_id, checkout)));
    // A payment sorts below a checkpoint only after the clock was set back; that checkpoint and those above it are then
    // wrong.
    statements.push(Statement::new(
        "DELETE FROM payment_marks WHERE project_id = $1 AND id > $2",
        [Value::stored(project_id), Value::stored(id)],
    ));
    // Likewise for payments that the search index has already passed. On SQLite, the index follows the order of commits.
    if dialect == Dialect::Postgres {
        statements.push(Statement::new(
            "INSERT INTO payment_search_again (project_id, payment_id) \
             SELECT $1, $2 FROM payment_searchable s WHERE s.single = 1 AND s.upto >= $2",
            [Value::stored(project_id), Value::stored(id)],
        ));
    }
}

/// What a search finds in metadata: its values, each from a line of its own on. Search terms have no line breaks.
fn metadata_text(metadata: &Metadata) -> String {
    let values: Vec<&str> = metadata.members.iter().map(|(_, value)| value.as_str()).collect();
    folded(&values.join("\n"))
}

fn new_checkout(id: PaymentId, project_id: ProjectId, checkout: Checkout) -> Statement {
    let own = [Value::stored(id), Value::stored(project_id), customer_text(&checkout.customer).into()];
    Statement::new(&CHECKED_OUT, own.into_iter().chain(checkout_values(checkout)).collect::<Vec<Value>>())
}

/// `state`, `paid_at` and `ended_at` of a payment.
fn state_columns(state: State) -> (Value, Value, Value) {
    match state {
        State::Pending => ("pending".into(), Value::Null, Value::Null),
        State::Processing => ("processing".into(), Value::Null, Value::Null),
        State::Paid { at } => ("paid".into(), at.into(), Value::Null),
        State::Failed { at } => ("failed".into(), Value::Null, at.into()),
        State::Expired => ("expired".into(), Value::Null, Value::Null),
        State::Cancelled { at } => ("cancelled".into(), Value::Null, at.into()),
    }
}

fn payment_moved(id: PaymentId, version: i64, state: State, settles_at: Option<Timestamp>) -> Statement {
    let (state, paid_at, ended_at) = state_columns(state);
    Statement::new(
        "UPDATE payments SET state = $1, paid_at = $2, ended_at = $3, settles_at = $4, version = version + 1 \
         WHERE id = $5 AND version = $6",
        [state, paid_at, ended_at, settles_at.into(), Value::stored(id), version.into()],
    )
    .guarded(Guard::PaymentVersion)
}
