//! Writes about payments.

use domain::{
    id::{LinkId, PaymentId, ProjectId, UserId},
    payment::{Payment, State},
    time::Timestamp,
};

pub enum PaymentWrite {
    /// Guarded: no live payment has the same account number or payload.
    Created { payment: Payment },
    /// The same for a payment whose code a bank has issued: its expiry is written only after the bank was asked.
    CreatedAtBank { payment: Payment },
    /// Gives the payment a new state. Guarded: the payment has the version that was read.
    Moved { id: PaymentId, version: i64, state: State, settles_at: Option<Timestamp>, link_id: Option<LinkId> },
    /// Cancels every pending payment of a link that has not expired, except the one that claims the link. This and the next two
    /// also tell the projects that ask for it.
    PendingCancelled { link_id: LinkId, but: Option<PaymentId>, at: Timestamp },
    /// Cancels the pending payment of a visitor on a link, which a new attempt of theirs replaces. It is their latest:
    /// each of their attempts has replaced the one before it.
    VisitorReplaced { link_id: LinkId, visitor: String, at: Timestamp },
    /// Writes the expiry of pending payments whose time is over, at most `most` of them. Guarded: there is at least one
    /// that no other node is writing.
    PendingExpired { now: Timestamp, most: i64 },
    /// Expires the payment at `at`, before its time. Guarded: the payment has the version that was read.
    ExpiredEarly { id: PaymentId, version: i64, at: Timestamp },
    /// What was left of the payment's net was settled. Guarded: it was not settled before, and the payment has the version that
    /// was read.
    Settled { payment_id: PaymentId, version: i64 },
    /// A customer's browser has shown the payment's page; only the first time is stored.
    Viewed { payment_id: PaymentId, project_id: ProjectId, at: Timestamp },
    /// A member has made a payment at the counter: `resource` is its id, or that of the opening which leads to it.
    Sold { resource: String, project_id: ProjectId, user_id: UserId, at: Timestamp },
}

impl PaymentWrite {
    pub(super) fn is_awaited(&self) -> bool {
        match self {
            PaymentWrite::Moved { .. }
            | PaymentWrite::PendingCancelled { .. }
            | PaymentWrite::VisitorReplaced { .. }
            | PaymentWrite::PendingExpired { .. }
            | PaymentWrite::ExpiredEarly { .. } => true,
            PaymentWrite::Created { .. }
            | PaymentWrite::CreatedAtBank { .. }
            | PaymentWrite::Settled { .. }
            | PaymentWrite::Viewed { .. }
            | PaymentWrite::Sold { .. } => false,
        }
    }

    pub(super) fn is_frequent(&self) -> bool {
        match self {
            PaymentWrite::Created { payment } | PaymentWrite::CreatedAtBank { payment } => {
                payment.terms.checkout.is_none()
            }
            PaymentWrite::Moved { .. } | PaymentWrite::Settled { .. } => true,
            PaymentWrite::PendingCancelled { .. }
            | PaymentWrite::VisitorReplaced { .. }
            | PaymentWrite::PendingExpired { .. }
            | PaymentWrite::ExpiredEarly { .. }
            | PaymentWrite::Viewed { .. }
            | PaymentWrite::Sold { .. } => false,
        }
    }

    pub(super) fn link_to_lock(&self) -> Option<LinkId> {
        match self {
            PaymentWrite::PendingCancelled { link_id, .. } | PaymentWrite::VisitorReplaced { link_id, .. } => {
                Some(*link_id)
            }
            // While one payment of a single-use link is processing, no other may be started.
            PaymentWrite::Moved { link_id, state: State::Processing, .. } => *link_id,
            PaymentWrite::Moved { .. }
            | PaymentWrite::Created { .. }
            | PaymentWrite::CreatedAtBank { .. }
            | PaymentWrite::PendingExpired { .. }
            | PaymentWrite::ExpiredEarly { .. }
            | PaymentWrite::Settled { .. }
            | PaymentWrite::Viewed { .. }
            | PaymentWrite::Sold { .. } => None,
        }
    }
}
