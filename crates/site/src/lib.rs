//! The pages for people who have just found this service: `/`, which says what it is, and `/docs`, its documentation.
//!
//! Guides are the files of `docs` in the repository, compiled into the program; the reference of the API is made from its OpenAPI
//! document. Nothing here reads or changes the database, and no page needs a session.

mod document;
mod excerpt;
mod frame;
mod guide;
mod guides;
mod home;
mod list;
mod markdown;
mod problem;
mod ranking;
mod reference;
mod search;
mod section;
mod word_index;
mod words;

use std::sync::Arc;

use axum::{Extension, Router, routing::get};
use web::{App, FailureWording, ROOT, Surface, page::finish};

pub use document::Document;

use crate::{guide::GuidePages, search::Index};

/// The pages, as a server mounts them.
pub fn surface(app: &App, document: Document) -> Surface {
    Surface {
        folders: &[ROOT, "docs"],
        routes: finish::routes(app, routes(app, document), problem::error_page),
        wording: FailureWording::Page(problem::error_page),
        assets: vec![&frame::STYLE, &frame::SCRIPT, &reference::STYLE, &reference::SCRIPT],
        secret_paths: &[],
    }
}

fn routes(app: &App, document: Document) -> Router<App> {
    let home = Router::new().route("/", get(home::show));
    if app.settings.has_docs { home.merge(docs(document)) } else { home }
}

fn docs(document: Document) -> Router<App> {
    Router::new()
        .route("/docs", get(list::show))
        .route("/docs/search", get(search::show))
        .route("/docs/{guide}", get(guide::show))
        .route("/docs/id/{guide}", get(guide::show))
        .layer(Extension(Arc::new(GuidePages::default())))
        .layer(Extension(Arc::new(Index::of(document))))
        .merge(reference::routes(document))
}
