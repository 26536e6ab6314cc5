//! A change: plain data that says what is to be true from now on, all of it or nothing.

use domain::{
    api_key::{ApiKey, KeyHash},
    delivery::{Attempt, Delivery},
    event::Event,
    id::{EventId, KeyId, LinkId, PaymentId, ProjectId},
    idempotency::Idempotency,
    ledger::Posting,
    link::Link,
    money::Rupiah,
    payment::{Payment, State},
    project::Project,
    receipt::{ReceiptKey, Unapplied},
    time::Timestamp,
};

/// Writes that are committed together, in this order.
#[derive(Default)]
pub struct Change {
    pub(crate) writes: Vec<Write>,
}

impl Change {
    #[must_use]
    pub fn with(mut self, write: Write) -> Change {
        self.writes.push(write);
        self
    }

    #[must_use]
    pub fn with_all(mut self, writes: impl IntoIterator<Item = Write>) -> Change {
        self.writes.extend(writes);
        self
    }

    /// Whether someone may wait for it: whoever sends webhooks, or a page that shows a payment.
    pub(crate) fn is_awaited(&self) -> bool {
        self.writes.iter().any(|write| {
            matches!(
                write,
                Write::PaymentMoved { .. }
                    | Write::PendingCancelled { .. }
                    | Write::Event(_)
                    | Write::Resent { .. }
                    | Write::Recovered { .. }
            )
        })
    }
}

impl From<Write> for Change {
    fn from(write: Write) -> Change {
        Change::default().with(write)
    }
}

/// A provider's notification as it is remembered.
pub struct ReceiptNote {
    pub key: ReceiptKey,
    pub project_id: ProjectId,
    pub payment_id: PaymentId,
    pub received_at: Timestamp,
    pub noted: Noted,
}

/// What a notification said and what became of it.
pub enum Noted {
    Money { amount: Rupiah, paid_at: Timestamp, unapplied: Option<Unapplied> },
    Refusal,
    Progress,
}

pub enum Write {
    Installation {
        name: &'static str,
        value: String,
    },
    Project {
        project: Project,
        sealed_webhook_secret: Vec<u8>,
    },
    /// Everything about a project but its origins and its secret, if it is still at the version it was read at.
    ProjectChanged {
        project: Project,
    },
    /// These and no other origins.
    AllowedOrigins {
        project_id: ProjectId,
        origins: Vec<String>,
    },
    ApiKey {
        key: ApiKey,
        hash: KeyHash,
    },
    ApiKeyRevoked {
        id: KeyId,
        project_id: ProjectId,
        at: Timestamp,
    },
    /// Binds an Idempotency-Key to the resource it made; guarded by the key being unused.
    Bind {
        idempotency: Idempotency,
        resource: String,
    },
    Link {
        link: Link,
    },
    LinkCancelled {
        id: LinkId,
        at: Timestamp,
        version: i64,
    },
    /// An attempt begins: the link must be open, and nobody may cancel it unaware of the attempt.
    LinkAttempted {
        id: LinkId,
    },
    /// The first confirmed payment claims a single-use link.
    LinkClaimed {
        id: LinkId,
        payment_id: PaymentId,
    },
    /// Cancels every pending payment of a link that has not expired, but for the one that claims it.
    PendingCancelled {
        link_id: LinkId,
        but: Option<PaymentId>,
        at: Timestamp,
    },
    Payment {
        payment: Payment,
    },
    /// A new state, if the payment is still at the version it was read at.
    PaymentMoved {
        id: PaymentId,
        version: i64,
        state: State,
        settles_at: Option<Timestamp>,
        link_id: Option<LinkId>,
    },
    /// Writes down the expiry of pending payments whose time is over, at most `most` of them.
    PendingExpired {
        now: Timestamp,
        most: i64,
    },
    Receipt(ReceiptNote),
    Posting(Posting),
    /// The payment's net has moved; guarded by not having moved before.
    Settled {
        payment_id: PaymentId,
    },
    /// With its delivery, where the project has a webhook URL at that moment.
    Event(Event),
    /// Moves the time at which a delivery is due, to lease it or to give a lease back; guarded by the time it had.
    DeliveryMoved {
        event_id: EventId,
        from: Timestamp,
        to: Timestamp,
    },
    /// Notes an attempt and what it made of its delivery; guarded by the lease it was made under, so by nobody having taken
    /// that over, and nobody having sent it by hand.
    Attempted {
        leased_until: Timestamp,
        delivery: Delivery,
        attempt: Attempt,
    },
    /// Makes a delivery due as if it were new, whatever has become of it.
    Resent {
        event_id: EventId,
        project_id: ProjectId,
        at: Timestamp,
    },
    /// The same for those that have failed of a project's deliveries, of events from `since` on; `most` of them.
    Recovered {
        project_id: ProjectId,
        since: Timestamp,
        at: Timestamp,
        most: i64,
    },
    /// The secret that was in use stays valid beside the new one for a while.
    WebhookSecretRotated {
        project_id: ProjectId,
        sealed: Vec<u8>,
        at: Timestamp,
    },
    /// Notes that the project has `position` payments up to and including this one.
    PaymentMark {
        project_id: ProjectId,
        id: PaymentId,
        position: i64,
    },
    /// Makes the next references searchable, `most` of them, of payments made before `until`.
    SearchExtended {
        until: PaymentId,
        most: i64,
    },
}
