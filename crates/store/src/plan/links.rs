//! Payment links.

use domain::{
    id::LinkId,
    link::{CustomerFields, Link},
    link_edit::LinkTerms,
    money::Rupiah,
    search::folded,
    time::Timestamp,
};

use super::statement::{Statement, joined};
use crate::{
    change::{AttemptBounds, LinkAttempt, LinkWrite},
    error::Guard,
    metadata_column,
    value::Value,
};

pub(super) fn plan(write: LinkWrite) -> Statement {
    match write {
        LinkWrite::Created { link } => new_link(link),
        LinkWrite::Cancelled { id, at } => Statement::new(
            "UPDATE links SET cancelled_at = $1, version = version + 1, cancelled_version = version + 1 \
             WHERE id = $2 AND cancelled_at IS NULL AND (expires_at IS NULL OR expires_at >= $1)",
            [at.into(), Value::stored(id)],
        )
        .guarded(Guard::LinkActive),
        LinkWrite::Edited { id, reference, from, to, at } => edited(id, &reference, from, to, at),
        LinkWrite::Attempted { id, at, bounds } => attempted(id, at, bounds),
        LinkWrite::AttemptRecorded(attempt) => attempt_recorded(attempt),
        LinkWrite::Claimed { id, payment_id } => Statement::new(
            "UPDATE links SET claimed_by = $1, version = version + 1, claimed_version = version + 1 \
             WHERE id = $2 AND claimed_by IS NULL",
            [Value::stored(payment_id), Value::stored(id)],
        )
        .guarded(Guard::LinkUnclaimed),
    }
}

fn edited(id: LinkId, reference: &str, from: LinkTerms, to: LinkTerms, at: Timestamp) -> Statement {
    let search_text = searched(&to.title, reference);
    Statement::new(
        "UPDATE links SET title = $1, description = $2, expires_at = $3, search_text = $4, version = version + 1 \
         WHERE id = $5 AND cancelled_at IS NULL AND claimed_by IS NULL AND (expires_at IS NULL OR expires_at >= $6) \
         AND title = $7 AND description = $8 AND COALESCE(expires_at, -1) = COALESCE(CAST($9 AS BIGINT), -1) \
         AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.link_id = $5 AND p.state = 'paid') \
         AND NOT EXISTS (SELECT 1 FROM link_attempts a WHERE a.link_id = $5 AND a.at > CAST($3 AS BIGINT))",
        [
            to.title.into(),
            to.description.into(),
            to.expires_at.into(),
            search_text.into(),
            Value::stored(id),
            at.into(),
            from.title.into(),
            from.description.into(),
            from.expires_at.into(),
        ],
    )
    .guarded(Guard::LinkEditable)
}

/// What a link is searched by. Title and reference are separated by a line break, which neither they nor a search term can
/// contain.
fn searched(title: &str, reference: &str) -> String {
    folded(&format!("{title}\n{reference}"))
}

/// Pending payments and recent attempts are counted only up to their bounds, by indexes, so that it takes the same time
/// however many attempts there were. An attempt that is more than a window ahead was stamped by a clock that has been
/// set back since, and does not count.
fn attempted(id: LinkId, at: Timestamp, bounds: AttemptBounds) -> Statement {
    let AttemptBounds { pending_most, network } = bounds;
    let (from, until) = network.as_ref().map_or((at, at), |bound| (at.minus(bound.window), at.plus(bound.window)));
    let network_most = network.as_ref().map_or(1, |bound| bound.most);
    Statement::new(
        "UPDATE links SET version = version + 1 \
         WHERE id = $1 AND cancelled_at IS NULL AND (expires_at IS NULL OR expires_at >= $2) \
         AND (allow_multiple_payments = 1 OR (claimed_by IS NULL AND \
         NOT EXISTS (SELECT 1 FROM payments p WHERE p.link_id = $1 AND p.state = 'processing'))) \
         AND (SELECT COUNT(*) FROM (SELECT 1 FROM payments p WHERE p.link_id = $1 AND p.state = 'pending' \
         AND p.expires_at >= $2 ORDER BY p.expires_at LIMIT $3) pending) < $3 \
         AND (SELECT COUNT(*) FROM (SELECT 1 FROM link_attempts a WHERE a.link_id = $1 AND a.network = $4 \
         AND a.at > $5 AND a.at <= $6 ORDER BY a.at LIMIT $7) recent) < $7",
        [
            Value::stored(id),
            at.into(),
            pending_most.into(),
            network.map(|bound| bound.network).into(),
            from.into(),
            until.into(),
            network_most.into(),
        ],
    )
    .guarded(Guard::LinkOpen)
}

fn attempt_recorded(attempt: LinkAttempt) -> Statement {
    Statement::new(
        "INSERT INTO link_attempts (link_id, link_version, payment_id, project_id, visitor, network, at) \
         SELECT id, version, $1, $2, $3, $4, CAST($5 AS BIGINT) FROM links WHERE id = $6",
        [
            Value::stored(attempt.payment_id),
            Value::stored(attempt.project_id),
            attempt.visitor.into(),
            attempt.network.into(),
            attempt.at.into(),
            Value::stored(attempt.link_id),
        ],
    )
}

fn new_link(link: Link) -> Statement {
    let (least, most) = link.pricing.range().unzip();
    let search_text = searched(&link.title, &link.reference);
    Statement::new(
        "INSERT INTO links (id, project_id, reference, title, description, search_text, amount, methods, \
         allow_multiple_payments, customer_fields, expires_at, created_at, version, metadata, \
         quantity_max, amount_max, return_url) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
        [
            Value::stored(link.id),
            Value::stored(link.project_id),
            link.reference.into(),
            link.title.into(),
            link.description.into(),
            search_text.into(),
            least.unwrap_or(link.amount).into(),
            joined(&link.methods),
            link.allow_multiple_payments.into(),
            joined(customer_field_words(link.customer_fields)),
            link.expires_at.into(),
            link.created_at.into(),
            link.version.into(),
            link.metadata.as_ref().map(metadata_column::written).into(),
            link.pricing.quantity_max().into(),
            most.map(Rupiah::get).into(),
            link.return_url.as_ref().map(|url| url.as_str().to_owned()).into(),
        ],
    )
}

fn customer_field_words(fields: CustomerFields) -> impl Iterator<Item = &'static str> {
    [("name", fields.name), ("email", fields.email), ("phone", fields.phone), ("address", fields.address)]
        .into_iter()
        .filter_map(|(word, wanted)| wanted.then_some(word))
}
