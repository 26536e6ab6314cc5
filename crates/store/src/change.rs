//! A change: plain data that says what is to be true from now on, all of it or nothing.

use domain::{
    access::Role,
    api_key::{ApiKey, KeyHash},
    audit::AuditLine,
    delivery::{Attempt, Delivery},
    event::Event,
    id::{EventId, InviteId, KeyId, LinkId, PaymentId, ProjectId, SessionId, UserId},
    idempotency::Idempotency,
    ledger::Posting,
    link::Link,
    money::Rupiah,
    payment::{Payment, State},
    project::Project,
    receipt::{Decision, ReceiptKey, Unapplied},
    time::Timestamp,
    user::{Invite, Session, TokenHash, User},
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
    /// The secret that was in use stays valid beside the new one for a while. Guarded by its being the one in use, so that two
    /// rotations at once are not two in a row, of which the first would be forgotten.
    WebhookSecretRotated {
        project_id: ProjectId,
        replaced: Vec<u8>,
        sealed: Vec<u8>,
        at: Timestamp,
    },
    /// Notes that the project has `position` payments up to and including this one, and what they add up to.
    PaymentMark {
        project_id: ProjectId,
        id: PaymentId,
        position: i64,
        amount: Rupiah,
    },
    /// Makes the next references searchable, `most` of them, of payments made before `until`.
    SearchExtended {
        until: PaymentId,
        most: i64,
    },
    /// With the hash of a password, in the form in which those are written; guarded by the address being free.
    User {
        user: User,
        password: String,
    },
    PasswordChanged {
        user_id: UserId,
        password: String,
    },
    /// Changes nothing. Guarded by the password being hashed to that still, and nobody changes it before all of this is committed.
    PasswordStands {
        user_id: UserId,
        password: String,
    },
    OperatorSet {
        user_id: UserId,
        is_operator: bool,
    },
    /// Guarded by not being a member yet.
    Member {
        project_id: ProjectId,
        user_id: UserId,
        role: Role,
        at: Timestamp,
    },
    /// Guarded by being a member, and by an owner remaining.
    RoleChanged {
        project_id: ProjectId,
        user_id: UserId,
        role: Role,
    },
    /// Guarded like a change of the role. Invitations of theirs to the same project that are still open go with it.
    MemberRemoved {
        project_id: ProjectId,
        user_id: UserId,
    },
    Session {
        session: Session,
        hash: TokenHash,
    },
    /// Never backwards.
    SessionSeen {
        id: SessionId,
        at: Timestamp,
    },
    /// Guarded by being there and that user's.
    SessionEnded {
        id: SessionId,
        user_id: UserId,
    },
    /// All of a user's sessions, but for the one that asks for it.
    SessionsEnded {
        user_id: UserId,
        but: Option<SessionId>,
    },
    /// Forgets sessions, and failed attempts to sign in, from before an instant that ended all of them; `most` of each.
    SessionsForgotten {
        created_before: Timestamp,
        most: i64,
    },
    Invite {
        invite: Invite,
        hash: TokenHash,
    },
    /// Guarded by being unused and in time.
    InviteUsed {
        id: InviteId,
        user_id: UserId,
        at: Timestamp,
    },
    /// Guarded by being unused.
    InviteWithdrawn {
        id: InviteId,
        project_id: ProjectId,
    },
    /// Somebody is about to prove who they are. It counts as failed until it is forgiven; guarded by not having to wait. Where a
    /// change has several, accounts come before addresses.
    SignInTried {
        subject: String,
        at: Timestamp,
    },
    /// They were who they said: nothing is held against the account any more, nor this attempt against the address, if it was
    /// counted there.
    SignInForgiven {
        account: String,
        address: Option<String>,
        at: Timestamp,
    },
    Audit(AuditLine),
    /// Guarded by nobody having decided before, and by its being unapplied money of that project.
    ReceiptDecided {
        key: ReceiptKey,
        project_id: ProjectId,
        decision: Decision,
        note: String,
        at: Timestamp,
    },
    /// A customer's browser has shown the payment's page; only the first time counts.
    PaymentViewed {
        payment_id: PaymentId,
        project_id: ProjectId,
        at: Timestamp,
    },
    /// Never backwards.
    KeyUsed {
        key_id: KeyId,
        project_id: ProjectId,
        at: Timestamp,
    },
    /// What was paid in an hour that is over. All hours before the latest one that is noted count as noted too, and as empty where
    /// they are not.
    Volume {
        project_id: ProjectId,
        hour: i64,
        payments: i64,
        amount: Rupiah,
    },
}
