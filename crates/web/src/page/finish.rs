//! The last step of every page request: refuses forms of other sites, turns errors into error pages in the visitor's language,
//! and adds the headers that protect pages.

use axum::{
    Router,
    extract::{Request, State},
    http::header,
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use tower_http::csrf::CsrfLayer;

use super::{
    cookie::Cookie,
    headers::{self, FramedBy},
    page_error::PageError,
    visitor::{LANGUAGE_COOKIE, Visitor},
    words,
};
use crate::{App, Failure};

const LANGUAGE_SECONDS: u32 = 365 * 24 * 60 * 60;

/// A surface's function that renders the page for an error.
pub type ErrorPage = fn(&App, &Visitor, &PageError) -> Response;

/// Wraps routes of pages: forms of other sites are refused, errors become pages, and every answer has its headers.
pub fn routes(app: &App, routes: Router<App>, error_page: ErrorPage) -> Router {
    let finish_page = move |State(app): State<App>, request: Request, next: Next| async move {
        let visitor = Visitor::of(&app, &request);
        finish(&app, &visitor, error_page, next.run(request).await)
    };
    let no_such_page = move |State(app): State<App>, visitor: Visitor| async move {
        finish(&app, &visitor, error_page, PageError::from(Failure::NoSuchPath).into_response())
    };
    routes
        .route_layer(own_forms_only(app))
        .route_layer(from_fn_with_state(app.clone(), finish_page))
        .fallback(no_such_page)
        .with_state(app.clone())
}

/// Replaces an error by its page, remembers the language that the visitor chose, and adds the protective headers.
pub(crate) fn finish(app: &App, visitor: &Visitor, error_page: ErrorPage, mut response: Response) -> Response {
    let urls = &app.settings.urls;
    if let Some(error) = page_error(&response) {
        let (page, body) = error_page(app, visitor, &error).into_parts();
        *response.status_mut() = page.status;
        *response.body_mut() = body;
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response.headers_mut().extend(page.headers);
    }
    if visitor.chose_language {
        let (value, path) = (words::code(visitor.language), urls.url("/"));
        Cookie { name: LANGUAGE_COOKIE, value, path: &path, seconds: LANGUAGE_SECONDS, secure: urls.https }
            .write(response.headers_mut());
    }
    let framed_by = response.extensions_mut().remove::<FramedBy>();
    headers::protect(response.headers_mut(), framed_by, urls.https);
    response
}

/// The error that an answer stands for: one of ours, or one that a layer answered without a body, as the check for forms of
/// other sites does.
fn page_error(response: &Response) -> Option<PageError> {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let is_bare = is_error && !response.headers().contains_key(header::CONTENT_TYPE);
    response.extensions().get::<PageError>().cloned().or_else(|| is_bare.then(|| PageError::with(status)))
}

/// Accepts forms of our own pages only. Our origins are configured, since behind a proxy `Host` may be another name.
fn own_forms_only(app: &App) -> CsrfLayer {
    let own = &app.settings.own_origins;
    own.iter().fold(CsrfLayer::new(), |layer, origin| layer.clone().add_trusted_origin(origin).unwrap_or(layer))
}
