//! Turns a view into an HTML answer, and redirects. It decides nothing about what a page shows.

use std::convert::Infallible;

use askama::Template;
use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::language::Language;
use futures_util::stream;

use super::{page_error::PageError, visitor::Visitor, words};
use crate::stored_file::StoredFile;

/// Belongs into the head of pages with forms. The header of every page says `no-referrer`, under which browsers send
/// `Origin: null` with our own forms. Old browsers send nothing else about where a form comes from, so the check against forged
/// requests would take them for another site.
pub const REFERRER: &str = r#"<meta name="referrer" content="same-origin">"#;
/// Belongs into the head of every page. The icon is inline, because browsers would otherwise request `/favicon.ico`.
pub const ICON: &str = concat!(
    r#"<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http%3A//www.w3.org/2000/svg' viewBox='0 0 8 8'%3E"#,
    r"%3Crect width='8' height='8' rx='2' fill='%230b6453'/%3E",
    r#"%3Cpath d='M2 4l1.5 1.5L6 3' fill='none' stroke='%23fff'/%3E%3C/svg%3E">"#,
);
const HTML: &str = "text/html; charset=utf-8";
/// Room for a page; few are larger.
const PAGE_BYTES_USUAL: usize = 6 * 1024;
/// Room for the headers of the page, its cookies and the server.
const HEADERS_USUAL: usize = 12;

/// Renders `view` as the body of an answer.
pub fn page(status: StatusCode, view: &impl Template) -> Response {
    // Reserved at once, because growing step by step would copy most of the page several times.
    let mut html = String::with_capacity(PAGE_BYTES_USUAL);
    match view.render_into(&mut html) {
        Ok(()) => {
            let mut response = (status, Body::from(html)).into_response();
            response.headers_mut().reserve(HEADERS_USUAL);
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(HTML));
            response
        }
        Err(error) => {
            tracing::error!(%error, "a page could not be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Renders `view` once, for a page that is sent to many visitors.
pub fn stored_page(view: &impl Template) -> Result<StoredFile, PageError> {
    match view.render() {
        Ok(html) => Ok(StoredFile::new(HTML, html.into_bytes())),
        Err(error) => {
            tracing::error!(%error, "a page could not be rendered");
            Err(PageError::with(StatusCode::INTERNAL_SERVER_ERROR))
        }
    }
}

/// The body of an answer to HEAD where the length of the body for GET is not known. It is not sent; an empty one would make the
/// answer say that there are no bytes.
pub fn unsent_body() -> Body {
    Body::from_stream(stream::empty::<Result<Bytes, Infallible>>())
}

/// Redirects to one of our own pages.
pub fn see_other(url: &str) -> Response {
    // Our paths consist of ids and a configured prefix, which are always valid in a header.
    let location = HeaderValue::try_from(url).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}

pub const fn other_language(language: Language) -> Language {
    match language {
        Language::Indonesian => Language::English,
        Language::English => Language::Indonesian,
    }
}

/// The query string that switches to the other language.
pub fn switch_query(visitor: &Visitor) -> String {
    format!("?lang={}", words::code(other_language(visitor.language)))
}
