//! An expired, failed or cancelled payment.

use askama::Template;
use i18n_embed_fl::fl;
use web::page::moment::Moment;

use super::{ended::Ended, frame::Frame};

/// The page of an expired, failed or cancelled payment. The bank may still confirm it late, so the page watches for changes.
#[derive(Template)]
#[template(path = "view/unpaid.html")]
pub(crate) struct Unpaid {
    pub(crate) frame: Frame,
    pub(crate) ended: Ended,
    pub(crate) why: UnpaidReason,
    pub(crate) expired_at: Moment,
    pub(crate) next: NextStep,
    pub(crate) status_url: String,
    pub(crate) events_url: String,
    /// In milliseconds of the server's clock.
    pub(crate) now_millis: i64,
}

/// What the customer can do after a payment that was not paid.
pub(crate) enum NextStep {
    /// Choose again: the link still takes payments.
    Again { url: String },
    /// Nothing: the link was paid by another payment.
    AlreadyPaid,
    /// Wait: another payment of the link is being processed.
    BeingPaid,
    /// Nothing: the merchant has cancelled the link.
    Withdrawn,
    /// Nothing that the page has not said already.
    Nothing,
    /// Ask the merchant for a new link.
    AskMerchant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnpaidReason {
    Expired,
    Failed,
    /// The customer replaced it by another payment.
    Replaced,
    /// The merchant cancelled its link.
    Withdrawn,
    /// Another payment has paid its link.
    Superseded,
    /// It was cancelled without any of these reasons being known.
    Cancelled,
}
