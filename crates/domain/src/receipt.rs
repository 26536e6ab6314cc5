//! Receipts: money that a provider reports, and what members decide about money that fits no payment.

use crate::{
    id::{PaymentId, ProjectId},
    money::Rupiah,
    rules::TextRule,
    time::Timestamp,
};

/// The note that a member must give with a decision.
pub const DECISION_NOTE: TextRule = TextRule { field: "note", least: 1, most: 500, line_breaks: true };

/// Identifies what a provider reports, so that the same money reported twice counts once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReceiptKey {
    pub provider: String,
    pub id: String,
}

impl ReceiptKey {
    /// The key under which money for `payment` is kept when its own key belongs to money for another payment. A
    /// provider's name has no slash, so this is never the key of another report.
    #[must_use]
    pub fn reused_for(&self, payment: PaymentId) -> ReceiptKey {
        ReceiptKey { provider: format!("{}/{payment}", self.provider), id: self.id.clone() }
    }

    /// The key under which money for the code with this reference is kept when the bank has used its id for other money.
    /// It stays a key of the bank's account, so that the money is compared with the bank like all of its money.
    #[must_use]
    pub fn reused_by(&self, reference: &str) -> ReceiptKey {
        ReceiptKey { provider: self.provider.clone(), id: format!("{}/{reference}", self.id) }
    }
}

/// Money that reached the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub key: ReceiptKey,
    pub amount: Rupiah,
    /// When the customer paid, as the provider says.
    pub paid_at: Timestamp,
    /// When we learnt of it.
    pub received_at: Timestamp,
}

/// Why money could not pay its payment. The money is held until a member decides about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unapplied {
    WrongAmount,
    AlreadyPaid,
    LinkClaimed,
    TooLate,
    /// The provider has reported money for another payment under the same receipt id.
    ReceiptReused,
}

impl Unapplied {
    pub const ALL: [Unapplied; 5] = [
        Unapplied::WrongAmount,
        Unapplied::AlreadyPaid,
        Unapplied::LinkClaimed,
        Unapplied::TooLate,
        Unapplied::ReceiptReused,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Unapplied::WrongAmount => "wrong_amount",
            Unapplied::AlreadyPaid => "already_paid",
            Unapplied::LinkClaimed => "link_claimed",
            Unapplied::TooLate => "too_late",
            Unapplied::ReceiptReused => "receipt_reused",
        }
    }

    pub fn parse(word: &str) -> Option<Unapplied> {
        Unapplied::ALL.into_iter().find(|reason| reason.word() == word)
    }
}

/// Money that has not paid anything so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnappliedReceipt {
    pub receipt: Receipt,
    pub project_id: ProjectId,
    /// The payment that it was sent for.
    pub payment_id: PaymentId,
    pub reason: Unapplied,
    /// The decision, once a member has made one.
    pub decided: Option<Decided>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    pub decision: Decision,
    pub at: Timestamp,
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// It pays its payment after all.
    Accepted,
    /// The merchant gave it back to the customer.
    Returned,
}

impl Decision {
    pub const fn word(self) -> &'static str {
        match self {
            Decision::Accepted => "accepted",
            Decision::Returned => "returned",
        }
    }

    pub fn parse(word: &str) -> Option<Decision> {
        [Decision::Accepted, Decision::Returned].into_iter().find(|decision| decision.word() == word)
    }
}
