//! `/docs/<guide>` and `/docs/id/<guide>`: one guide. Its page is the same for everybody who reads in one language, so it is rendered
//! and compressed once.

use std::sync::{Arc, OnceLock};

use askama::Template;
use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, HeaderValue},
    response::Response,
};
use domain::language::Language;
use i18n_embed_fl::fl;
use web::{
    App, Failure,
    page::{
        page_error::PageError,
        render::{other_language, stored_page},
        visitor::Visitor,
    },
    stored_file::StoredFile,
};

use crate::{
    frame::Frame,
    guides::{self, Guide},
    section::Heading,
    words::code,
};

/// Browsers ask each time whether the page is still the same: it changes with the program and with the visitor's language.
const REVALIDATED: HeaderValue = HeaderValue::from_static("private, no-cache");
/// A page with fewer headings needs no list of them.
const LISTED_HEADINGS_LEAST: usize = 3;

/// The rendered pages of all guides, in both languages of what stands around them.
#[derive(Default)]
pub(crate) struct GuidePages(OnceLock<Vec<[OnceLock<StoredFile>; 2]>>);

#[derive(Template)]
#[template(path = "guide.html")]
struct GuideView<'a> {
    frame: Frame,
    guide: &'a Guide,
    /// The language of the guide; none where it is that of the page.
    lang: Option<&'static str>,
    /// The same guide in the visitor's language, where this one is not.
    translation_url: Option<String>,
    headings: Vec<&'a Heading>,
    previous: Option<Neighbour>,
    next: Option<Neighbour>,
}

/// The guide before or after this one.
struct Neighbour {
    url: String,
    title: String,
    lang: Option<&'static str>,
}

pub(crate) async fn show(
    State(app): State<App>,
    Extension(pages): Extension<Arc<GuidePages>>,
    visitor: Visitor,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let (number, guide) = guides::at(&visitor.path).ok_or(Failure::NoSuchPath)?;
    let page = pages.get(number, visitor.language, || stored_page(&view(&app, &visitor, guide)))?;
    Ok(page.answer(&headers, REVALIDATED))
}

impl GuidePages {
    fn get(
        &self,
        number: usize,
        language: Language,
        render: impl FnOnce() -> Result<StoredFile, PageError>,
    ) -> Result<&StoredFile, PageError> {
        let all = self.0.get_or_init(|| guides::all().iter().map(|_| Default::default()).collect());
        let page = &all[number][usize::from(language == Language::English)];
        if let Some(made) = page.get() {
            return Ok(made);
        }
        let made = render()?;
        Ok(page.get_or_init(|| made))
    }
}

fn view<'a>(app: &App, visitor: &Visitor, guide: &'a Guide) -> GuideView<'a> {
    let (urls, language) = (&app.settings.urls, visitor.language);
    let entries: Vec<&guides::Entry> = guides::groups().iter().flat_map(|(_, entries)| entries).collect();
    let place = entries.iter().position(|entry| entry.guides().any(|one| one.path == guide.path)).unwrap_or_default();
    let translation = |wanted| entries[place].guides().find(|one| one.language == wanted && one.path != guide.path);
    let neighbour = |place: Option<usize>| {
        let guide = entries.get(place?)?.in_language(language);
        let lang = (guide.language != language).then(|| code(guide.language));
        Some(Neighbour { url: urls.url(&guide.path), title: guide.title.clone(), lang })
    };
    let other = other_language(language);
    // Without the query of this request, since the page is rendered once for all. Where the guide exists in the other language,
    // the switch leads there.
    let switched = translation(other).map_or(&guide.path, |translation| &translation.path);
    let switch_url = urls.url(format_args!("{switched}?lang={}", code(other)));
    let top: Vec<&Heading> = guide.headings().filter(|heading| heading.level == 2).collect();
    GuideView {
        frame: Frame { switch_url, ..Frame::of_docs(app, visitor) },
        lang: (guide.language != language).then(|| code(guide.language)),
        translation_url: translation(language).map(|translation| urls.url(&translation.path)),
        headings: if top.len() < LISTED_HEADINGS_LEAST { Vec::new() } else { top },
        previous: neighbour(place.checked_sub(1)),
        next: neighbour(Some(place + 1)),
        guide,
    }
}
