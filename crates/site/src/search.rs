//! `/docs/search?q=`: looks for words in all guides and in the reference, on the server, so that it works without script.

use std::sync::{Arc, OnceLock};

use askama::Template;
use axum::{Extension, extract::State, http::StatusCode, response::Response};
use i18n_embed_fl::fl;
use web::{
    App, BlockingWork, Failure,
    page::{page_error::PageError, render::page, visitor::Visitor},
};

use crate::{
    document::Document,
    excerpt::{Piece, excerpt},
    frame::Frame,
    guides,
    ranking::{Library, RESULTS_MOST, SearchHit, terms},
    reference,
    section::Section,
    words::code,
};

/// A longer search is cut: nobody types that, and it is shown again on the page.
const QUERY_CHARACTERS: usize = 100;

/// Requests that wait until the index is made. Further ones are told to come back.
const WAITING_MOST: usize = 64;

/// Everything that searches look through. It is made when the first search comes, on a thread for that, since it takes some tens
/// of milliseconds.
pub(crate) struct Index {
    document: Document,
    library: OnceLock<Library>,
    making: BlockingWork,
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchView {
    frame: Frame,
    results: Vec<SearchResult>,
    /// Whether there may be more results than are shown.
    is_full: bool,
    list_url: String,
}

struct SearchResult {
    url: String,
    page_title: String,
    heading: Option<String>,
    pieces: Vec<Piece>,
    /// The language of the result; none where it is that of the page.
    lang: Option<&'static str>,
}

impl Index {
    pub(crate) fn of(document: Document) -> Index {
        Index { document, library: OnceLock::new(), making: BlockingWork::new(1, WAITING_MOST) }
    }

    async fn library(self: &Arc<Index>) -> Result<&Library, PageError> {
        if let Some(library) = self.library.get() {
            return Ok(library);
        }
        let turn = self.making.turn().await.map_err(Failure::from)?;
        let index = Arc::clone(self);
        let make = move || {
            index.library.get_or_init(|| Library::new(sections(index.document)));
        };
        turn.run(make).await.map_err(Failure::from)?;
        Ok(self.library.get().ok_or(Failure::Panicked)?)
    }
}

fn sections(document: Document) -> Vec<Section> {
    let guides = guides::groups().iter().flat_map(|(_, entries)| entries).flat_map(guides::Entry::guides);
    guides.flat_map(|guide| &guide.sections).cloned().chain(reference::sections(document)).collect()
}

pub(crate) async fn show(
    State(app): State<App>,
    Extension(index): Extension<Arc<Index>>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    // A search that is given more than once counts as none.
    let query = visitor.query.text("q").ok().flatten().unwrap_or_default();
    let query: String = query.trim().chars().filter(|one| !one.is_control()).take(QUERY_CHARACTERS).collect();
    let terms = terms(&query);
    let found = if terms.is_empty() { Vec::new() } else { index.library().await?.ranked(&terms, visitor.language) };
    let result = |one: &SearchHit<'_>| {
        let section = one.section;
        let anchor = section.heading.as_ref().map(|heading| format!("#{}", heading.id)).unwrap_or_default();
        SearchResult {
            url: app.settings.urls.url(format_args!("{}{anchor}", section.path)),
            page_title: section.page_title.clone(),
            heading: section.heading.as_ref().map(|heading| heading.text.clone()),
            pieces: excerpt(&section.text, &terms, one.first_at),
            lang: (section.language != visitor.language).then(|| code(section.language)),
        }
    };
    let results: Vec<SearchResult> = found.iter().map(result).collect();
    let view = SearchView {
        is_full: results.len() == RESULTS_MOST,
        results,
        list_url: app.settings.urls.url("/docs"),
        frame: Frame { searched: query, ..Frame::of_docs(&app, &visitor) },
    };
    Ok(page(StatusCode::OK, &view))
}
