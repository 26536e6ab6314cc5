//! `/dashboard/letters/stop/<link>`: ends letters of a kind without signing in. The link is in the letter, sealed for its user and its
//! kind. Opening it changes nothing, as programs open links too; a POST ends the letters, from the page or from a mailbox (RFC 8058).

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, extract::Path, http::StatusCode, response::Response, routing::get};
use i18n_embed_fl::fl;
use web::{App, page::page_error::PageError};

use super::kind_name;
use crate::{page::PublicPage, shell::Bare};

/// The path without its link. Logs must not hold the link.
pub(crate) const STOP: &str = "/dashboard/letters/stop/";

#[derive(Template)]
#[template(path = "letters/stop.html")]
pub(crate) struct StopPage {
    pub(crate) frame: Bare,
    /// What the letters are about.
    pub(crate) kind: String,
    /// Where the form is sent; none once the letters are ended.
    pub(crate) action: Option<String>,
    pub(crate) account_url: String,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/letters/stop/{link}", get(ask).post(stop))
}

async fn ask(page: PublicPage, Path(link): Path<String>) -> Result<Response, PageError> {
    let (_, kind) = page.app.engine.read_stop_link(&link)?;
    let action = Some(page.url(format_args!("{STOP}{link}")));
    Ok(render(&page, kind_name(page.words(), kind), action))
}

async fn stop(page: PublicPage, Path(link): Path<String>) -> Result<Response, PageError> {
    let kind = page.app.engine.stop_letters(&link, page.whereabouts().address).await?;
    Ok(render(&page, kind_name(page.words(), kind), None))
}

fn render(page: &PublicPage, kind: String, action: Option<String>) -> Response {
    let account_url = page.url("/dashboard/account/letters");
    page.render(StatusCode::OK, &StopPage { frame: page.frame(), kind, action, account_url })
}
