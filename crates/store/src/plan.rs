//! Turns a change into statements. A statement with a guard must touch a row; if it does not, the whole plan is undone.

mod people;
mod projects;
mod webhooks;

use domain::{
    id::{PaymentId, ProjectId},
    idempotency::Idempotency,
    ledger::{Cause, Posting},
    link::{CustomerFields, Link},
    payment::{Checkout, Payment, State},
    receipt::{Decision, ReceiptKey},
    time::Timestamp,
};

use crate::{
    change::{Change, Noted, ReceiptNote, Write},
    error::Guard,
    value::{Value, debug_assert_parameters},
};

pub(crate) use people::{COMMAND_LINE, STRANGER};
pub(crate) use webhooks::first_id_at;

/// What is paid is added up by hours of this length.
pub(crate) const HOUR_MILLIS: i64 = 3_600_000;

pub(crate) struct Plan {
    pub(crate) statements: Vec<Statement>,
    /// The links that this plan decides about together with their payments. Where plans run side by side, such a link is taken
    /// first, so that two of them never decide on what the other is about to change.
    pub(crate) links: Vec<Value>,
    /// Whether many requests ask for the like at once, so that it pays to commit them together.
    pub(crate) frequent: bool,
}

/// The kinds of SQL there are, for the few statements whose text differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

pub(crate) struct Statement {
    pub(crate) sql: &'static str,
    pub(crate) parameters: Vec<Value>,
    pub(crate) guard: Option<Guard>,
}

impl Statement {
    fn new(sql: &'static str, parameters: impl Into<Vec<Value>>) -> Statement {
        let parameters = parameters.into();
        debug_assert_parameters(sql, parameters.len());
        Statement { sql, parameters, guard: None }
    }

    fn guarded(self, guard: Guard) -> Statement {
        Statement { guard: Some(guard), ..self }
    }
}

pub(crate) fn of(change: Change, dialect: Dialect) -> Plan {
    let mut statements = Vec::with_capacity(change.writes.len() + 3);
    let links: Vec<Value> = change.writes.iter().filter_map(link_decided_about).collect();
    let frequent = links.is_empty() && change.writes.iter().all(is_frequent);
    for write in people::in_order(change.writes) {
        match write {
            Write::AllowedOrigins { project_id, origins } => {
                projects::allowed_origins(&mut statements, project_id, origins);
            }
            Write::Payment { payment } => new_payment(&mut statements, payment, dialect),
            Write::Posting(posting) => new_posting(&mut statements, &posting),
            Write::SearchExtended { until, most } => search_extended(&mut statements, until, most, dialect),
            Write::Event(event) => webhooks::new_event(&mut statements, event),
            Write::Attempted { leased_until, delivery, attempt } => {
                webhooks::attempted(&mut statements, leased_until, delivery, attempt);
            }
            Write::RoleChanged { project_id, user_id, role } => {
                people::role_changed(&mut statements, project_id, user_id, role);
            }
            Write::MemberRemoved { project_id, user_id } => {
                people::member_removed(&mut statements, project_id, user_id);
            }
            Write::SessionsForgotten { created_before, most } => {
                people::sessions_forgotten(&mut statements, created_before, most, dialect);
            }
            Write::SignInForgiven { account, address, at } => {
                people::sign_in_forgiven(&mut statements, account, address, at);
            }
            single => statements.push(statement(single, dialect)),
        }
    }
    Plan { statements, links, frequent }
}

/// What payments and their webhooks are made of.
fn is_frequent(write: &Write) -> bool {
    match write {
        Write::Payment { payment } => payment.checkout.is_none(),
        Write::Bind { .. }
        | Write::PaymentMoved { .. }
        | Write::Receipt(_)
        | Write::Posting(_)
        | Write::Settled { .. }
        | Write::Event(_)
        | Write::DeliveryMoved { .. }
        | Write::Attempted { .. } => true,
        _ => false,
    }
}

fn link_decided_about(write: &Write) -> Option<Value> {
    match write {
        Write::LinkCancelled { id, .. } | Write::LinkAttempted { id } | Write::LinkClaimed { id, .. } => {
            Some(Value::shown(id))
        }
        Write::PendingCancelled { link_id, .. } => Some(Value::shown(link_id)),
        // A payment on its way keeps its link from being tried again.
        Write::PaymentMoved { link_id: Some(id), state: State::Processing, .. } => Some(Value::shown(id)),
        _ => None,
    }
}

/// The writes that are one statement each.
fn statement(write: Write, dialect: Dialect) -> Statement {
    match write {
        Write::Installation { name, value } => Statement::new(
            "INSERT INTO installation (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            [name.into(), value.into()],
        )
        .guarded(Guard::InstallationUnset),
        Write::Project { project, sealed_webhook_secret } => projects::new(project, sealed_webhook_secret),
        Write::ProjectChanged { project } => projects::changed(project),
        Write::ApiKey { key, hash } => projects::new_key(key, hash),
        Write::ApiKeyRevoked { id, project_id, at } => projects::key_revoked(id, project_id, at),
        Write::KeyUsed { key_id, project_id, at } => projects::key_used(key_id, project_id, at),
        Write::Bind { idempotency, resource } => bind(idempotency, resource),
        Write::Link { link } => new_link(link),
        Write::LinkCancelled { id, at, version } => Statement::new(
            "UPDATE links SET cancelled_at = $1, version = version + 1 WHERE id = $2 AND version = $3",
            [at.into(), Value::shown(id), version.into()],
        )
        .guarded(Guard::LinkVersion),
        Write::LinkAttempted { id } => Statement::new(
            "UPDATE links SET version = version + 1 \
             WHERE id = $1 AND cancelled_at IS NULL AND (allow_multiple_payments = 1 OR (claimed_by IS NULL AND \
             NOT EXISTS (SELECT 1 FROM payments p WHERE p.link_id = links.id AND p.state = 'processing')))",
            [Value::shown(id)],
        )
        .guarded(Guard::LinkOpen),
        Write::LinkClaimed { id, payment_id } => Statement::new(
            "UPDATE links SET claimed_by = $1, version = version + 1 \
             WHERE id = $2 AND claimed_by IS NULL",
            [Value::shown(payment_id), Value::shown(id)],
        )
        .guarded(Guard::LinkUnclaimed),
        Write::PendingCancelled { link_id, but, at } => Statement::new(
            "UPDATE payments SET state = 'cancelled', ended_at = $1, version = version + 1 \
             WHERE link_id = $2 AND state = 'pending' AND expires_at >= $1 AND id <> $3",
            [at.into(), Value::shown(link_id), but.map_or("".into(), Value::shown)],
        ),
        Write::PaymentMoved { id, version, state, settles_at, .. } => payment_moved(id, version, state, settles_at),
        Write::PendingExpired { now, most } => pending_expired(now, most, dialect),
        Write::Receipt(note) => receipt(note),
        Write::Settled { payment_id } => Statement::new(
            "UPDATE payments SET settles_at = NULL WHERE id = $1 AND settles_at IS NOT NULL",
            [Value::shown(payment_id)],
        )
        .guarded(Guard::Unsettled),
        Write::DeliveryMoved { event_id, from, to } => webhooks::delivery_moved(event_id, from, to, dialect),
        Write::Resent { event_id, project_id, at } => webhooks::resent(event_id, project_id, at),
        Write::Recovered { project_id, since, at, most } => webhooks::recovered(project_id, since, at, most),
        Write::WebhookSecretRotated { project_id, replaced, sealed, at } => {
            webhooks::secret_rotated(project_id, replaced, sealed, at)
        }
        Write::PaymentMark { project_id, id, position, amount } => Statement::new(
            "INSERT INTO payment_marks (project_id, id, position, amount) VALUES ($1, $2, $3, $4) \
             ON CONFLICT DO NOTHING",
            [Value::shown(project_id), Value::shown(id), position.into(), amount.into()],
        ),
        Write::ReceiptDecided { key, project_id, decision, note, at } => {
            receipt_decided(key, project_id, decision, note, at)
        }
        Write::PaymentViewed { payment_id, project_id, at } => Statement::new(
            "INSERT INTO views (payment_id, project_id, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            [Value::shown(payment_id), Value::shown(project_id), at.into()],
        ),
        Write::Volume { project_id, hour, payments, amount } => Statement::new(
            "INSERT INTO volumes (project_id, hour, payments, amount) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
            [Value::shown(project_id), hour.into(), payments.into(), amount.into()],
        ),
        other => people::statement(other),
    }
}

fn joined<T: ToString>(items: impl IntoIterator<Item = T>) -> Value {
    let words: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    words.join(",").into()
}

/// The form in which texts are searched; the term is folded alike. Each character by itself, unlike
/// `str::to_lowercase`, which writes a sigma at the end of a word differently: a part of a text must fold as it does
/// within the whole.
pub(crate) fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

fn bind(idempotency: Idempotency, resource: String) -> Statement {
    Statement::new(
        "INSERT INTO idempotency (project_id, endpoint, key, request, resource) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT DO NOTHING",
        [
            Value::shown(idempotency.project_id),
            idempotency.endpoint.word().into(),
            idempotency.key.into(),
            idempotency.request.to_vec().into(),
            resource.into(),
        ],
    )
    .guarded(Guard::IdempotencyKey)
}

fn new_link(link: Link) -> Statement {
    // A line break separates the two, and neither they nor a search term can hold one.
    let search_text = folded(&format!("{}\n{}", link.title, link.reference));
    Statement::new(
        "INSERT INTO links (id, project_id, reference, title, description, search_text, amount, methods, \
         allow_multiple_payments, customer_fields, expires_at, created_at, version) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        [
            Value::shown(link.id),
            Value::shown(link.project_id),
            link.reference.into(),
            link.title.into(),
            link.description.into(),
            search_text.into(),
            link.amount.into(),
            joined(&link.methods),
            link.allow_multiple_payments.into(),
            joined(customer_field_words(link.customer_fields)),
            link.expires_at.into(),
            link.created_at.into(),
            link.version.into(),
        ],
    )
}

fn customer_field_words(fields: CustomerFields) -> impl Iterator<Item = &'static str> {
    [("name", fields.name), ("email", fields.email), ("phone", fields.phone), ("address", fields.address)]
        .into_iter()
        .filter_map(|(word, wanted)| wanted.then_some(word))
}

fn new_payment(statements: &mut Vec<Statement>, payment: Payment, dialect: Dialect) {
    let (id, project_id) = (payment.id, payment.project_id);
    let search_text = folded(&payment.reference);
    let checkout = payment.checkout;
    let (state, paid_at, ended_at) = state_columns(payment.state);
    statements.push(
        Statement::new(
            "INSERT INTO payments (id, project_id, link_id, reference, search_text, amount, fee, method, code, state, \
             paid_at, ended_at, created_at, expires_at, version) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT DO NOTHING",
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
            ],
        )
        .guarded(Guard::AccountNumber),
    );
    statements.extend(checkout.map(|checkout| new_checkout(id, project_id, checkout)));
    // Only after the clock has gone back does a payment come before a mark; that one and those above it count anew.
    statements.push(Statement::new(
        "DELETE FROM payment_marks WHERE project_id = $1 AND id > $2",
        [Value::shown(project_id), Value::shown(id)],
    ));
    // The same for references that the search index has gone past; on SQLite it goes by the order of commits.
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

/// Nodes that look at the same moment each take what no other has in hand.
fn pending_expired(now: Timestamp, most: i64, dialect: Dialect) -> Statement {
    let sql = match dialect {
        Dialect::Sqlite => {
            "UPDATE payments SET state = 'expired', version = version + 1 WHERE id IN \
             (SELECT id FROM payments WHERE state = 'pending' AND expires_at < $1 ORDER BY expires_at LIMIT $2)"
        }
        Dialect::Postgres => {
            "UPDATE payments SET state = 'expired', version = version + 1 WHERE id = ANY (ARRAY \
             (SELECT id FROM payments WHERE state = 'pending' AND expires_at < $1 ORDER BY expires_at LIMIT $2 \
             FOR UPDATE SKIP LOCKED))"
        }
    };
    Statement::new(sql, [now.into(), most.into()]).guarded(Guard::AnyExpired)
}

/// SQLite numbers payments as they are committed, so it can go by their order; elsewhere only those from before `until` are
/// known to be all there, and one node at a time takes the next ones.
fn search_extended(statements: &mut Vec<Statement>, until: PaymentId, most: i64, dialect: Dialect) {
    match dialect {
        Dialect::Sqlite => {
            statements.push(Statement::new(
                "INSERT INTO payment_search (rowid, search_text) SELECT number, search_text FROM payments \
                 WHERE number > (SELECT upto FROM payment_searchable) ORDER BY number LIMIT $1",
                [most.into()],
            ));
            statements.push(Statement::new(
                "UPDATE payment_searchable SET upto = COALESCE((SELECT MAX(number) FROM (SELECT number FROM payments \
                 WHERE number > upto ORDER BY number LIMIT $1) added), upto)",
                [most.into()],
            ));
        }
        Dialect::Postgres => {
            statements.push(Statement::new("UPDATE payment_searchable SET upto = upto", []));
            statements.push(Statement::new(
                "INSERT INTO payment_search (id, search_text) SELECT id, search_text FROM payments \
                 WHERE id > (SELECT upto FROM payment_searchable) AND id < $1 ORDER BY id LIMIT $2 \
                 ON CONFLICT DO NOTHING",
                [Value::shown(until), most.into()],
            ));
            statements.push(Statement::new(
                "UPDATE payment_searchable SET upto = COALESCE((SELECT MAX(id) FROM payment_search), upto)",
                [],
            ));
        }
    }
}

fn receipt(note: ReceiptNote) -> Statement {
    let (kind, amount, paid_at, unapplied) = match note.noted {
        Noted::Money { amount, paid_at, unapplied } => ("money", Some(amount), Some(paid_at), unapplied),
        Noted::Refusal => ("refusal", None, None, None),
        Noted::Progress => ("progress", None, None, None),
    };
    Statement::new(
        "INSERT INTO receipts (provider, id, kind, project_id, payment_id, amount, paid_at, received_at, outcome, \
         reason) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING",
        [
            note.key.provider.into(),
            note.key.id.into(),
            kind.into(),
            Value::shown(note.project_id),
            Value::shown(note.payment_id),
            amount.into(),
            paid_at.into(),
            note.received_at.into(),
            if unapplied.is_some() { "unapplied".into() } else { "applied".into() },
            unapplied.map(|reason| reason.word()).into(),
        ],
    )
    .guarded(Guard::Receipt)
}

fn receipt_decided(
    key: ReceiptKey,
    project_id: ProjectId,
    decision: Decision,
    note: String,
    at: Timestamp,
) -> Statement {
    Statement::new(
        "UPDATE receipts SET decision = $1, decided_at = $2, decision_note = $3 WHERE provider = $4 AND id = $5 \
         AND project_id = $6 AND kind = 'money' AND outcome = 'unapplied' AND decision IS NULL",
        [decision.word().into(), at.into(), note.into(), key.provider.into(), key.id.into(), Value::shown(project_id)],
    )
    .guarded(Guard::ReceiptUndecided)
}

fn new_posting(statements: &mut Vec<Statement>, posting: &Posting) {
    let id = posting.id();
    statements.push(Statement::new(
        "INSERT INTO postings (id, project_id, payment_id, kind, at) VALUES ($1, $2, $3, $4, $5)",
        [
            id.clone().into(),
            Value::shown(posting.project_id),
            Value::shown(posting.payment_id),
            posting.kind().into(),
            posting.at.into(),
        ],
    ));
    statements.extend(posting.legs().iter().map(|(account, amount)| {
        Statement::new(
            "INSERT INTO entries (project_id, account, at, posting_id, amount) VALUES ($1, $2, $3, $4, $5)",
            [
                Value::shown(posting.project_id),
                account.word().into(),
                posting.at.into(),
                id.clone().into(),
                (*amount).into(),
            ],
        )
    }));
    // Only after the clock has gone back is anything paid in an hour that was closed; that one and those after it count anew.
    if let Cause::Paid(_) | Cause::Accepted(_) = posting.cause {
        statements.push(Statement::new(
            "DELETE FROM volumes WHERE project_id = $1 AND hour >= $2",
            [Value::shown(posting.project_id), (posting.at.as_millis() / HOUR_MILLIS).into()],
        ));
    }
}
