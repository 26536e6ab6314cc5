//! A payment that the bank has not confirmed yet.

use askama::Template;
use i18n_embed_fl::fl;

use super::{ended::Ended, frame::Frame, order::Looked};

/// The page of a payment that the bank has not confirmed yet. It watches for changes.
#[derive(Template)]
#[template(path = "view/processing.html")]
pub(crate) struct Processing {
    pub(crate) frame: Frame,
    pub(crate) ended: Ended,
    pub(crate) page_url: String,
    pub(crate) status_url: String,
    pub(crate) events_url: String,
    /// In milliseconds of the server's clock.
    pub(crate) now_millis: i64,
    pub(crate) looked: Looked,
    pub(crate) simulate_url: Option<String>,
}
