//! Writes about payment links.

use std::time::Duration;

use domain::{
    id::{LinkId, PaymentId, ProjectId},
    link::Link,
    link_edit::LinkTerms,
    time::Timestamp,
};

pub enum LinkWrite {
    Created {
        link: Link,
    },
    /// Guarded: the link is not cancelled, and at `at` it is not past its expiry. How often it was attempted meanwhile
    /// does not matter.
    Cancelled {
        id: LinkId,
        at: Timestamp,
    },
    /// Guarded: the link has the terms `from`, at `at` it is neither cancelled nor past its expiry, no payment of it is paid, and
    /// none was made after its new expiry.
    Edited {
        id: LinkId,
        reference: String,
        from: LinkTerms,
        to: LinkTerms,
        at: Timestamp,
    },
    /// A customer starts a payment. Guarded: at `at` the link takes payments, and there is room within the bounds. It
    /// raises the link's version, which orders the link's attempts.
    Attempted {
        id: LinkId,
        at: Timestamp,
        bounds: AttemptBounds,
    },
    /// The payment that a customer started, which comes after [`LinkWrite::Attempted`] in the same change.
    AttemptRecorded(LinkAttempt),
    /// A confirmed payment claims a single-use link. Guarded: no other payment has claimed it.
    Claimed {
        id: LinkId,
        payment_id: PaymentId,
    },
}

/// How many attempts a link takes.
#[derive(Clone, Debug)]
pub struct AttemptBounds {
    /// How many payments of the link may be pending, the new one included.
    pub pending_most: i64,
    /// None where attempts are not counted by where they come from.
    pub network: Option<NetworkBound>,
}

/// How many attempts on a link may come from one network, the new one included.
#[derive(Clone, Debug)]
pub struct NetworkBound {
    pub network: String,
    pub most: i64,
    pub window: Duration,
}

/// A payment that a customer started through a link.
#[derive(Clone, Debug)]
pub struct LinkAttempt {
    pub link_id: LinkId,
    pub payment_id: PaymentId,
    pub project_id: ProjectId,
    /// Who made it: an attempt of the same visitor replaces their pending payment.
    pub visitor: Option<String>,
    /// Where it came from, if attempts are counted by that.
    pub network: Option<String>,
    /// The payment's `created_at`.
    pub at: Timestamp,
}

impl LinkWrite {
    pub(super) fn link_to_lock(&self) -> Option<LinkId> {
        match self {
            LinkWrite::Created { .. } => None,
            LinkWrite::Cancelled { id, .. }
            | LinkWrite::Edited { id, .. }
            | LinkWrite::Attempted { id, .. }
            | LinkWrite::Claimed { id, .. } => Some(*id),
            LinkWrite::AttemptRecorded(attempt) => Some(attempt.link_id),
        }
    }
}
