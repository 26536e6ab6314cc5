//! The two surfaces that people see, and what every answer of theirs has: its headers, and a page for every refusal.

use axum::{
    extract::{Request, State},
    http::header,
    middleware::Next,
    response::{IntoResponse, Response},
};
use tower_http::csrf::CsrfLayer;

use super::{
    cookie::Cookie,
    headers,
    refused::Refused,
    visitor::{LANGUAGE_COOKIE, Visitor},
    words,
};
use crate::{app::App, checkout, dashboard, error::ApiError};

const LANGUAGE_SECONDS: u32 = 365 * 24 * 60 * 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    Checkout,
    Dashboard,
}

impl Surface {
    /// Whose path this is, so that whatever is wrong with it is told by a page.
    pub(crate) fn of(path: &str) -> Option<Surface> {
        match path.split('/').nth(1) {
            Some("p" | "pay") => Some(Surface::Checkout),
            Some("dashboard") => Some(Surface::Dashboard),
            _ => None,
        }
    }

    /// The page for what went wrong outside of any handler.
    pub(crate) fn problem_page(self, app: &App, visitor: &Visitor, error: ApiError) -> Response {
        self.dressed(app, visitor, Refused::from(error).into_response())
    }

    fn dressed(self, app: &App, visitor: &Visitor, mut response: Response) -> Response {
        let place = &app.shared.place;
        if let Some(refused) = refusal(&response) {
            let page = match self {
                Surface::Checkout => checkout::problem(app, visitor, &refused),
                Surface::Dashboard => dashboard::problem(app, visitor, &refused),
            };
            let (page, body) = page.into_parts();
            *response.status_mut() = page.status;
            *response.body_mut() = body;
            response.headers_mut().remove(header::CONTENT_LENGTH);
            response.headers_mut().extend(page.headers);
        }
        if visitor.chose_language {
            let (value, path) = (words::code(visitor.language), place.url("/"));
            Cookie { name: LANGUAGE_COOKIE, value, path: &path, seconds: LANGUAGE_SECONDS, secure: place.https }
                .write(response.headers_mut());
        }
        headers::protect(response.headers_mut(), place.https);
        response
    }
}

/// Gives every answer its headers, and every refusal its page.
pub(crate) async fn dress(State(app): State<App>, request: Request, next: Next) -> Response {
    let surface = Surface::of(request.uri().path()).unwrap_or(Surface::Checkout);
    let visitor = Visitor::of(&app, &request);
    let response = next.run(request).await;
    surface.dressed(&app, &visitor, response)
}

/// What is to be told by a page: a refusal of ours, or of whoever refuses without a word, as the check for foreign forms does.
fn refusal(response: &Response) -> Option<Refused> {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let is_bare = is_error && !response.headers().contains_key(header::CONTENT_TYPE);
    response.extensions().get::<Refused>().cloned().or_else(|| is_bare.then(|| Refused::with(status)))
}

/// Forms are taken from our own pages only, also where a proxy in front changes the name of the host.
pub(crate) fn csrf(app: &App) -> CsrfLayer {
    let own = &app.shared.own_origins;
    own.iter().fold(CsrfLayer::new(), |layer, origin| layer.clone().add_trusted_origin(origin).unwrap_or(layer))
}
