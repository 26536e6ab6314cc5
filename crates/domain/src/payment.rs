//! A payment and the only ways it changes. Each transition consumes the old state and returns all that it causes.

use std::time::Duration;

use crate::{
    event::{Event, EventKind, News},
    id::{LinkId, PaymentId, ProjectId},
    ledger::Posting,
    method::Method,
    money::Rupiah,
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
    /// Who pays and from where; direct payments know neither.
    pub checkout: Option<Checkout>,
    pub state: State,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub version: i64,
}

/// The state as it was last written. `Pending` past its expiry reads as expired: ask [`Payment::status_at`].
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
    /// The exact status at `now` of a payment in this state, whether or not anyone has written its expiry down.
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

/// How a payment stands with its link when money comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkClaim {
    /// A direct payment, or a link that takes many.
    NotNeeded,
    /// A single-use link that nobody has paid yet.
    Free(LinkId),
    /// A single-use link that another payment has claimed.
    Taken,
}

/// Everything one transition causes; it is committed as a whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The payment as it is from now on; its version is still the one it was read at.
    pub payment: Payment,
    pub posting: Option<Posting>,
    pub event: Option<EventKind>,
    /// The single-use link it claims; the link's other pending payments are cancelled with it.
    pub claims: Option<LinkId>,
    pub settles_at: Option<Timestamp>,
}

/// The payment does not take this news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotMoved {
    /// It has ended already.
    Final,
    /// It is in that state already.
    Already,
}

impl Payment {
    pub fn merchant_net(&self) -> Rupiah {
        self.amount - self.fee
    }

    /// The exact status at `now`, whether or not anyone has written the expiry down.
    pub fn status_at(&self, now: Timestamp) -> Status {
        self.state.status_at(now, self.expires_at)
    }

    pub const fn paid_at(&self) -> Option<Timestamp> {
        match self.state {
            State::Paid { at } => Some(at),
            _ => None,
        }
    }

    /// The payment as `event` saw it, whatever has become of it since.
    pub fn as_seen_by(self, event: &Event) -> Payment {
        let state = match event.news {
            News::PaymentPaid { paid_at, .. } => State::Paid { at: paid_at },
            News::PaymentFailed { .. } => State::Failed { at: event.created_at },
            News::ApiKeyDeleted { .. } => self.state,
        };
        Payment { state, ..self }
    }

    /// Money came. It pays when it is exactly the amount and came in time; a late notification of timely money pays too.
    pub fn confirm(self, receipt: &Receipt, link: LinkClaim, settlement_delay: Duration) -> Result<Step, Unapplied> {
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

    /// Somebody decided that money held for this payment pays it, whenever it came. It must still be all of it, and nothing
    /// else may have been paid instead.
    pub fn accept(
        self,
        receipt: &Receipt,
        link: LinkClaim,
        settlement_delay: Duration,
        now: Timestamp,
    ) -> Result<Step, Unapplied> {
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

    fn paid_in_time(self, receipt: &Receipt, link: LinkClaim, settlement_delay: Duration) -> Step {
        let posting = Posting::paid(self.project_id, self.id, self.amount, self.fee, receipt.received_at);
        self.paid(receipt, link, posting, settlement_delay)
    }

    fn paid(self, receipt: &Receipt, link: LinkClaim, posting: Posting, settlement_delay: Duration) -> Step {
        let settles_at = (self.merchant_net() > Rupiah::ZERO).then(|| posting.at.plus(settlement_delay));
        Step {
            posting: Some(posting),
            event: Some(EventKind::PaymentPaid),
            claims: match link {
                LinkClaim::Free(link_id) => Some(link_id),
                LinkClaim::NotNeeded | LinkClaim::Taken => None,
            },
            settles_at,
            payment: Payment { state: State::Paid { at: receipt.paid_at }, ..self },
        }
    }

    /// The provider has seen the payment but is not sure of it yet. From here on it does not expire.
    pub fn begin_processing(self, now: Timestamp) -> Result<Step, NotMoved> {
        match self.status_at(now) {
            Status::Pending => Ok(self.moved(State::Processing, None)),
            Status::Processing => Err(NotMoved::Already),
            _ => Err(NotMoved::Final),
        }
    }

    /// The provider refuses the payment.
    pub fn refuse(self, now: Timestamp) -> Result<Step, NotMoved> {
        match self.status_at(now) {
            Status::Pending | Status::Processing => {
                Ok(self.moved(State::Failed { at: now }, Some(EventKind::PaymentFailed)))
            }
            _ => Err(NotMoved::Final),
        }
    }

    /// The customer chose to pay in another way instead.
    pub fn give_way(self, now: Timestamp) -> Result<Step, NotMoved> {
        match self.status_at(now) {
            Status::Pending => Ok(self.moved(State::Cancelled { at: now }, None)),
            _ => Err(NotMoved::Final),
        }
    }

    /// Its time is over before it is, as only the sandbox can have it.
    pub fn lapse(self, now: Timestamp) -> Result<Step, NotMoved> {
        match self.status_at(now) {
            Status::Pending => Ok(self.moved(State::Expired, None)),
            _ => Err(NotMoved::Final),
        }
    }

    fn moved(self, state: State, event: Option<EventKind>) -> Step {
        Step { payment: Payment { state, ..self }, posting: None, event, claims: None, settles_at: None }
    }
}

#[cfg(test)]
mod tests;
