//! `/dashboard/<project>/links/<link>/poster`: a link as a sheet of paper, to print and to stand on a counter.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    face::{Contact, Palette},
    id::LinkId,
    link::{Link, LinkStatus},
    pricing::Pricing,
};
use engine::Error;
use i18n_embed_fl::fl;
use picture::qr_image::{self, QrPath};
use web::{
    App,
    page::{assets::Asset, page_error::PageError, render::other_language},
};

use super::terms::checkout_url;
use crate::{
    logo::ShownLogo,
    page::Page,
    session::LastId,
    shell::SCRIPT,
    words::{self, Words},
};

/// The style sheets of posters. Each has its size of paper, which a style sheet can say only for the whole document.
pub(crate) static POSTER_A6: Asset = Asset::style(
    "poster-a6",
    &[include_str!("../../assets/poster.css"), "@page { size: 105mm 148mm; margin: 0; } :root { --paper-unit: 1mm; }"],
);
pub(crate) static POSTER_A4: Asset = Asset::style(
    "poster-a4",
    &[include_str!("../../assets/poster.css"), "@page { size: 210mm 297mm; margin: 0; } :root { --paper-unit: 2mm; }"],
);

/// A link as a sheet of paper.
#[derive(Template)]
#[template(path = "links/poster.html")]
pub(crate) struct Poster {
    pub(crate) words: Words,
    /// The other language, which one line of the poster is in.
    pub(crate) other_words: Words,
    pub(crate) language: &'static str,
    pub(crate) other_language: &'static str,
    pub(crate) style_url: String,
    pub(crate) script_url: String,
    pub(crate) back_url: String,
    pub(crate) sizes: Vec<SizeChoice>,
    pub(crate) switch_url: String,
    pub(crate) shop: String,
    pub(crate) logo: Option<ShownLogo>,
    /// The shop's colour; none where it has none of its own.
    pub(crate) colour: Option<String>,
    /// Ways to reach the shop, in one line.
    pub(crate) contacts: String,
    pub(crate) title: String,
    /// None where customers choose the amount.
    pub(crate) amount: Option<String>,
    /// The address in the QR code, without `https://`.
    pub(crate) address: String,
    pub(crate) qr: QrPath,
    /// Whether the link cannot be paid, so that printing it makes no sense.
    pub(crate) closed: bool,
}

/// A size of paper.
pub(crate) struct SizeChoice {
    pub(crate) name: &'static str,
    pub(crate) url: String,
    pub(crate) current: bool,
}

/// The sizes of paper that there are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    A6,
    A4,
}

impl Size {
    const ALL: [Size; 2] = [Size::A6, Size::A4];

    const fn word(self) -> &'static str {
        match self {
            Size::A6 => "a6",
            Size::A4 => "a4",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Size::A6 => "A6",
            Size::A4 => "A4",
        }
    }

    fn style(self) -> &'static Asset {
        match self {
            Size::A6 => &POSTER_A6,
            Size::A4 => &POSTER_A4,
        }
    }

    /// The size that the address asks for, the small one where it asks for none.
    fn asked_for(page: &Page) -> Result<Size, Error> {
        let asked = page.visitor.query.text("size").map_err(|_| Error::NotFound("size"))?;
        let known = |word: &str| Size::ALL.into_iter().find(|size| size.word() == word);
        asked.map_or(Ok(Size::A6), |word| known(word).ok_or(Error::NotFound("size")))
    }
}

pub(super) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/links/{link}/poster", get(show))
}

/// What one piece or the whole costs; none where customers choose the amount.
fn poster_amount(link: &Link) -> Option<String> {
    match link.pricing {
        Pricing::Fixed | Pricing::PerPiece { .. } => Some(link.amount.to_string()),
        Pricing::Open { .. } => None,
    }
}

async fn show(page: Page, LastId(id): LastId<LinkId>) -> Result<Response, PageError> {
    let size = Size::asked_for(&page)?;
    let link = page.desk.link(id).await?;
    let (language, other) = (page.language(), other_language(page.language()));
    let url = checkout_url(&page, id);
    let poster_url = format!("{}/links/{id}/poster", page.base());
    let sizes = Size::ALL.map(|one| SizeChoice {
        name: one.name(),
        url: format!("{poster_url}?size={}", one.word()),
        current: one == size,
    });
    let face = &page.project().face;
    let is_active = link.status_at(page.now(), page.project()) == LinkStatus::Active;
    let view = Poster {
        words: page.words(),
        other_words: words::words(other),
        language: words::code(language),
        other_language: words::code(other),
        style_url: page.url(size.style().path()),
        script_url: page.url(SCRIPT.path()),
        back_url: format!("{}/links/{id}", page.base()),
        sizes: sizes.into(),
        switch_url: page.switch_url(),
        shop: page.project().merchant.name.clone(),
        logo: ShownLogo::of(&page),
        colour: face.colour.map(|colour| Palette::of(colour).light.accent.to_string()),
        contacts: face.contacts.ways().map(Contact::text).collect::<Vec<_>>().join(" · "),
        amount: poster_amount(&link),
        address: url.split_once("://").map_or(url.as_str(), |(_, address)| address).to_owned(),
        qr: qr_image::path(&url).map_err(|_| Error::NotFound("QR code"))?,
        closed: !is_active || link.claimed_by.is_some(),
        title: link.title,
    };
    Ok(page.render(StatusCode::OK, &view))
}
