//! What the pages of payments that are no longer pending share.

use super::order::{Order, Unapplied};

/// What the pages of payments that are no longer pending share.
pub(crate) struct Ended {
    pub(crate) order: Order,
    pub(crate) unapplied: Vec<Unapplied>,
    pub(crate) payment_id: String,
    /// `QRIS`, or the bank's name.
    pub(crate) method: String,
    pub(crate) back: Option<Back>,
}

/// The way back to the merchant's own site.
pub(crate) struct Back {
    pub(crate) url: String,
    /// Only a paid payment's page leaves by itself.
    pub(crate) leaves: Option<Leaves>,
}

/// When a page leaves by itself: when it has seen the payment become paid, or right after that.
pub(crate) struct Leaves {
    /// Whether the payment was paid a moment ago, so that this is no old receipt.
    pub(crate) is_fresh: bool,
    pub(crate) script_url: String,
}
