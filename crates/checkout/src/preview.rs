//! How chats show a link: Open Graph tags in the head of `/p/<link_id>`, and the picture that they name.
//!
//! Programs that make such previews have no cookies and often no language. They fetch the picture once, by an address that
//! changes with what is drawn. Drawing takes some milliseconds of one core, so few pictures are drawn at once, and the newest are
//! kept in memory.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Extension, Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{hex::hex, id::LinkId, language::Language, link::LinkStanding, project::Environment};
use engine::LinkPage;
use i18n_embed_fl::fl;
use sha2::{Digest, Sha256};
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};
use web::{
    App, Failure,
    page::{page_error::PageError, visitor::Visitor},
};

use crate::{
    chat_card::{self, Card},
    path_id::PathId,
    words::{code, words},
};

/// Pictures that are kept, and what they may take together. One takes about 30 KB.
const PICTURES_MOST: usize = 128;
const PICTURES_BYTES_MOST: usize = 8 * 1024 * 1024;
/// Pictures that are drawn at the same time, and how long others wait for their turn.
const DRAWN_AT_ONCE: usize = 2;
const TURN_PATIENCE: Duration = Duration::from_secs(5);
const RETRY_AFTER_SECONDS: u64 = 5;
/// How much of the hash tells two pictures apart.
const KEY_BYTES: usize = 16;
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
    let mut hash = Sha256::new();
    for part in [Some(shop), Some(title), amount.as_ref(), Some(note), stripe.as_ref()] {
        let part = part.map_or("", String::as_str);
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    hex(&hash.finalize()[..KEY_BYTES])
}

/// The pictures that were drawn last.
pub(crate) struct Pictures {
    kept: Mutex<Kept>,
    turns: Arc<Semaphore>,
}

/// Pictures by their keys, the oldest first.
#[derive(Default)]
struct Kept {
    pictures: VecDeque<(String, Bytes)>,
    bytes: usize,
}

impl Kept {
    fn get(&self, key: &str) -> Option<Bytes> {
        self.pictures.iter().find(|(known, _)| known == key).map(|(_, picture)| picture.clone())
    }

    fn add(&mut self, key: String, picture: Bytes) {
        self.bytes += picture.len();
        self.pictures.push_back((key, picture));
        while self.pictures.len() > PICTURES_MOST || self.bytes > PICTURES_BYTES_MOST {
            let Some((_, oldest)) = self.pictures.pop_front() else { return };
            self.bytes -= oldest.len();
        }
    }
}

impl Pictures {
    fn new() -> Pictures {
        Pictures { kept: Mutex::default(), turns: Arc::new(Semaphore::new(DRAWN_AT_ONCE)) }
    }

    fn kept(&self, key: &str) -> Option<Bytes> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(key)
    }

    /// The picture of a card, drawn now where it is not kept; none if too many are being drawn.
    async fn picture(&self, key: String, card: Card) -> Option<Bytes> {
        if let Some(picture) = self.kept(&key) {
            return Some(picture);
        }
        let turn = timeout(TURN_PATIENCE, self.turns.clone().acquire_owned()).await.ok()?.ok()?;
        // Another request may have drawn it meanwhile.
        if let Some(picture) = self.kept(&key) {
            return Some(picture);
        }
        // The task keeps its turn to its end, even when the request that started it is gone.
        let drawn = spawn_blocking(move || {
            let _turn = turn;
            Bytes::from(card.png())
        });
        let picture = drawn.await.ok()?;
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).add(key, picture.clone());
        Some(picture)
    }
}

pub(super) fn routes() -> Router<App> {
    Router::new().route("/p/{link}/preview.png", get(show)).layer(Extension(Arc::new(Pictures::new())))
}

/// GET `/p/<link_id>/preview.png`
async fn show(
    State(app): State<App>,
    Extension(pictures): Extension<Arc<Pictures>>,
    visitor: Visitor,
    headers: HeaderMap,
    id: Result<PathId<LinkId>, PageError>,
) -> Result<Response, PageError> {
    let PathId(id) = id?;
    let link_page = app.engine.link_page(id).await?;
    let card = card_of(asked_language(&visitor), &link_page);
    let key = key(&card);
    let etag = HeaderValue::try_from(format!("\"{key}\"")).unwrap_or(HeaderValue::from_static("\"\""));
    let known: [(HeaderName, HeaderValue); 2] = [(header::CACHE_CONTROL, CACHED), (header::ETAG, etag.clone())];
    if headers.get(header::IF_NONE_MATCH) == Some(&etag) {
        return Ok((StatusCode::NOT_MODIFIED, known).into_response());
    }
    let picture = pictures.picture(key, card).await;
    let picture = picture.ok_or(Failure::RateLimited { retry_after: RETRY_AFTER_SECONDS })?;
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("image/png"))];
    Ok((known, kind, picture).into_response())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_pictures_are_kept_within_both_limits() {
        let mut kept = Kept::default();
        let small = Bytes::from_static(b"x");
        for number in 0..=PICTURES_MOST {
            kept.add(number.to_string(), small.clone());
        }
        assert_eq!((kept.pictures.len(), kept.bytes), (PICTURES_MOST, PICTURES_MOST));
        assert!(kept.get("0").is_none() && kept.get("1").is_some());
        let large = Bytes::from(vec![0; PICTURES_BYTES_MOST / 2]);
        for number in 0..3 {
            kept.add(format!("large {number}"), large.clone());
        }
        assert!(kept.bytes <= PICTURES_BYTES_MOST && kept.get("large 2").is_some() && kept.get("large 0").is_none());
    }
}
