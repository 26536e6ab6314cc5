//! `/`: what this service is, and where to go from here. It names no project and no version, since everybody can read it.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{render::page, visitor::Visitor},
};

use crate::frame::Frame;

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    frame: Frame,
    /// Whether the installation is for development: no money moves on it.
    is_development: bool,
    /// The URL at which programs reach the API.
    base_url: String,
    /// None where the documentation is turned off.
    first_guide_url: Option<String>,
}

pub(crate) async fn show(State(app): State<App>, visitor: Visitor) -> Response {
    let settings = &app.settings;
    let view = Home {
        frame: Frame::of(&app, &visitor),
        is_development: settings.is_development,
        base_url: settings.base_url.clone(),
        first_guide_url: settings.has_docs.then(|| settings.urls.url("/docs/first-payment")),
    };
    page(StatusCode::OK, &view)
}
