//! The form of a report about a payment: a bank's, or the simulator's.

use domain::{id::PaymentId, money::Rupiah, receipt::ReceiptKey, time::Timestamp};

/// What a bank or the simulator reports about one payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    pub receipt: ReceiptKey,
    pub payment_id: PaymentId,
    pub outcome: Outcome,
}

/// Money, or a notice without money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Paid {
        amount: Rupiah,
        paid_at: Timestamp,
    },
    Failed,
    /// The payment has been seen, and is not confirmed yet.
    Processing,
}
