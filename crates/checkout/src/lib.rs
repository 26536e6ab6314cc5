//! The hosted checkout: `/p/<link_id>`, where a customer chooses how to pay, and `/pay/<payment_id>`, where they pay and see
//! that it worked.
//!
//! Handlers decode, call the engine and fill a view. A GET never changes anything: link scanners open pages.

mod choose;
mod live;
mod page;
mod path;
mod pay;
#[cfg(test)]
mod samples;
mod sandbox;
mod view;
mod wording;
mod words;

use axum::{
    Router,
    routing::{get, post},
};
use web::{App, FailureWording, Surface, page::finish};

/// The checkout as a server offers it.
pub fn surface(app: &App) -> Surface {
    Surface {
        folders: &["p", "pay"],
        routes: finish::routes(app, routes(), page::error_page),
        wording: FailureWording::Page(page::error_page),
        assets: vec![&page::STYLE, &page::SCRIPT],
        secret_paths: &[],
    }
}

fn routes() -> Router<App> {
    Router::new()
        .route("/p/{link}", get(choose::show).post(choose::submit))
        .route("/pay/{payment}", get(pay::show))
        .route("/pay/{payment}/qr.png", get(pay::image))
        .route("/pay/{payment}/status", get(live::status))
        .route("/pay/{payment}/events", get(live::events))
        .route("/pay/{payment}/simulate", post(sandbox::simulate).fallback(sandbox::no_such_page))
}
