//! A payment and the only ways in which it changes. Each transition consumes the payment and returns everything that
//! the change causes, for the caller to commit at once.

use std::time::Duration;

use crate::{
    event::{Event, News},
    id::{LinkId, PaymentId},
    ledger::Posting,
    link::LinkClaim,
    money::Rupiah,
    project::SuccessWord,
    receipt::{Difference, Receipt, Unapplied, Unfit},
    time::Timestamp,
};
pub use crate::{
    payment_state::{State, Status},
    payment_terms::{Checkout, Customer, Device, Location, PaymentTerms},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    pub id: PaymentId,
    pub terms: PaymentTerms,
    /// What the customer pays to: a QRIS payload, or a virtual account number.
    pub code: String,
    pub state: State,
    pub created_at: Timestamp,
    pub version: i64,
    pub refunds: RefundSums,
}

/// What was given back of a payment's money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefundSums {
    /// The customer has it.
    pub succeeded: Rupiah,
    /// It is on its way, or waits for something.
    pub unfinished: Rupiah,
}

/// Everything that one transition causes; it is committed as a whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The payment with its new state; its version is still the one that was read.
    pub payment: Payment,
    pub posting: Option<Posting>,
    /// The event that the merchant is owed.
    pub event: Option<OwedEvent>,
    /// The single-use link that the payment claims. The caller cancels the link's other pending payments in the same
    /// commit.
    pub claims: Option<LinkId>,
    pub settles_at: Option<Timestamp>,
}

/// An event that a transition owes the merchant, with what only the transition knows about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwedEvent {
    Paid {
        at: Timestamp,
    },
    Failed,
    /// Only if the project asks for it.
    Cancelled,
    /// Only if the project asks for it.
    Expired,
}

impl OwedEvent {
    /// The event's content. `word` is what the project calls success at this moment.
    pub const fn news(self, payment: PaymentId, word: SuccessWord) -> News {
        match self {
            OwedEvent::Paid { at } => News::PaymentPaid { payment, paid_at: at, word },
            OwedEvent::Failed => News::PaymentFailed { payment },
            OwedEvent::Cancelled => News::PaymentCancelled { payment },
            OwedEvent::Expired => News::PaymentExpired { payment },
        }
    }
}

/// Why a transition did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotMoved {
    /// The payment has already ended.
    Final,
    /// The payment is already in that state.
    Already,
}

impl Payment {
    /// A new payment, which can be paid by `code` from `now` on.
    pub const fn pending(id: PaymentId, terms: PaymentTerms, code: String, now: Timestamp) -> Payment {
        let refunds = RefundSums { succeeded: Rupiah::ZERO, unfinished: Rupiah::ZERO };
        Payment { id, terms, code, state: State::Pending, created_at: now, version: 1, refunds }
    }

    pub fn merchant_net(&self) -> Rupiah {
        self.terms.amount - self.terms.fee
    }

    /// `3 × Rp50.000`, where the customer has chosen how many.
    pub fn pieces_text(&self) -> Option<String> {
        let quantity = self.terms.quantity.filter(|quantity| *quantity > 0)?;
        Some(format!("{quantity} × {}", Rupiah::new(self.terms.amount.get() / quantity)))
    }

    /// The exact status at `now`, whether or not the expiry was written yet.
    pub fn status_at(&self, now: Timestamp) -> Status {
        self.state.status_at(now, self.terms.expires_at)
    }

    pub const fn paid_at(&self) -> Option<Timestamp> {
        match self.state {
            State::Paid { at } => Some(at),
            _ => None,
        }
    }

    /// The payment as it was when `event` happened, even if it has changed since.
    pub fn as_seen_by(self, event: &Event) -> Payment {
        let (state, expires_at) = match event.news {
            News::PaymentPaid { paid_at, .. } => (State::Paid { at: paid_at }, self.terms.expires_at),
            News::PaymentFailed { .. } => (State::Failed { at: event.created_at }, self.terms.expires_at),
            News::PaymentExpired { .. } => (State::Expired, self.terms.expires_at),
            News::PaymentCancelled { .. } => (State::Cancelled { at: event.created_at }, self.terms.expires_at),
            News::PaymentHeld { state, expires_at, .. } => (state, expires_at),
            News::Refund { .. } | News::ApiKeyDeleted { .. } => (self.state, self.terms.expires_at),
        };
        // None of these events tells of a refund.
        let refunds = RefundSums::default();
        Payment { state, terms: PaymentTerms { expires_at, ..self.terms }, refunds, ..self }
    }

    /// Money arrived. It pays the payment when it is exactly the amount and the customer paid in time, even when the
    /// provider's notification comes later.
    pub fn confirm(
        self,
        receipt: &Receipt,
        link: LinkClaim,
        settlement_delay: Duration,
    ) -> Result<Transition, Unapplied> {
        if receipt.amount != self.terms.amount {
            return Err(Unapplied::WrongAmount);
        }
        let in_time = receipt.paid_at <= self.terms.expires_at;
        match self.state {
            State::Paid { .. } => Err(Unapplied::AlreadyPaid),
            _ if link == LinkClaim::Taken => Err(Unapplied::LinkClaimed),
            State::Processing => Ok(self.paid_in_time(receipt, link, settlement_delay)),
            State::Pending | State::Expired | State::Failed { .. } if in_time => {
                Ok(self.paid_in_time(receipt, link, settlement_delay))
            }
            State::Cancelled { at } if in_time && receipt.paid_at <= at => {
                Ok(self.paid_in_time(receipt, link, settlement_delay))
            }
            State::Pending | State::Expired | State::Failed { .. } | State::Cancelled { .. } => Err(Unapplied::TooLate),
        }
    }

    /// Somebody decided that held money pays this payment, however late it came. Neither the payment nor its link may
    /// have been paid by other money. Another amount must be accepted knowingly, and covers the fee at least.
    pub fn accept(
        self,
        receipt: &Receipt,
        link: LinkClaim,
        difference: Difference,
        settlement_delay: Duration,
        now: Timestamp,
    ) -> Result<Transition, Unfit> {
        match self.state {
            State::Paid { .. } => Err(Unfit::AlreadyPaid),
            _ if link == LinkClaim::Taken => Err(Unfit::LinkClaimed),
            _ if receipt.amount != self.terms.amount && difference == Difference::Refused => Err(Unfit::WrongAmount),
            _ if receipt.amount < self.terms.fee => Err(Unfit::BelowFee),
            _ => {
                let (project_id, id, key) = (self.terms.project_id, self.id, receipt.key.clone());
                let posting = Posting::accepted(project_id, id, key, receipt.amount, self.terms.fee, now);
                Ok(self.paid(receipt, link, posting, settlement_delay))
            }
        }
    }

    fn paid_in_time(self, receipt: &Receipt, link: LinkClaim, settlement_delay: Duration) -> Transition {
        let posting =
            Posting::paid(self.terms.project_id, self.id, self.terms.amount, self.terms.fee, receipt.received_at);
        self.paid(receipt, link, posting, settlement_delay)
    }

    fn paid(self, receipt: &Receipt, link: LinkClaim, posting: Posting, settlement_delay: Duration) -> Transition {
        // Of money whose difference was accepted, another sum than the net is left after the fee.
        let settles_at = (receipt.amount > self.terms.fee).then(|| posting.at.plus(settlement_delay));
        Transition {
            posting: Some(posting),
            event: Some(OwedEvent::Paid { at: receipt.paid_at }),
            claims: match link {
                LinkClaim::Free(link_id) => Some(link_id),
                LinkClaim::NotNeeded | LinkClaim::Taken => None,
            },
            settles_at,
            payment: Payment { state: State::Paid { at: receipt.paid_at }, ..self },
        }
    }

    /// The provider has seen the payment but has not confirmed it yet. From now on the payment does not expire.
    pub fn begin_processing(self, now: Timestamp) -> Result<Transition, NotMoved> {
        match self.status_at(now) {
            Status::Pending => Ok(self.moved(State::Processing, None)),
            Status::Processing => Err(NotMoved::Already),
            _ => Err(NotMoved::Final),
        }
    }

    /// The provider rejected the payment.
    pub fn refuse(self, now: Timestamp) -> Result<Transition, NotMoved> {
        match self.status_at(now) {
            Status::Pending | Status::Processing => Ok(self.moved(State::Failed { at: now }, Some(OwedEvent::Failed))),
            _ => Err(NotMoved::Final),
        }
    }

    /// The customer chose another method or other details, so a new payment replaces this one; or the member who made it at
    /// the counter has given it up.
    pub fn replace(self, now: Timestamp) -> Result<Transition, NotMoved> {
        match self.status_at(now) {
            Status::Pending => Ok(self.moved(State::Cancelled { at: now }, Some(OwedEvent::Cancelled))),
            _ => Err(NotMoved::Final),
        }
    }

    /// Expires the payment before its time; only the sandbox's simulator does that. Its expiry moves to `now`, so that
    /// money after it is late.
    pub fn expire_now(self, now: Timestamp) -> Result<Payment, NotMoved> {
        match self.status_at(now) {
            Status::Pending => {
                let terms = PaymentTerms { expires_at: now, ..self.terms };
                Ok(Payment { state: State::Expired, terms, ..self })
            }
            _ => Err(NotMoved::Final),
        }
    }

    fn moved(self, state: State, event: Option<OwedEvent>) -> Transition {
        Transition { payment: Payment { state, ..self }, posting: None, event, claims: None, settles_at: None }
    }
}

#[cfg(test)]
mod tests;
