//! The secret that signs webhooks. It is shown to a member who asks for it, which the audit log records, and it can be
//! replaced; for a day after that both secrets sign.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::access::Act;
use engine::Error;
use i18n_embed_fl::fl;
use secrecy::ExposeSecret;
use web::page::{moment::Moment, page_error::PageError};

use super::view::{Notifications, ShownSecret, view};
use crate::{
    page::Page,
    session::SignedForm,
    shell::{Section, Shell},
};

/// Asks whether to replace the secret.
#[derive(Template)]
#[template(path = "notifications/secret.html")]
pub(crate) struct ReplaceSecret {
    pub(crate) shell: Shell,
    pub(crate) back_url: String,
    pub(crate) action: String,
    /// Until when the previous secret still signs; replacing the secret again ends that at once.
    pub(crate) previous_until: Option<Moment>,
}

pub(crate) async fn reveal(page: Page, SignedForm(_): SignedForm) -> Result<Response, PageError> {
    let secret = page.desk.show_webhook_secret().await?;
    let words = page.words();
    let secret = ShownSecret {
        title: fl!(words, "hook-secret-shown"),
        text: fl!(words, "hook-secret-shown-text"),
        value: secret.expose_secret().to_owned(),
    };
    let view = Notifications { secret: Some(secret), ..view(&page).await? };
    Ok(page.render(StatusCode::OK, &view))
}

pub(crate) async fn ask(page: Page) -> Result<Response, PageError> {
    page.require(Act::ManageWebhooks)?;
    question(&page, StatusCode::OK).await
}

async fn question(page: &Page, status: StatusCode) -> Result<Response, PageError> {
    let (shell, base) = (page.shell(Section::Notifications).await?, page.base());
    let previous_until = page.desk.rotating_until().await?;
    let view = ReplaceSecret {
        back_url: format!("{base}/notifications"),
        action: format!("{base}/notifications/secret/roll"),
        previous_until: previous_until.map(|until| page.moment(until)),
        shell,
    };
    Ok(page.render(status, &view))
}

pub(crate) async fn replace(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    let at_once = form.text("at_once").is_some();
    let (secret, until) = match page.desk.rotate_webhook_secret(at_once).await {
        Ok(replaced) => replaced,
        Err(Error::StillRotating { .. }) => return question(&page, StatusCode::CONFLICT).await,
        Err(error) => return Err(error.into()),
    };
    let (words, until) = (page.words(), page.moment(until).text);
    let secret = ShownSecret {
        title: fl!(words, "hook-secret-rolled"),
        text: fl!(words, "hook-secret-rolled-text", until = until),
        value: secret.expose_secret().to_owned(),
    };
    let view = Notifications { secret: Some(secret), ..view(&page).await? };
    Ok(page.render(StatusCode::OK, &view))
}
