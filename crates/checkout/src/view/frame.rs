//! What surrounds the content of every page.

use crate::{preview::Preview, words::Words};

/// What surrounds the content of every page: header, language switch and footer.
pub(crate) struct Frame {
    pub(crate) words: Words,
    /// `id` or `en`.
    pub(crate) language: &'static str,
    /// This same page in the other language.
    pub(crate) switch_url: String,
    pub(crate) style_url: String,
    pub(crate) script_url: String,
    /// Why no money moves; none where it is real.
    pub(crate) stripe: Option<Stripe>,
    /// The merchant's name; none where it is not known, as on error pages.
    pub(crate) merchant: Option<String>,
    /// What the merchant's pages show besides its name.
    pub(crate) face: ShopFace,
    /// How chats show the page; only links have that.
    pub(crate) preview: Option<Preview>,
    /// None where the page is not shown in a shop's page.
    pub(crate) framed: Option<Framed>,
}

/// A shop's face; nothing where the merchant has given none, or is not known.
#[derive(Default)]
pub(crate) struct ShopFace {
    pub(crate) logo: Option<FrameLogo>,
    /// A style sheet with the shop's colour.
    pub(crate) style_url: Option<String>,
    /// Ways to reach the merchant; the first is the one to offer where there is room for one.
    pub(crate) contacts: Vec<ContactLink>,
}

/// A logo, and its size in pixels.
pub(crate) struct FrameLogo {
    pub(crate) url: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// How the customer reaches the merchant.
pub(crate) struct ContactLink {
    pub(crate) url: String,
    pub(crate) way: ContactWay,
    /// What can be read and dialled on paper.
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContactWay {
    WhatsApp,
    Phone,
    Email,
    Site,
}

/// The frame in a shop's page that shows a page.
pub(crate) struct Framed {
    /// The origin of the shop's page.
    pub(crate) origin: String,
    pub(crate) script_url: String,
    /// None while there is no payment.
    pub(crate) payment: Option<FramedPayment>,
}

/// What the shop's page is told of the payment.
pub(crate) struct FramedPayment {
    pub(crate) id: String,
    pub(crate) reference: String,
    /// A status of the API.
    pub(crate) status: &'static str,
}

/// Why no money moves on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stripe {
    /// The project is a sandbox.
    Sandbox,
    /// The installation is for development, so the bank is not a real one.
    Rehearsal,
}
