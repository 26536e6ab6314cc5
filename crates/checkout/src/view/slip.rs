//! The receipt on a strip of paper.

use askama::Template;
use i18n_embed_fl::fl;
use web::page::moment::Moment;

use super::{ended::Ended, frame::Frame};

/// `/pay/<payment_id>?print=80mm`: the receipt on a strip of paper.
#[derive(Template)]
#[template(path = "view/slip.html")]
pub(crate) struct Slip {
    pub(crate) frame: Frame,
    pub(crate) ended: Ended,
    /// What paid it, where that is another amount than the bill.
    pub(crate) received: Option<String>,
    pub(crate) paid_at: Moment,
    pub(crate) style_url: String,
    /// The usual receipt.
    pub(crate) page_url: String,
}
