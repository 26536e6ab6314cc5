//! The ways to hand a link to customers.

use domain::link::Link;
use i18n_embed_fl::fl;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::terms::checkout_url;
use crate::page::Page;

/// WhatsApp opens the app, or its page, with this text and lets the merchant choose who gets it.
const WHATSAPP: &str = "https://wa.me/?text=";

/// What the buttons for sharing a link need.
pub(crate) struct Share {
    pub(crate) whatsapp_url: String,
    pub(crate) poster_url: String,
    pub(crate) title: String,
    /// What a chat says before the address.
    pub(crate) text: String,
}

impl Share {
    pub(super) fn of(page: &Page, link: &Link) -> Share {
        let (words, title, amount) = (page.words(), link.title.as_str(), link.price_text());
        let (text, url) = (fl!(words, "share-text", title = title, amount = amount), checkout_url(page, link.id));
        Share {
            whatsapp_url: format!("{WHATSAPP}{}", utf8_percent_encode(&format!("{text}\n{url}"), NON_ALPHANUMERIC)),
            poster_url: format!("{}/links/{}/poster", page.base(), link.id),
            title: link.title.clone(),
            text,
        }
    }
}
