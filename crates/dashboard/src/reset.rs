//! `/dashboard/reset/<token>`: the page of a link for a lost password, on which its user sets a new one. Opening it changes nothing,
//! and setting a password signs nobody in.
//!
//! A link that is unknown, used, void or expired gets the same page, so that the page does not say which.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::user::{Token, User};
use engine::{Error, FORGOT, RESETS};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{form::Form, page_error::PageError},
};

use crate::{
    done::Done,
    input::{password_hint, password_mistake},
    page::PublicPage,
    session::LinkToken,
    shell::Bare,
    sign_in::SIGN_IN,
};

#[derive(Template)]
#[template(path = "reset.html")]
pub(crate) struct ResetPage {
    pub(crate) frame: Bare,
    pub(crate) action: String,
    pub(crate) email: String,
    pub(crate) hint: String,
    pub(crate) mistake: Option<String>,
}

#[derive(Template)]
#[template(path = "reset/gone.html")]
pub(crate) struct ResetGone {
    pub(crate) frame: Bare,
    /// Where a new link can be asked for; none where letters are not set up.
    pub(crate) forgot_url: Option<String>,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/reset/{reset}", get(show).post(submit))
}

async fn show(page: PublicPage, LinkToken(token): LinkToken) -> Result<Response, PageError> {
    match user_of(&page, token.as_ref()).await? {
        Some((token, user)) => Ok(reset_page(&page, StatusCode::OK, token, &user, None)),
        None => Ok(gone(&page)),
    }
}

async fn submit(
    page: PublicPage,
    LinkToken(token): LinkToken,
    form: Result<Form, PageError>,
) -> Result<Response, PageError> {
    let form = form?;
    let password = form.text("password").unwrap_or_default();
    let Some((token, user)) = user_of(&page, token.as_ref()).await? else { return Ok(gone(&page)) };
    if let Some(mistake) = password_mistake(page.words(), password) {
        return Ok(reset_page(&page, StatusCode::UNPROCESSABLE_ENTITY, token, &user, Some(mistake)));
    }
    match page.app.engine.set_password_by_link(token, password.into(), &page.whereabouts()).await {
        Ok(()) => Ok(page.redirect(SIGN_IN, Done::PasswordReset)),
        Err(Error::NotFound(_)) => Ok(gone(&page)),
        Err(error) => Err(error.into()),
    }
}

/// The user whose password the link sets, if it can still be used.
async fn user_of<'t>(page: &PublicPage, token: Option<&'t Token>) -> Result<Option<(&'t Token, User)>, Error> {
    let Some(token) = token else { return Ok(None) };
    match page.app.engine.user_of_reset_link(token).await {
        Ok(user) => Ok(Some((token, user))),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn reset_page(page: &PublicPage, status: StatusCode, token: &Token, user: &User, mistake: Option<String>) -> Response {
    let view = ResetPage {
        frame: page.frame(),
        action: page.url(format_args!("{RESETS}{}", token.reveal())),
        email: user.email.to_string(),
        hint: password_hint(page.words()),
        mistake,
    };
    page.render(status, &view)
}

fn gone(page: &PublicPage) -> Response {
    let forgot_url = page.app.engine.has_mail().then(|| page.url(FORGOT));
    page.render(StatusCode::NOT_FOUND, &ResetGone { frame: page.frame(), forgot_url })
}
