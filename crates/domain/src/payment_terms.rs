//! What is agreed about a payment before there is a code to pay it by. A payment has terms, and so has an opening, which becomes a
//! payment when a bank has issued the code: a field that both need is added here, once.

use crate::{
    id::{LinkId, ProjectId},
    language::Language,
    metadata::Metadata,
    method::Method,
    money::Rupiah,
    return_url::ReturnUrl,
    time::Timestamp,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentTerms {
    pub project_id: ProjectId,
    /// None for direct payments.
    pub link_id: Option<LinkId>,
    /// The merchant's reference.
    pub reference: String,
    pub amount: Rupiah,
    /// How many pieces the amount is for, where the customer has chosen that.
    pub quantity: Option<i64>,
    pub fee: Rupiah,
    pub method: Method,
    /// What the hosted checkout learnt about the customer; none for direct payments.
    pub checkout: Option<Checkout>,
    /// What the merchant noted about it, or about its link; none where nothing was given.
    pub metadata: Option<Metadata>,
    /// Where its pages lead back to.
    pub return_url: Option<ReturnUrl>,
    pub expires_at: Timestamp,
}

/// What the hosted checkout learnt about the customer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkout {
    pub customer: Customer,
    pub location: Location,
    pub device: Device,
    /// The language in which the customer used its pages when they began to pay.
    pub language: Option<Language>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Customer {
    pub name: String,
    pub email: String,
    pub phone: String,
    pub address: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    pub ip: Option<String>,
    pub country: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    pub kind: Option<String>,
    pub os: Option<String>,
    pub browser: Option<String>,
    pub user_agent: Option<String>,
}

impl PaymentTerms {
    /// Terms of a direct payment that has no fee and nothing that a merchant or a customer may leave out.
    pub const fn direct(
        project_id: ProjectId,
        reference: String,
        amount: Rupiah,
        method: Method,
        expires_at: Timestamp,
    ) -> PaymentTerms {
        PaymentTerms {
            project_id,
            link_id: None,
            reference,
            amount,
            quantity: None,
            fee: Rupiah::ZERO,
            method,
            checkout: None,
            metadata: None,
            return_url: None,
            expires_at,
        }
    }

    /// The language of letters to the customer: Indonesian unless they used the checkout in another one.
    pub fn customer_language(&self) -> Language {
        self.checkout.as_ref().and_then(|checkout| checkout.language).unwrap_or(Language::Indonesian)
    }
}
