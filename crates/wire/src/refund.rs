//! The JSON of a refund, the same in every endpoint and event.

use domain::{destination::Destination, refund::Refund};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{metadata::MetadataJson, schemas};

/// Money that goes back to a customer.
#[derive(Serialize, ToSchema)]
#[schema(title = "Refund", as = Refund, examples(json!({
    "id": "rfd_01kzdq3f5ve8x9m2r7t4w6y8za", "payment_id": "pay_01kzdq3f5ve8x9m2r7t4w6y8za", "receipt_id": null,
    "project_id": "prj_01kzdq3f5ve8x9m2r7t4w6y8za", "amount": 5000, "currency": "IDR", "status": "succeeded",
    "pending_reason": null, "road": "transfer", "reason": "Satu gelas pecah",
    "destination": { "bank": "014", "last_four": "6789", "account_name": "SITI AMINAH" }, "claim_url": null,
    "bank_reference": "2020102900000000000001", "failure_reason": null, "metadata": { "ticket": "7" },
    "created_at": "2026-11-14T09:30:00.000Z", "updated_at": "2026-11-14T09:30:04.000Z",
    "succeeded_at": "2026-11-14T09:30:04.000Z"
})))]
pub struct RefundJson {
    #[schema(value_type = schemas::RefundId)]
    id: String,
    /// Null for held money that is sent back.
    #[schema(value_type = Option<schemas::PaymentId>, required)]
    payment_id: Option<String>,
    /// The held money that is sent back; null for a refund of a payment.
    #[schema(value_type = Option<schemas::ReceiptId>, required)]
    receipt_id: Option<String>,
    #[schema(value_type = schemas::ProjectId)]
    project_id: String,
    #[schema(value_type = schemas::Amount)]
    amount: i64,
    #[schema(value_type = schemas::Currency)]
    currency: &'static str,
    #[schema(value_type = schemas::RefundStatus)]
    status: &'static str,
    /// What it waits for; null unless it is `pending`.
    #[schema(value_type = Option<schemas::PendingReason>, required)]
    pending_reason: Option<&'static str>,
    #[schema(value_type = schemas::RefundRoad)]
    road: &'static str,
    /// Why the money is given back, for the customer; null where it was not given.
    #[schema(required, max_length = 255, examples("Satu gelas pecah"))]
    reason: Option<String>,
    /// The bank account that the money goes to; null where it goes back by QRIS, and until it is known.
    #[schema(required)]
    destination: Option<RefundDestinationJson>,
    /// The page on which the customer says to which account the money shall go. Null unless it `requires_action`, for readers
    /// that may not give money back, and for an owner's session whose last proof is ten minutes old.
    #[schema(required, format = "uri", examples("https://pay.example/r/4b1d9f02"))]
    claim_url: Option<String>,
    /// What the bank calls the transfer; null until it is known.
    #[schema(required, examples("2020102900000000000001"))]
    bank_reference: Option<String>,
    /// Why it failed, came back or needs the customer's bank account; null otherwise.
    #[schema(required, examples("rekening sudah ditutup"))]
    failure_reason: Option<String>,
    /// What you noted about the refund; null where it was not given.
    #[schema(value_type = Option<schemas::Metadata>, required)]
    metadata: Option<MetadataJson>,
    #[schema(value_type = schemas::DateTime)]
    created_at: String,
    #[schema(value_type = schemas::DateTime)]
    updated_at: String,
    /// When the money had left; null until then.
    #[schema(value_type = Option<schemas::DateTime>, required)]
    succeeded_at: Option<String>,
}

/// A bank account that money goes to. The whole number is not shown.
#[derive(Serialize, ToSchema)]
#[schema(title = "RefundDestination", as = RefundDestination)]
struct RefundDestinationJson {
    #[schema(value_type = schemas::TransferBankCode)]
    bank: &'static str,
    /// The last four digits of the account number.
    #[schema(pattern = "^[0-9]{4}$", examples("6789"))]
    last_four: String,
    /// The name of the account's holder, as the bank says it; null until it has.
    #[schema(required, examples("SITI AMINAH"))]
    account_name: Option<String>,
}

impl RefundJson {
    /// `claim_url` is for readers who may give money back, and null for all others.
    pub fn of(refund: Refund, claim_url: Option<String>) -> RefundJson {
        RefundJson {
            id: refund.id.to_string(),
            payment_id: refund.of.payment().map(|id| id.to_string()),
            receipt_id: refund.of.receipt().map(|id| id.to_string()),
            project_id: refund.project_id.to_string(),
            amount: refund.amount.get(),
            currency: "IDR",
            status: refund.status().word(),
            pending_reason: refund.state.pending_reason().map(|reason| reason.word()),
            road: refund.road.word(),
            destination: refund.destination.map(RefundDestinationJson::from),
            claim_url,
            bank_reference: refund.bank_reference,
            failure_reason: refund.failure_reason,
            metadata: refund.metadata.map(MetadataJson),
            created_at: refund.created_at.to_string(),
            updated_at: refund.updated_at.to_string(),
            succeeded_at: refund.state.succeeded_at().map(|at| at.to_string()),
            reason: Some(refund.reason).filter(|reason| !reason.is_empty()),
        }
    }
}

impl From<Destination> for RefundDestinationJson {
    fn from(destination: Destination) -> RefundDestinationJson {
        RefundDestinationJson {
            bank: destination.bank.code,
            last_four: destination.last_digits,
            account_name: destination.holder.filter(|_| destination.is_checked),
        }
    }
}
