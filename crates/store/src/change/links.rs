//! Writes about payment links.

use domain::{
    id::{LinkId, PaymentId},
    link::Link,
    time::Timestamp,
};

pub enum LinkWrite {
    Created {
        link: Link,
    },
    /// Guarded: the link has the version that was read.
    Cancelled {
        id: LinkId,
        at: Timestamp,
        version: i64,
    },
    /// A customer starts a payment. Guarded: the link still takes payments. It also changes the link's version, so that
    /// the link cannot be cancelled at the same time without cancelling this payment too.
    Attempted {
        id: LinkId,
    },
    /// A confirmed payment claims a single-use link. Guarded: no other payment has claimed it.
    Claimed {
        id: LinkId,
        payment_id: PaymentId,
    },
}

impl LinkWrite {
    pub(super) fn link_to_lock(&self) -> Option<LinkId> {
        match self {
            LinkWrite::Created { .. } => None,
            LinkWrite::Cancelled { id, .. } | LinkWrite::Attempted { id } | LinkWrite::Claimed { id, .. } => Some(*id),
        }
    }
}
