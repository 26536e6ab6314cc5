//! What a surface hands over to the server, and which surface a path belongs to. It knows surfaces only by this value.

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

/// Names the path `/` in a surface's folders. No segment contains a slash, so it stands for no folder.
pub const ROOT: &str = "/";

/// One part of the service that people or programs reach over HTTP.
pub struct Surface {
    /// The first segments of the paths that belong to it. [`ROOT`] stands for the path `/` alone.
    pub folders: &'static [&'static str],
    /// All of its routes. Its fallback must answer the paths in its folders that are no route.
    pub routes: Router,
    pub wording: FailureWording,
    /// Style sheets and scripts of its pages.
    pub assets: Vec<&'static Asset>,
    /// Beginnings of paths that go on with a secret. The log cuts such a path there.
    pub secret_paths: &'static [&'static str],
}

/// How a surface words a failure outside of its handlers.
#[derive(Clone, Copy)]
pub enum FailureWording {
    /// For programs: the error as JSON, for a request of that path.
    Envelope(fn(Failure, &str) -> Response),
    /// For people: an error page in their language.
    Page(ErrorPage),
}

/// All surfaces of a server.
pub struct Surfaces {
    with_folders: Vec<Surface>,
    rest: Surface,
}

/// How a failure of one particular request is worded.
pub(crate) enum Wording {
    Envelope(fn(Failure, &str) -> Response, String),
    Page(ErrorPage, Visitor),
}

impl Surfaces {
    /// Each surface of `with_folders` gets the paths in its folders; all other paths belong to `rest`.
    pub fn new(with_folders: Vec<Surface>, mut rest: Surface) -> Surfaces {
        let all = with_folders.iter().chain([&rest]).flat_map(|surface| &surface.assets);
        let assets = assets::router(all.copied());
        rest.routes = rest.routes.merge(assets);
        Surfaces { with_folders, rest }
    }

    /// The surface that a path belongs to.
    pub(crate) fn of(&self, path: &str) -> &Surface {
        let folder = if path == ROOT { ROOT } else { path.split('/').nth(1).unwrap_or_default() };
        self.with_folders.iter().find(|surface| surface.folders.contains(&folder)).unwrap_or(&self.rest)
    }
}

impl Surface {
    pub(crate) async fn answer(&self, request: Request) -> Response {
        self.routes.clone().oneshot(request).await.unwrap_or_else(|never| match never {})
    }

    /// The path as it is logged: without the secret that some paths end in.
    pub(crate) fn logged<'a>(&self, path: &'a str) -> &'a str {
        self.secret_paths.iter().find(|secret| path.starts_with(**secret)).map_or(path, |secret| &path[..secret.len()])
    }
}

impl FailureWording {
    pub(crate) fn of(self, app: &App, request: &Request) -> Wording {
        match self {
            FailureWording::Envelope(answer) => Wording::Envelope(answer, request.uri().path().to_owned()),
            FailureWording::Page(page) => Wording::Page(page, Visitor::of(app, request)),
        }
    }
}

impl Wording {
    pub(crate) fn answer(&self, app: &App, failure: Failure) -> Response {
        match self {
            Wording::Envelope(answer, path) => answer(failure, path),
            Wording::Page(page, visitor) => finish(app, visitor, *page, PageError::from(failure).into_response()),
        }
    }
}
