//! What the pages of payments that are no longer pending share.

use web::page::moment::Moment;

use super::order::{Order, Unapplied};

/// What the pages of payments that are no longer pending share.
pub(crate) struct Ended {
    pub(crate) order: Order,
    pub(crate) unapplied: Vec<Unapplied>,
    /// What was given back, or is on its way, the earliest first.
    pub(crate) refunds: Vec<RefundLine>,
    pub(crate) payment_id: String,
    /// `QRIS`, or the bank's name.
    pub(crate) method: String,
    pub(crate) back: Option<Back>,
}

/// Money of a payment that goes back to the customer.
pub(crate) struct RefundLine {
    /// `Rp150.000`.
    pub(crate) amount: String,
    pub(crate) standing: RefundStanding,
}

pub(crate) enum RefundStanding {
    Succeeded {
        at: Moment,
    },
    OnItsWay,
    /// The customer must name a bank account, by a link that the merchant sends.
    NeedsAccount,
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
