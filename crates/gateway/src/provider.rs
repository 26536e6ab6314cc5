//! The interface of every payment provider, and the form of its reports.

use std::{future::Future, pin::Pin};

use domain::{
    id::PaymentId, method::Method, money::Rupiah, project::MerchantProfile, receipt::ReceiptKey, time::Timestamp,
};

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a provider needs to know to issue a payment code.
#[derive(Clone, Copy, Debug)]
pub struct Issue<'a> {
    /// Identifies the payment at the provider: the same id never gets a second code.
    pub payment_id: PaymentId,
    pub merchant: &'a MerchantProfile,
    pub amount: Rupiah,
    pub method: Method,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// A bank or QRIS acquirer, or the simulator.
pub trait Provider: Send + Sync {
    /// Issues the code that the customer pays with: a QRIS payload, or a virtual account number.
    fn issue<'a>(&'a self, issue: Issue<'a>) -> BoxFuture<'a, Result<String, ProviderError>>;

    /// Whether the provider can issue codes for this method right now, as far as is known without a request.
    fn is_up(&self, _: Method) -> bool {
        true
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    #[error("no bank account is set up for payments of this method")]
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

/// What a provider reports: money, or a notice without money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Paid {
        amount: Rupiah,
        paid_at: Timestamp,
    },
    Failed,
    /// The provider has seen the payment but has not confirmed it.
    Processing,
}
