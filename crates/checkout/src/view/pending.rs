//! What the pages of payments that can be paid share.

use web::page::moment::Moment;

use super::order::{Looked, Order, Unapplied};

/// What the pages of pending QRIS and virtual account payments share.
pub(crate) struct Pending {
    pub(crate) order: Order,
    pub(crate) unapplied: Vec<Unapplied>,
    pub(crate) payment_id: String,
    pub(crate) deadline: Moment,
    /// Both in milliseconds of the server's clock, so that the countdown does not depend on the phone's clock.
    pub(crate) expires_at_millis: i64,
    pub(crate) now_millis: i64,
    /// This page itself: the link "Check status" reloads it without script.
    pub(crate) page_url: String,
    /// Answers `{"status": "pending"}`, for polling.
    pub(crate) status_url: String,
    /// Sends the status as server-sent events.
    pub(crate) events_url: String,
    pub(crate) change: Change,
    pub(crate) looked: Looked,
    /// The target of the sandbox panel's form; none in production.
    pub(crate) simulate_url: Option<String>,
}

/// Whether the customer may change the payment method.
pub(crate) enum Change {
    Allowed {
        url: String,
    },
    /// The merchant chose the method: the payment is direct, or its link offers no other.
    NotAllowed,
    /// Another payment of the same link is being processed, so the customer should not pay this one.
    BeingPaid,
    /// The link takes no new payments at the moment.
    Closed,
}
