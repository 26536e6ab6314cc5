//! Payment links.

use domain::link::{CustomerFields, Link};

use super::statement::{Statement, folded, joined};
use crate::{change::LinkWrite, error::Guard, value::Value};

pub(super) fn plan(write: LinkWrite) -> Statement {
    match write {
        LinkWrite::Created { link } => new_link(link),
        LinkWrite::Cancelled { id, at, version } => Statement::new(
            "UPDATE links SET cancelled_at = $1, version = version + 1 WHERE id = $2 AND version = $3",
            [at.into(), Value::shown(id), version.into()],
        )
        .guarded(Guard::LinkVersion),
        LinkWrite::Attempted { id } => Statement::new(
            "UPDATE links SET version = version + 1 \
             WHERE id = $1 AND cancelled_at IS NULL AND (allow_multiple_payments = 1 OR (claimed_by IS NULL AND \
             NOT EXISTS (SELECT 1 FROM payments p WHERE p.link_id = links.id AND p.state = 'processing')))",
            [Value::shown(id)],
        )
        .guarded(Guard::LinkOpen),
        LinkWrite::Claimed { id, payment_id } => Statement::new(
            "UPDATE links SET claimed_by = $1, version = version + 1 \
             WHERE id = $2 AND claimed_by IS NULL",
            [Value::shown(payment_id), Value::shown(id)],
        )
        .guarded(Guard::LinkUnclaimed),
    }
}

fn new_link(link: Link) -> Statement {
    // Title and reference are separated by a line break, which neither they nor a search term can contain.
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
