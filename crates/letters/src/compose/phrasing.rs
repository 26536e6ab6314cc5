//! What several letters word in the same way: moments, where something was done from, roles, senders.

use domain::{access::Role, language::Language, time::Timestamp};
use i18n_embed_fl::fl;
use wording::{device, moment};

use crate::{
    content::Content,
    letter::{Face, Origin},
    shown::shown,
    words::{Words, words},
};

/// The name of the product, which signs the letters of the installation.
const PRODUCT: &str = "Lunas";

/// A language with its texts.
#[derive(Clone, Copy)]
pub(super) struct Phrasing {
    pub(super) words: Words,
    pub(super) language: Language,
}

impl Phrasing {
    pub(super) fn of(language: Language) -> Phrasing {
        Phrasing { words: words(language), language }
    }

    pub(super) fn moment(self, at: Timestamp) -> String {
        moment::moment(at, self.language).text
    }

    pub(super) fn day(self, at: Timestamp) -> String {
        moment::day(at, self.language)
    }

    pub(super) fn role(self, role: Role) -> String {
        match role {
            Role::Owner => fl!(self.words, "role-owner"),
            Role::Developer => fl!(self.words, "role-developer"),
            Role::Viewer => fl!(self.words, "role-viewer"),
            Role::Cashier => fl!(self.words, "role-cashier"),
        }
    }

    /// `Chrome · Android`, as far as the browser says.
    fn browser(self, user_agent: &str) -> String {
        let device = device::of(Some(user_agent));
        let known: Vec<String> = [device.browser, device.os].into_iter().flatten().collect();
        if known.is_empty() { fl!(self.words, "browser-unknown") } else { shown(&known.join(" · ")) }
    }

    /// Adds whose account it is, and when and from where something was done to it.
    pub(super) fn with_origin(self, content: Content, account: &str, origin: &Origin) -> Content {
        let words = self.words;
        let browser = origin.browser.as_deref().map(|browser| self.browser(browser));
        let content = content
            .fact(fl!(words, "fact-account"), shown(account))
            .fact(fl!(words, "fact-time"), self.moment(origin.at));
        match &origin.address {
            Some(address) => content.fact(fl!(words, "fact-address"), shown(address)),
            None => content.fact(fl!(words, "fact-from"), fl!(words, "from-server")),
        }
        .known_fact(fl!(words, "fact-browser"), browser)
    }
}

/// Who the letter comes from, at its top.
pub(crate) fn sender_name(face: &Face) -> String {
    face.shop.as_ref().map_or_else(|| PRODUCT.to_owned(), |shop| shown(&shop.name))
}

/// Who sends the letter and by which installation, at its end.
pub(crate) fn sender_line(words: Words, face: &Face) -> String {
    let host = shown(&face.host);
    match &face.shop {
        Some(shop) => fl!(words, "sender-shop", name = shown(&shop.name), host = host),
        None => fl!(words, "sender-installation", host = host),
    }
}
