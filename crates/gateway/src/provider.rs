//! What every provider does, and how its reports look to the rest of the program.

use std::{future::Future, pin::Pin};

use domain::{
    id::PaymentId, method::Method, money::Rupiah, project::MerchantProfile, receipt::ReceiptKey, time::Timestamp,
};

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a provider needs to know to let a customer pay.
#[derive(Clone, Copy, Debug)]
pub struct Issue<'a> {
    /// The provider's reference for this attempt: the same id never makes a second code.
    pub payment_id: PaymentId,
    pub merchant: &'a MerchantProfile,
    pub amount: Rupiah,
    pub method: Method,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// A bank or QRIS acquirer, or what stands for one.
pub trait Provider: Send + Sync {
    /// Issues what the customer pays to: a QRIS payload, or a virtual account number.
    fn issue<'a>(&'a self, issue: Issue<'a>) -> BoxFuture<'a, Result<String, ProviderError>>;

    /// Whether it would issue for this method right now, as far as it knows without asking.
    fn is_up(&self, _: Method) -> bool {
        true
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    #[error("no provider is configured for production payments")]
    NotConfigured,
    #[error("the provider does not answer")]
    Down,
}

/// A provider's report about one payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    pub receipt: ReceiptKey,
    pub payment_id: PaymentId,
    pub outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Paid {
        amount: Rupiah,
        paid_at: Timestamp,
    },
    Failed,
    /// Seen, but not final.
    Processing,
}
