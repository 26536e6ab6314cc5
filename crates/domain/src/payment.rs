//! A payment and the only ways in which it changes. Each transition consumes the payment and returns everything that
//! the change causes, for the caller to commit at once.

use std::time::Duration;

use crate::{
    event::{Event, News},
    id::{LinkId, PaymentId, ProjectId},
    ledger::Posting,
    link::LinkClaim,
    method::Method,
    money::Rupiah,
    project::SuccessWord,
    receipt::{Receipt, Unapplied},
    time::Timestamp,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    pub id: PaymentId,
    pub project_id: ProjectId,
    pub link_id: Option<LinkId>,
    pub reference: String,
    pub amount: Rupiah,
    pub fee: Rupiah,
    pub method: Method,
    /// What the customer pays to: a QRIS payload, or a virtual account number.
    pub code: String,
    /// What the hosted checkout learnt about the customer; none for direct payments.
    pub checkout: Option<Checkout>,
    pub state: State,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub version: i64,
}

/// The state as it was last written. A `Pending` payment past its expiry counts as expired even before the state says
/// so: use [`Payment::status_at`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Pending,
    Processing,
    Paid { at: Timestamp },
    Failed { at: Timestamp },
    Expired,
    Cancelled { at: Timestamp },
}

impl State {
    /// The exact status at `now` of a payment in this state, whether or not its expiry was written yet.
    pub fn status_at(self, now: Timestamp, expires_at: Timestamp) -> Status {
        match self {
            State::Pending if now > expires_at => Status::Expired,
            State::Pending => Status::Pending,
            State::Processing => Status::Processing,
            State::Paid { .. } => Status::Paid,
            State::Failed { .. } => Status::Failed,
            State::Expired => Status::Expired,
            State::Cancelled { .. } => Status::Cancelled,
        }
    }
}

/// What a payment is at some instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Pending,
    Processing,
    Paid,
    Failed,
    Expired,
    Cancelled,
}

impl Status {
    pub const ALL: [Status; 6] =
        [Status::Pending, Status::Processing, Status::Paid, Status::Failed, Status::Expired, Status::Cancelled];

    pub const fn word(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Processing => "processing",
            Status::Paid => "paid",
            Status::Failed => "failed",
            Status::Expired => "expired",
            Status::Cancelled => "cancelled",
        }
    }

    pub const fn is_final(self) -> bool {
        !matches!(self, Status::Pending | Status::Processing)
    }
}

/// What the hosted checkout learnt about the customer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkout {
    pub customer: Customer,
    pub location: Location,
    pub device: Device,
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
    Paid { at: Timestamp },
    Failed,
}

impl OwedEvent {
    /// The event's content. `word` is what the project calls success at this moment.
    pub const fn news(self, payment: PaymentId, word: SuccessWord) -> News {
        match self {
            OwedEvent::Paid { at } => News::PaymentPaid { payment, paid_at: at, word },
            OwedEvent::Failed => News::PaymentFailed { payment },
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
    pub fn merchant_net(&self) -> Rupiah {
        self.amount - self.fee
    }

    /// The exact status at `now`, whether or not the expiry was written yet.
    pub fn status_at(&self, now: Timestamp) -> Status {
        self.state.status_at(now, self.expires_at)
    }

    pub const fn paid_at(&self) -> Option<Timestamp> {
        match self.state {
            State::Paid { at } => Some(at),
            _ => None,
        }
    }

    /// The payment as it was when `event` happened, even if it has changed since.
    pub fn as_seen_by(self, event: &Event) -> Payment {
        let state = match event.news {
            News::PaymentPaid { paid_at, .. } => State::Paid { at: paid_at },
            News::PaymentFailed { .. } => State::Failed { at: event.created_at },
            News::ApiKeyDeleted { .. } => self.state,
        };
        Payment { state, ..self }
    }

    /// Money arrived. It pays the payment when it is exactly the amount and the customer paid in time, even when the
    /// provider's notification comes later.
    pub fn confirm(
        self,
        receipt: &Receipt,
        link: LinkClaim,
        settlement_delay: Duration,
    ) -> Result<Transition, Unapplied> {
        if receipt.amount != self.amount {
            return Err(Unapplied::WrongAmount);
        }
        let in_time = receipt.paid_at <= self.expires_at;
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

    /// A member decided that money held for this payment pays it, however late it came. It must still be the whole
    /// amount, and the payment or its link must not have been paid by other money.
    pub fn accept(
        self,
        receipt: &Receipt,
        link: LinkClaim,
        settlement_delay: Duration,
        now: Timestamp,
    ) -> Result<Transition, Unapplied> {
        if receipt.amount != self.amount {
            return Err(Unapplied::WrongAmount);
        }
        match self.state {
            State::Paid { .. } => Err(Unapplied::AlreadyPaid),
            _ if link == LinkClaim::Taken => Err(Unapplied::LinkClaimed),
            _ => {
                let (project_id, id, key) = (self.project_id, self.id, receipt.key.clone());
                let posting = Posting::accepted(project_id, id, key, self.amount, self.fee, now);
                Ok(self.paid(receipt, link, posting, settlement_delay))
            }
        }
    }

    fn paid_in_time(self, receipt: &Receipt, link: LinkClaim, settlement_delay: Duration) -> Transition {
        let posting = Posting::paid(self.project_id, self.id, self.amount, self.fee, receipt.received_at);
        self.paid(receipt, link, posting, settlement_delay)
    }

    fn paid(self, receipt: &Receipt, link: LinkClaim, posting: Posting, settlement_delay: Duration) -> Transition {
        let settles_at = (self.merchant_net() > Rupiah::ZERO).then(|| posting.at.plus(settlement_delay));
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

    /// The customer chose another method or other details, so a new payment replaces this one.
    pub fn replace(self, now: Timestamp) -> Result<Transition, NotMoved> {
        match self.status_at(now) {
            Status::Pending => Ok(self.moved(State::Cancelled { at: now }, None)),
            _ => Err(NotMoved::Final),
        }
    }

    /// Expires the payment before its time; only the sandbox's simulator does that. Its expiry moves to `now`, so that
    /// money after it is late.
    pub fn expire_now(self, now: Timestamp) -> Result<Payment, NotMoved> {
        match self.status_at(now) {
            Status::Pending => Ok(Payment { state: State::Expired, expires_at: now, ..self }),
            _ => Err(NotMoved::Final),
        }
    }

    fn moved(self, state: State, event: Option<OwedEvent>) -> Transition {
        Transition { payment: Payment { state, ..self }, posting: None, event, claims: None, settles_at: None }
    }
}

#[cfg(test)]
mod tests;
