//! The list of payments as a CSV file.

use domain::{
    id::PaymentId,
    money::Rupiah,
    payment::{Customer, Payment},
    time::Timestamp,
};
use engine::{Desk, Error, PaymentFilter, Scan, ScannedPayment};
use web::page::moment::local_rfc3339;
use wire::metadata::MetadataJson;

use crate::csv::{LINES_AT_ONCE, Lines, Table, json_without_formula, without_formula};

/// The payments that a filter asks for, with their statuses at `now`.
pub(super) struct PaymentTable {
    pub(super) filter: PaymentFilter,
    pub(super) now: Timestamp,
}

impl Table for PaymentTable {
    type Cursor = PaymentId;
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "reference",
        "status",
        "method",
        "bank",
        "amount",
        "fee",
        "net",
        "created_at",
        "paid_at",
        "expires_at",
        "customer_name",
        "customer_email",
        "customer_phone",
        "link_id",
        "settled_at",
        "metadata",
        "quantity",
        "received",
        "refunded",
    ];

    async fn page(&self, desk: &Desk, cursor: Option<PaymentId>) -> Result<Lines<PaymentId>, Error> {
        let Scan { payments, before } = desk.payments_scan(&self.filter, cursor, LINES_AT_ONCE).await?;
        Ok((payments.into_iter().map(|scanned| cells(scanned, self.now)).collect(), before))
    }
}

fn cells(ScannedPayment { payment, settled_at, difference }: ScannedPayment, now: Timestamp) -> Vec<String> {
    let Customer { name, email, phone, .. } =
        payment.terms.checkout.as_ref().map(|checkout| checkout.customer.clone()).unwrap_or_default();
    let quantity = payment.terms.quantity.map(|quantity| quantity.to_string()).unwrap_or_default();
    // Each line can be added up: what came, less the fee, is what is left. While nothing has come, all three are zero.
    let (received, fee) = match payment.paid_at() {
        Some(_) => (payment.terms.amount + difference, payment.terms.fee),
        None => (Rupiah::ZERO, Rupiah::ZERO),
    };
    let refunded = payment.refunds.succeeded.get().to_string();
    vec![
        payment.id.to_string(),
        without_formula(&payment.terms.reference),
        payment.status_at(now).word().to_owned(),
        payment.terms.method.kind().word().to_owned(),
        payment.terms.method.bank().map(|bank| bank.code().to_owned()).unwrap_or_default(),
        payment.terms.amount.get().to_string(),
        fee.get().to_string(),
        (received - fee).get().to_string(),
        local_rfc3339(payment.created_at),
        payment.paid_at().map(local_rfc3339).unwrap_or_default(),
        local_rfc3339(payment.terms.expires_at),
        without_formula(&name),
        without_formula(&email),
        without_formula(&phone),
        payment.terms.link_id.map(|id| id.to_string()).unwrap_or_default(),
        settled_at.map(local_rfc3339).unwrap_or_default(),
        metadata(payment),
        quantity,
        received.get().to_string(),
        refunded,
    ]
}

/// One cell of JSON; empty where nothing was given.
fn metadata(payment: Payment) -> String {
    let json =
        payment.terms.metadata.map(|metadata| serde_json::to_string(&MetadataJson(metadata)).unwrap_or_default());
    json.map(|json| json_without_formula(&json)).unwrap_or_default()
}
