//! The hosted checkout: `/p/<link_id>`, where a customer chooses how to pay, and `/pay/<payment_id>`, where they pay and see
//! that it worked.
//!
//! Handlers decode, call the engine and fill a view. Looking at a page never changes anything: link scanners open pages.

mod choose;
mod live;
mod page;
mod pay;
#[cfg(test)]
mod samples;
mod sandbox;
mod view;
mod wording;

use axum::{
    Router,
    middleware::from_fn_with_state,
    routing::{get, post},
};

use crate::{
    app::App,
    pages::surface::{csrf, dress},
};

pub(crate) use page::problem;

pub(crate) fn routes(app: &App) -> Router<App> {
    Router::new()
        .route("/p/{link}", get(choose::show).post(choose::submit))
        .route("/pay/{payment}", get(pay::show))
        .route("/pay/{payment}/qr.png", get(pay::image))
        .route("/pay/{payment}/status", get(live::status))
        .route("/pay/{payment}/events", get(live::events))
        .route("/pay/{payment}/simulate", post(sandbox::simulate).fallback(sandbox::nothing))
        .route_layer(csrf(app))
        .route_layer(from_fn_with_state(app.clone(), dress))
}
