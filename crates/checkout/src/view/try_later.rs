//! A link that has no room for another attempt at the moment.

use askama::Template;
use i18n_embed_fl::fl;
use web::page::moment::Moment;

use super::{frame::Frame, order::Order};

/// `/p/<link_id>` after an attempt for which the link has no room at the moment.
#[derive(Template)]
#[template(path = "view/try_later.html")]
pub(crate) struct TryLater {
    pub(crate) frame: Frame,
    pub(crate) order: Order,
    /// When there may be room again.
    pub(crate) until: Moment,
    /// The link's page.
    pub(crate) url: String,
    /// The request's id, which the customer gives to support.
    pub(crate) support_reference: Option<String>,
}
