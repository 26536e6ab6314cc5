//! How chats show a link: Open Graph tags in the head of `/p/<link_id>`, and the picture that they name.
//!
//! Programs that make such previews have no cookies and often no language. They fetch the picture once, by an address that
//! changes with what is drawn.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, HeaderValue, Method},
    response::Response,
};
use domain::{id::LinkId, language::Language, link::LinkStanding, project::Environment};
use engine::LinkPage;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{page_error::PageError, visitor::Visitor},
};

use crate::{
    chat_card::{self, Card},
    path_id::PathId,
    pictures::{self, Pictures},
    words::{code, words},
};

/// A picture may show a link's old state this long.
const CACHED: HeaderValue = HeaderValue::from_static("public, max-age=600");
/// The parameter that names the picture's language. Not `lang`, which is remembered in a cookie.
const LANGUAGE: &str = "in";

/// The tags in the head of a link's page.
pub(crate) struct Preview {
    pub(crate) url: String,
    pub(crate) image_url: String,
    pub(crate) shop: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Preview {
    pub(crate) fn of(app: &App, language: Language, link_page: &LinkPage) -> Preview {
        let url = format!("{}/p/{}", app.settings.pages_url, link_page.link.id);
        let card = card_of(language, link_page);
        Preview {
            image_url: format!("{url}/preview.png?{LANGUAGE}={}&v={}", code(language), key(&card)),
            url,
            description: description(language, &card, link_page.standing),
            shop: card.shop,
            title: card.title,
            width: chat_card::WIDTH,
            height: chat_card::HEIGHT,
        }
    }
}

fn description(language: Language, card: &Card, standing: LinkStanding) -> String {
    let (words, shop) = (words(language), card.shop.as_str());
    match (&card.amount, standing) {
        (_, LinkStanding::Paid) => fl!(words, "preview-paid", shop = shop),
        (Some(amount), _) => fl!(words, "preview-pay", amount = amount.as_str(), shop = shop),
        (None, _) => fl!(words, "preview-closed"),
    }
}

/// What the picture of a link shows. A link that takes no payments any more names no amount.
fn card_of(language: Language, link_page: &LinkPage) -> Card {
    let (words, LinkPage { project, link, standing, .. }) = (words(language), link_page);
    let is_payable = matches!(standing, LinkStanding::Open | LinkStanding::Processing);
    let note = match standing {
        LinkStanding::Open | LinkStanding::Processing => fl!(words, "preview-how"),
        LinkStanding::Paid => fl!(words, "preview-paid-note"),
        LinkStanding::Cancelled | LinkStanding::Inactive => fl!(words, "preview-closed"),
    };
    let is_sandbox = project.environment == Environment::Sandbox;
    Card {
        shop: project.merchant.name.clone(),
        title: link.title.clone(),
        amount: is_payable.then(|| link.price_text()),
        note,
        stripe: is_sandbox.then(|| fl!(words, "sandbox-stripe")),
    }
}

/// Identifies a picture by what it shows.
fn key(card: &Card) -> String {
    let Card { shop, title, amount, note, stripe } = card;
    let [amount, stripe] = [amount, stripe].map(|text| text.as_deref().unwrap_or_default());
    pictures::key([shop.as_str(), title, amount, note, stripe])
}

/// GET `/p/<link_id>/preview.png`
pub(super) async fn show(
    State(app): State<App>,
    Extension(pictures): Extension<Arc<Pictures>>,
    visitor: Visitor,
    method: Method,
    headers: HeaderMap,
    id: Result<PathId<LinkId>, PageError>,
) -> Result<Response, PageError> {
    let PathId(id) = id?;
    let link_page = app.engine.link_page(id).await?;
    let card = card_of(asked_language(&visitor), &link_page);
    pictures.answer((&method, &headers), key(&card), CACHED, move || Some(card.png())).await
}

fn asked_language(visitor: &Visitor) -> Language {
    let asked = visitor.query.text(LANGUAGE).ok().flatten();
    let is_english = asked == Some(code(Language::English));
    if is_english { Language::English } else { Language::Indonesian }
}

#[cfg(test)]
impl Preview {
    /// The tags of a link whose texts are all `text`.
    pub(crate) fn sample(text: &str) -> Preview {
        let url = "https://lunas.example/p/pl_01kc2m8r5gfq9t3v7x1y4z6a8b";
        Preview {
            url: url.to_owned(),
            image_url: format!("{url}/preview.png?in=id&v=0123456789abcdef0123456789abcdef"),
            shop: text.to_owned(),
            title: text.to_owned(),
            description: text.to_owned(),
            width: chat_card::WIDTH,
            height: chat_card::HEIGHT,
        }
    }
}
