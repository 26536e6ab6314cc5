//! Receipts: money that a provider reports, and what members decide about money that fits no payment.

use crate::{
    audit::Actor,
    id::{KeyId, PaymentId, ProjectId, ReceiptId, RefundId, UserId},
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

/// Money that pays nothing, as it is first stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub id: ReceiptId,
    pub reason: Unapplied,
}

/// Money that could not pay its payment when it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnappliedReceipt {
    pub id: ReceiptId,
    pub receipt: Receipt,
    pub project_id: ProjectId,
    /// The payment that it was sent for.
    pub payment_id: PaymentId,
    pub reason: Unapplied,
    /// The decision, once there is one.
    pub decided: Option<Decided>,
}

impl UnappliedReceipt {
    /// Whether somebody has decided that it pays this payment.
    pub fn pays(&self, payment: PaymentId) -> bool {
        matches!(self.decided.as_ref().map(|decided| decided.decision),
            Some(Decision::Accepted { payment_id, .. }) if payment_id == payment)
    }

    pub fn state(&self) -> ReceiptState {
        match self.decided.as_ref().map(|decided| decided.decision) {
            None => ReceiptState::Held,
            Some(Decision::Accepted { .. }) => ReceiptState::Accepted,
            Some(Decision::Returned) => ReceiptState::Returned,
        }
    }
}

/// What has become of money that could not pay its payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReceiptState {
    /// Nobody has decided about it.
    Held,
    Accepted,
    Returned,
}

impl ReceiptState {
    pub const ALL: [ReceiptState; 3] = [ReceiptState::Held, ReceiptState::Accepted, ReceiptState::Returned];

    pub const fn word(self) -> &'static str {
        match self {
            ReceiptState::Held => "held",
            ReceiptState::Accepted => "accepted",
            ReceiptState::Returned => "returned",
        }
    }
}

/// A decision that was made about held money. It is final, unless a refund that it names fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    pub decision: Decision,
    pub at: Timestamp,
    pub note: String,
    /// Who decided; none where an earlier version did not store it.
    pub by: Option<Decider>,
    /// The refund by which it goes back to the customer; none where it was given back elsewhere, or pays a payment.
    pub refund: Option<RefundId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It pays a payment after all.
    Accepted {
        /// The payment that it pays: the one that it was sent for, or another one of the project.
        payment_id: PaymentId,
        /// By how much the money is more than that payment's amount; negative if it is less.
        difference: Rupiah,
    },
    /// The merchant gave it back to the customer.
    Returned,
}

impl Decision {
    pub const fn word(self) -> &'static str {
        match self {
            Decision::Accepted { .. } => "accepted",
            Decision::Returned => "returned",
        }
    }
}

/// Who decided about held money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decider {
    User(UserId),
    Key(KeyId),
}

impl Decider {
    /// The user or key behind an actor; the others do not decide about money.
    pub const fn of(actor: &Actor) -> Option<Decider> {
        match actor {
            Actor::User { id, .. } => Some(Decider::User(*id)),
            Actor::Key(id) => Some(Decider::Key(*id)),
            Actor::CommandLine | Actor::Stranger { .. } => None,
        }
    }

    pub fn parse(id: &str) -> Option<Decider> {
        id.parse().map(Decider::User).or_else(|_| id.parse().map(Decider::Key)).ok()
    }
}

impl std::fmt::Display for Decider {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Decider::User(id) => id.fmt(formatter),
            Decider::Key(id) => id.fmt(formatter),
        }
    }
}

/// What somebody wants to be done with held money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It shall pay this payment; none is the one that it was sent for.
    Accept {
        payment_id: Option<PaymentId>,
        difference: Difference,
    },
    Return,
}

/// What shall be done when held money is not exactly the amount of the payment that it shall pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    Refused,
    /// The money pays the payment nevertheless; the merchant gets what is left of it after the fee.
    Accepted,
}

/// Why held money cannot pay a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The amounts differ, and nobody has accepted the difference.
    WrongAmount,
    AlreadyPaid,
    LinkClaimed,
    /// The money is less than the fee that would be taken from it.
    BelowFee,
}

impl Unfit {
    /// In a sentence, for developers.
    pub const fn sentence(self) -> &'static str {
        match self {
            Unfit::WrongAmount => "this money is not the amount of the payment, and the difference was not accepted",
            Unfit::AlreadyPaid => "the payment is paid already",
            Unfit::LinkClaimed => "another payment has paid the single-use link of this payment",
            Unfit::BelowFee => "this money is less than the fee of the payment",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::mint;

    #[test]
    fn a_decider_is_a_user_or_a_key_and_is_read_back_by_its_id() {
        let now = Timestamp::from_millis(1);
        let (user, key): (UserId, KeyId) = (mint(now, [1; 10]), mint(now, [2; 10]));
        let by_user = Decider::of(&Actor::User { id: user, address: "127.0.0.1".to_owned() });
        for (decider, id) in [(by_user, user.to_string()), (Decider::of(&Actor::Key(key)), key.to_string())] {
            assert_eq!(decider.map(|decider| decider.to_string()), Some(id.clone()));
            assert_eq!(Decider::parse(&id), decider);
        }
        assert_eq!(Decider::of(&Actor::CommandLine), None);
        assert_eq!(Decider::parse("command-line"), None);
    }

    #[test]
    fn a_decision_says_what_has_become_of_the_money() {
        let now = Timestamp::from_millis(1);
        let payment_id = mint(now, [2; 10]);
        let receipt = Receipt {
            key: ReceiptKey { provider: "sandbox".to_owned(), id: "r".to_owned() },
            amount: Rupiah::new(1),
            paid_at: now,
            received_at: now,
        };
        let held = UnappliedReceipt {
            id: mint(now, [1; 10]),
            receipt,
            project_id: mint(now, [3; 10]),
            payment_id,
            reason: Unapplied::TooLate,
            decided: None,
        };
        assert_eq!(held.state(), ReceiptState::Held);
        for decision in [Decision::Accepted { payment_id, difference: Rupiah::ZERO }, Decision::Returned] {
            let decided = Some(Decided { decision, at: now, note: "x".to_owned(), by: None, refund: None });
            assert_eq!(UnappliedReceipt { decided, ..held.clone() }.state().word(), decision.word());
        }
    }
}
