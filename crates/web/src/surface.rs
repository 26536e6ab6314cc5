//! What a surface hands over, and which surface a request belongs to.

use axum::{
    Router,
    extract::Request,
    response::{IntoResponse, Response},
};
use tower::ServiceExt;

use crate::{
    App, Failure,
    page::{
        assets::{self, Asset},
        finish::{ErrorPage, finish},
        page_error::PageError,
        visitor::Visitor,
    },
};

/// One of the ways in which people or programs reach the service.
pub struct Surface {
    /// The first parts of the paths that are its own.
    pub folders: &'static [&'static str],
    /// Every address of it. What is not among them must be answered by its fallback.
    pub routes: Router,
    pub wording: FailureWording,
    /// Style sheets and scripts of its pages.
    pub assets: Vec<&'static Asset>,
    /// Paths that begin so go on with a secret, which the log must not hold.
    pub secret_paths: &'static [&'static str],
}

/// How a surface words what goes wrong outside of its handlers.
#[derive(Clone, Copy)]
pub enum FailureWording {
    /// For programs.
    Envelope(fn(Failure) -> Response),
    /// For people, in their language.
    Page(ErrorPage),
}

/// All surfaces of a server.
pub struct Surfaces {
    with_folders: Vec<Surface>,
    rest: Surface,
}

/// What a failure of one request would be worded with.
pub(crate) enum Wording {
    Envelope(fn(Failure) -> Response),
    Page(ErrorPage, Visitor),
}

impl Surfaces {
    /// `with_folders` have folders of their own; every other path belongs to `rest`.
    pub fn new(with_folders: Vec<Surface>, mut rest: Surface) -> Surfaces {
        let all = with_folders.iter().chain([&rest]).flat_map(|surface| &surface.assets);
        let assets = assets::router(all.copied());
        rest.routes = rest.routes.merge(assets);
        Surfaces { with_folders, rest }
    }

    /// The surface that a path belongs to.
    pub(crate) fn of(&self, path: &str) -> &Surface {
        let folder = path.split('/').nth(1).unwrap_or_default();
        self.with_folders.iter().find(|surface| surface.folders.contains(&folder)).unwrap_or(&self.rest)
    }
}

impl Surface {
    pub(crate) async fn answer(&self, request: Request) -> Response {
        self.routes.clone().oneshot(request).await.unwrap_or_else(|never| match never {})
    }

    /// The path as the log may hold it.
    pub(crate) fn logged<'a>(&self, path: &'a str) -> &'a str {
        self.secret_paths.iter().find(|secret| path.starts_with(**secret)).map_or(path, |secret| &path[..secret.len()])
    }
}

impl FailureWording {
    pub(crate) fn of(self, app: &App, request: &Request) -> Wording {
        match self {
            FailureWording::Envelope(answer) => Wording::Envelope(answer),
            FailureWording::Page(page) => Wording::Page(page, Visitor::of(app, request)),
        }
    }
}

impl Wording {
    pub(crate) fn answer(&self, app: &App, failure: Failure) -> Response {
        match self {
            Wording::Envelope(answer) => answer(failure),
            Wording::Page(page, visitor) => finish(app, visitor, *page, PageError::from(failure).into_response()),
        }
    }
}
