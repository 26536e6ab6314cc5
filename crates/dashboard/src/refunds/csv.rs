//! The list of refunds as a CSV file.

use domain::{destination::Destination, id::RefundId, visible::escape_hidden};
use engine::{Desk, Error, ListedRefund, RefundFilter};
use web::page::moment::local_rfc3339;
use wire::metadata::MetadataJson;

use crate::csv::{LINES_AT_ONCE, Lines, Table, json_without_formula, without_formula};

/// The refunds that a filter asks for, newest first.
pub(super) struct RefundTable {
    pub(super) filter: RefundFilter,
}

impl Table for RefundTable {
    type Cursor = RefundId;
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "payment_id",
        "receipt_id",
        "reference",
        "status",
        "pending_reason",
        "road",
        "amount",
        "reason",
        "bank",
        "account",
        "account_name",
        "bank_reference",
        "failure_reason",
        "created_at",
        "succeeded_at",
        "metadata",
    ];

    async fn page(&self, desk: &Desk, cursor: Option<RefundId>) -> Result<Lines<RefundId>, Error> {
        let refunds = desk.refunds_before(self.filter, cursor, LINES_AT_ONCE).await?;
        let is_full = i64::try_from(refunds.len()).is_ok_and(|found| found == LINES_AT_ONCE);
        let next = refunds.last().filter(|_| is_full).map(|listed| listed.refund.id);
        Ok((refunds.into_iter().map(cells).collect(), next))
    }
}

fn cells(ListedRefund { refund, payment, .. }: ListedRefund) -> Vec<String> {
    let plain = |text: &str| without_formula(&escape_hidden(text));
    let destination = refund.destination.as_ref();
    let of = |part: &dyn Fn(&Destination) -> String| destination.map(part).unwrap_or_default();
    let metadata = refund.metadata.clone();
    let json = metadata.map(|metadata| serde_json::to_string(&MetadataJson(metadata)).unwrap_or_default());
    vec![
        refund.id.to_string(),
        refund.of.payment().map(|id| id.to_string()).unwrap_or_default(),
        refund.of.receipt().map(|id| id.to_string()).unwrap_or_default(),
        plain(&payment.terms.reference),
        refund.status().word().to_owned(),
        refund.state.pending_reason().map(|reason| reason.word().to_owned()).unwrap_or_default(),
        refund.road.word().to_owned(),
        refund.amount.get().to_string(),
        plain(&refund.reason),
        of(&|to| to.bank.code.to_owned()),
        of(&|to| to.last_digits.clone()),
        of(&|to| plain(to.holder.as_deref().unwrap_or_default())),
        plain(refund.bank_reference.as_deref().unwrap_or_default()),
        plain(refund.failure_reason.as_deref().unwrap_or_default()),
        local_rfc3339(refund.created_at),
        refund.state.succeeded_at().map(local_rfc3339).unwrap_or_default(),
        json.map(|json| json_without_formula(&json)).unwrap_or_default(),
    ]
}
