//! The URL that webhooks are sent to.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::{access::Act, project::Environment};
use engine::{BlockedAddress, Error};
use i18n_embed_fl::fl;
use web::page::page_error::PageError;

use super::view::{Notifications, view};
use crate::{
    done::Done,
    page::Page,
    session::SignedForm,
    shell::{Flash, Section, Shell},
    words::Words,
};

/// Asks whether to remove the URL.
#[derive(Template)]
#[template(path = "notifications/url.html")]
pub(crate) struct RemoveUrl {
    pub(crate) shell: Shell,
    pub(crate) back_url: String,
    pub(crate) action: String,
    /// None where the project has no URL.
    pub(crate) url: Option<String>,
}

pub(crate) async fn save(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::ManageWebhooks)?;
    let words = page.words();
    let url = form.text("url").unwrap_or_default().trim().to_owned();
    let mistake = if url.is_empty() {
        fl!(words, "mistake-empty")
    } else {
        match page.desk.set_webhook_url(Some(url.clone())).await {
            Ok(_) => return Ok(page.redirect(page.path("/notifications"), Done::UrlSaved)),
            Err(Error::Invalid(_)) => refusal_sentence(&page, &url).await?,
            Err(error) => return Err(error.into()),
        }
    };
    let flash = Some(Flash { text: fl!(words, "mistake-form"), bad: true });
    let view = Notifications { url, url_mistake: Some(mistake), flash, ..view(&page).await? };
    Ok(page.render(StatusCode::UNPROCESSABLE_ENTITY, &view))
}

/// Why the guard of webhook addresses refuses a URL. The engine's error does not say it in words for users, so the
/// guard is asked again.
pub(crate) async fn refusal_sentence(page: &Page, url: &str) -> Result<String, Error> {
    let (words, https_only) = (page.words(), page.project().environment == Environment::Production);
    let guard = page.app.engine.webhook_guard().await?.of_project(Some(page.project().id));
    let refusal = guard.check_target(url, https_only).await.err();
    Ok(refusal.map_or_else(|| fl!(words, "mistake-refused"), |refusal| sentence(words, &refusal)))
}

fn sentence(words: Words, refusal: &BlockedAddress) -> String {
    match refusal {
        BlockedAddress::TooLong => fl!(words, "hook-url-long"),
        BlockedAddress::Ambiguous => fl!(words, "hook-url-ambiguous"),
        BlockedAddress::NotAbsolute => fl!(words, "hook-url-absolute"),
        BlockedAddress::NotHttps => fl!(words, "hook-url-https"),
        BlockedAddress::Unreadable(_) => fl!(words, "hook-url-unreadable"),
        BlockedAddress::Credentials => fl!(words, "hook-url-credentials"),
        BlockedAddress::Fragment => fl!(words, "hook-url-fragment"),
        BlockedAddress::Port(_) => fl!(words, "hook-url-port"),
        BlockedAddress::LocalName { .. } => fl!(words, "hook-url-local"),
        BlockedAddress::Address(_) => fl!(words, "hook-url-address"),
        BlockedAddress::Unresolved { .. } => fl!(words, "hook-url-unresolved"),
    }
}

pub(crate) async fn ask(page: Page) -> Result<Response, PageError> {
    page.require(Act::ManageWebhooks)?;
    let (shell, base) = (page.shell(Section::Notifications).await?, page.base());
    let view = RemoveUrl {
        back_url: format!("{base}/notifications"),
        action: format!("{base}/notifications/url/remove"),
        url: page.project().webhook_url.clone(),
        shell,
    };
    Ok(page.render(if view.url.is_some() { StatusCode::OK } else { StatusCode::CONFLICT }, &view))
}

pub(crate) async fn remove(page: Page, SignedForm(_): SignedForm) -> Result<Response, PageError> {
    page.desk.set_webhook_url(None).await?;
    Ok(page.redirect(page.path("/notifications"), Done::UrlRemoved))
}
