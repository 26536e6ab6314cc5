//! The receipt.

use askama::Template;
use i18n_embed_fl::fl;
use web::page::moment::Moment;

use super::{ended::Ended, frame::Frame};

#[derive(Template)]
#[template(path = "view/paid.html")]
pub(crate) struct Paid {
    pub(crate) frame: Frame,
    pub(crate) ended: Ended,
    /// What paid it, where that is another amount than the bill.
    pub(crate) received: Option<String>,
    pub(crate) paid_at: Moment,
    /// The page on which the customer of a link for many payments pays once more.
    pub(crate) again_url: Option<String>,
    /// The receipt for counter printers.
    pub(crate) slip_url: String,
    /// How it prints.
    pub(crate) style_url: String,
}
