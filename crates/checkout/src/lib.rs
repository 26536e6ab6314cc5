//! The hosted checkout: `/p/<link_id>`, where a customer chooses how to pay, and `/pay/<payment_id>`, where they pay and see
//! that it worked, and `/r/<token>`, where they say to which bank account money that comes back shall go.
//!
//! Handlers decode, call the engine and fill a view. A GET never changes a payment or a link, because programs that scan messages
//! open links too.

mod answers;
mod chat_card;
mod choose;
mod claim;
mod claim_link;
mod claim_pages;
mod claim_texts;
mod embed;
mod face;
mod icon;
mod live;
#[cfg(test)]
mod page_rules;
mod parts;
mod path_id;
mod pay;
mod pictures;
mod preview;
mod price;
mod price_field;
mod qr_card;
mod sandbox;
mod state_texts;
mod view;
mod words;

use std::sync::Arc;

use axum::{
    Extension, Router,
    middleware::from_fn_with_state,
    routing::{get, post},
};
use web::{App, FailureWording, Surface, page::finish};

use crate::pictures::Pictures;

/// The checkout, as a server mounts it.
pub fn surface(app: &App) -> Surface {
    Surface {
        folders: &["p", "pay", "r", embed::FOLDER],
        routes: finish::routes(app, routes(app), parts::error_page),
        wording: FailureWording::Page(parts::error_page),
        assets: vec![
            &parts::STYLE,
            &parts::RECEIPT_STYLE,
            &parts::SLIP_STYLE,
            &parts::SCRIPT,
            &parts::PRICE_SCRIPT,
            &parts::BACK_SCRIPT,
            &embed::SCRIPT,
        ],
        secret_paths: &[claim_link::CLAIMS],
    }
}

fn routes(app: &App) -> Router<App> {
    Router::new()
        .route("/p/{link}", get(choose::show).post(choose::submit))
        .route("/p/colour/{file}", get(face::style))
        .route("/p/logo/{file}", get(face::logo))
        .route("/pay/{payment}", get(pay::show))
        .route("/pay/{payment}/qr.png", get(pay::image))
        .route("/pay/{payment}/status", get(live::status))
        .route("/pay/{payment}/events", get(live::events))
        .route("/pay/{payment}/simulate", post(sandbox::simulate).fallback(sandbox::no_such_page))
        .route_layer(from_fn_with_state(app.clone(), embed::allow_frame))
        .route("/r/{token}", get(claim::show).post(claim::submit))
        .route("/r/{token}/status", get(claim::status))
        .route("/embed.js", get(embed::script))
        .route("/p/{link}/preview.png", get(preview::show))
        .layer(Extension(Arc::new(Pictures::default())))
}
