//! Payments.

use domain::{
    id::{PaymentId, ProjectId},
    payment::{Checkout, Payment, State},
    time::Timestamp,
};

use super::{
    openings,
    statement::{Dialect, Statement, folded},
};
use crate::{change::PaymentWrite, error::Guard, value::Value};

pub(super) fn plan(statements: &mut Vec<Statement>, write: PaymentWrite, dialect: Dialect) {
    match write {
        PaymentWrite::Created { payment } => new_payment(statements, payment, false, dialect),
        PaymentWrite::CreatedAtBank { payment } => new_payment(statements, payment, true, dialect),
        // The link is locked before, where that is needed.
        PaymentWrite::Moved { id, version, state, settles_at, link_id: _ } => {
            statements.push(payment_moved(id, version, state, settles_at));
        }
        PaymentWrite::PendingCancelled { link_id, but, at } => {
            let (link, but) = (Value::shown(link_id), but.map_or("".into(), Value::shown));
            statements.push(openings::voids_of_link(link.clone(), but.clone(), at));
            statements.push(Statement::new(
                "UPDATE payments SET state = 'cancelled', ended_at = $1, version = version + 1 \
             WHERE link_id = $2 AND state = 'pending' AND expires_at >= $1 AND id <> $3",
                [at.into(), link, but],
            ));
        }
        PaymentWrite::VisitorReplaced { link_id, visitor, at } => {
            let (link, visitor) = (Value::shown(link_id), Value::from(visitor));
            statements.push(openings::void_of_visitor(link.clone(), visitor.clone(), at));
            statements.push(Statement::new(
                "UPDATE payments SET state = 'cancelled', ended_at = $1, version = version + 1 \
             WHERE id = (SELECT a.payment_id FROM link_attempts a WHERE a.link_id = $2 AND a.visitor = $3 \
             ORDER BY a.link_version DESC LIMIT 1) AND state = 'pending' AND expires_at >= $1",
                [at.into(), link, visitor],
            ));
        }
        PaymentWrite::PendingExpired { now, most } => statements.push(pending_expired(now, most, dialect)),
        PaymentWrite::ExpiredEarly { id, version, at } => statements.push(
            Statement::new(
                "UPDATE payments SET state = 'expired', expires_at = $1, version = version + 1 \
                 WHERE id = $2 AND version = $3",
                [at.into(), Value::shown(id), version.into()],
            )
            .guarded(Guard::PaymentVersion),
        ),
        PaymentWrite::Settled { payment_id } => statements.push(
            Statement::new(
                "UPDATE payments SET settles_at = NULL WHERE id = $1 AND settles_at IS NOT NULL",
                [Value::shown(payment_id)],
            )
            .guarded(Guard::Unsettled),
        ),
        PaymentWrite::Viewed { payment_id, project_id, at } => statements.push(Statement::new(
            "INSERT INTO views (payment_id, project_id, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            [Value::shown(payment_id), Value::shown(project_id), at.into()],
        )),
    }
}

fn new_payment(statements: &mut Vec<Statement>, payment: Payment, closes_after_query: bool, dialect: Dialect) {
    let (id, project_id) = (payment.id, payment.project_id);
    let search_text = folded(&payment.reference);
    let checkout = payment.checkout;
    let (state, paid_at, ended_at) = state_columns(payment.state);
    statements.push(
        Statement::new(
            "INSERT INTO payments (id, project_id, link_id, reference, search_text, amount, fee, method, code, state, \
             paid_at, ended_at, created_at, expires_at, version, closes_after_query) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) ON CONFLICT DO NOTHING",
            [
                Value::shown(id),
                Value::shown(project_id),
                payment.link_id.map(Value::shown).unwrap_or(Value::Null),
                payment.reference.into(),
                search_text.clone().into(),
                payment.amount.into(),
                payment.fee.into(),
                Value::shown(payment.method),
                payment.code.into(),
                state,
                paid_at,
                ended_at,
                payment.created_at.into(),
                payment.expires_at.into(),
                payment.version.into(),
                closes_after_query.into(),
            ],
        )
        .guarded(Guard::AccountNumber),
    );
    statements.extend(checkout.map(|checkout| new_checkout(id, project_id, checkout)));
    // A payment sorts below a checkpoint only after the clock was set back; that checkpoint and those above it are then
    // wrong.
    statements.push(Statement::new(
        "DELETE FROM payment_marks WHERE project_id = $1 AND id > $2",
        [Value::shown(project_id), Value::shown(id)],
    ));
    // Likewise for references that the search index has already passed. On SQLite, the index follows the order of
    // commits.
    if dialect == Dialect::Postgres {
        statements.push(Statement::new(
            "INSERT INTO payment_search (id, search_text) \
             SELECT $1, $2 FROM payment_searchable s WHERE s.upto >= $1 ON CONFLICT DO NOTHING",
            [Value::shown(id), search_text.into()],
        ));
    }
}

fn new_checkout(id: PaymentId, project_id: ProjectId, checkout: Checkout) -> Statement {
    let Checkout { customer, location, device } = checkout;
    Statement::new(
        "INSERT INTO checkouts (payment_id, project_id, customer_name, customer_email, customer_phone, \
         customer_address, ip, country, device_kind, device_os, device_browser, user_agent) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        [
            Value::shown(id),
            Value::shown(project_id),
            customer.name.into(),
            customer.email.into(),
            customer.phone.into(),
            customer.address.into(),
            location.ip.into(),
            location.country.into(),
            device.kind.into(),
            device.os.into(),
            device.browser.into(),
            device.user_agent.into(),
        ],
    )
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
        [state, paid_at, ended_at, settles_at.into(), Value::shown(id), version.into()],
    )
    .guarded(Guard::PaymentVersion)
}

/// Of several nodes that run this at the same time, each takes payments that no other has locked.
fn pending_expired(now: Timestamp, most: i64, dialect: Dialect) -> Statement {
    let sql = match dialect {
        Dialect::Sqlite => {
            "UPDATE payments SET state = 'expired', version = version + 1 WHERE id IN \
             (SELECT id FROM payments WHERE state = 'pending' AND closes_after_query = 0 AND expires_at < $1 \
             ORDER BY expires_at LIMIT $2)"
        }
        Dialect::Postgres => {
            "UPDATE payments SET state = 'expired', version = version + 1 WHERE id = ANY (ARRAY \
             (SELECT id FROM payments WHERE state = 'pending' AND closes_after_query = 0 AND expires_at < $1 \
             ORDER BY expires_at LIMIT $2 \
             FOR UPDATE SKIP LOCKED))"
        }
    };
    Statement::new(sql, [now.into(), most.into()]).guarded(Guard::AnyExpired)
}
