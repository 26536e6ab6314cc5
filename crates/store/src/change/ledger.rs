//! Writes about money: reports about payments, decisions about them, and postings.

use domain::{
    id::{PaymentId, ProjectId, ReceiptId, RefundId},
    ledger::Posting,
    money::Rupiah,
    receipt::{Decided, Held, ReceiptKey},
    time::Timestamp,
};

pub enum LedgerWrite {
    /// Guarded: for money, no money has this key; for a notice, it was not stored for this payment before.
    Receipt(ReceiptNote),
    /// Guarded: the receipt is unapplied money of that project, and nobody has decided about it.
    ReceiptDecided {
        key: ReceiptKey,
        project_id: ProjectId,
        decided: Decided,
    },
    /// The refund by which held money was returned has failed or come back: nobody has decided about the money any more. Guarded:
    /// it was returned by that refund.
    ReceiptHeldAgain {
        receipt_id: ReceiptId,
        project_id: ProjectId,
        refund_id: RefundId,
    },
    Posting(Posting),
}

/// A provider's report as it is stored.
pub struct ReceiptNote {
    pub key: ReceiptKey,
    pub project_id: ProjectId,
    pub payment_id: PaymentId,
    pub received_at: Timestamp,
    pub noted: Noted,
}

/// What a report said, and for money, whether it paid its payment or is held.
pub enum Noted {
    Money { amount: Rupiah, paid_at: Timestamp, held: Option<Held> },
    Refusal,
    Progress,
}

impl LedgerWrite {
    pub(super) fn is_frequent(&self) -> bool {
        match self {
            LedgerWrite::Receipt(_) | LedgerWrite::Posting(_) => true,
            LedgerWrite::ReceiptDecided { .. } | LedgerWrite::ReceiptHeldAgain { .. } => false,
        }
    }
}
