//! A pending QRIS payment.

use askama::Template;
use i18n_embed_fl::fl;

use super::{
    frame::Frame,
    pending::{Change, Pending},
};

/// `/pay/<payment_id>` of a pending QRIS payment.
#[derive(Template)]
#[template(path = "view/qris.html")]
pub(crate) struct Qris {
    pub(crate) frame: Frame,
    pub(crate) pending: Pending,
    /// A PNG as a `data:` URI.
    pub(crate) image: String,
    /// A card with the same code, shop, amount and deadline, as a file to download.
    pub(crate) image_url: String,
    pub(crate) image_name: String,
}
