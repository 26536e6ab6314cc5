//! What has become of money that comes back.

use askama::Template;
use i18n_embed_fl::fl;
use web::page::moment::Moment;

use super::{
    claim::{AccountRow, Returning},
    frame::Frame,
    order::Looked,
};

/// `/r/<token>` once an account is named, or once none can be named by this link any more. It watches for changes.
#[derive(Template)]
#[template(path = "view/claim_status.html")]
pub(crate) struct ClaimStatus {
    pub(crate) frame: Frame,
    pub(crate) returning: Returning,
    pub(crate) standing: ClaimStanding,
    pub(crate) account: Option<AccountRow>,
    /// When it ended well.
    pub(crate) sent_at: Option<Moment>,
    /// How the bank names the transfer.
    pub(crate) bank_reference: Option<String>,
    /// Whether the visitor has just tried to name another account than the one that was named before.
    pub(crate) came_late: bool,
    pub(crate) page_url: String,
    pub(crate) status_url: String,
    /// In milliseconds of the server's clock.
    pub(crate) now_millis: i64,
    pub(crate) looked: Looked,
}

/// Where a refund stands, as far as its customer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimStanding {
    /// The account is still to be named, and the link is too old for that.
    Expired,
    /// The account is still to be named, and the link's form was sent too often.
    Exhausted,
    /// The merchant looks at it first.
    Checked,
    OnItsWay,
    Succeeded,
    Failed,
    Cancelled,
    /// The transfer was made, and has come back to the merchant.
    Returned,
}
