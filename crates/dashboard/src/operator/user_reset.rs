//! `/dashboard/operator/users/<user>/reset`: a link for a new password, for a user who has lost theirs. Where mail is set up it goes to
//! the user by letter; otherwise the operator sees it once, and hands it over.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::id::UserId;
use engine::{Error, RESETS};
use i18n_embed_fl::fl;
use web::{App, page::page_error::PageError};

use super::tabs::user_path;
use crate::{
    done::Done,
    page::OperatorPage,
    session::{LastId, SignedForm},
    shell::Shell,
};

#[derive(Template)]
#[template(path = "operator/user_reset.html")]
pub(crate) struct UserResetPage {
    pub(crate) shell: Shell,
    pub(crate) user_url: String,
    pub(crate) email: String,
    pub(crate) heading: String,
    pub(crate) user_id: String,
    pub(crate) action: String,
    /// Whether the link goes to the user by letter.
    pub(crate) by_letter: bool,
    /// The link that this request has made; it is shown this once.
    pub(crate) link: Option<String>,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/operator/users/{user}/reset", get(ask).post(give))
}

async fn ask(page: OperatorPage, LastId(id): LastId<UserId>) -> Result<Response, PageError> {
    if !page.operator.user(id).await?.is_active() {
        return Err(Error::NotFound("user who can sign in").into());
    }
    show(&page, id, None).await
}

async fn give(
    page: OperatorPage,
    LastId(id): LastId<UserId>,
    SignedForm(_): SignedForm,
) -> Result<Response, PageError> {
    match page.operator.give_reset_link(id).await? {
        None => Ok(page.redirect(user_path(id), Done::ResetLinkSent)),
        Some(made) => {
            let link = format!("{}{RESETS}{}", page.app.settings.pages_url, made.token.reveal());
            show(&page, id, Some(link)).await
        }
    }
}

async fn show(page: &OperatorPage, id: UserId, link: Option<String>) -> Result<Response, PageError> {
    let (shell, user) = (page.shell().await?, page.operator.user(id).await?);
    let user_url = page.url(user_path(id));
    let email = user.email.as_str();
    let heading = match link {
        Some(_) => fl!(shell.words, "user-reset-link", email = email),
        None => fl!(shell.words, "user-reset-heading", email = email),
    };
    let view = UserResetPage {
        shell,
        heading,
        action: format!("{user_url}/reset"),
        user_url,
        email: user.email.to_string(),
        user_id: id.to_string(),
        by_letter: page.operator.has_mail(),
        link,
    };
    Ok(page.render(StatusCode::OK, &view))
}
