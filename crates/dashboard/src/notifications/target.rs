//! The URL that webhooks go to.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use domain::{access::Act, project::Environment};
use engine::{BlockedAddress, Error};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{page_error::PageError, render::page, visitor::Visitor},
};

use crate::{
    done::Done,
    notifications::{News, Notifications, view},
    session::{AtDesk, SignedForm},
    shell::{self, Section, Shell},
    typed::only_for,
    words::{self, Words},
};

/// Really take it away?
#[derive(Template)]
#[template(path = "hook_url_remove.html")]
pub(crate) struct RemoveUrl {
    pub(crate) shell: Shell,
    pub(crate) back_url: String,
    pub(crate) action: String,
    /// None where there is none to take away.
    pub(crate) url: Option<String>,
}

pub(super) async fn save(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    only_for(&at.desk, Act::ManageWebhooks)?;
    let words = words::words(visitor.language);
    let url = form.text("url").unwrap_or_default().trim().to_owned();
    let mistake = if url.is_empty() {
        fl!(words, "typed-missing")
    } else {
        match at.desk.set_webhook_url(Some(url.clone())).await {
            Ok(project) => {
                return Ok(Done::UrlSaved.leading_to(&app, format_args!("/dashboard/{}/notifications", project.id)));
            }
            Err(Error::Invalid(_)) => reason(&app, words, &url, at.desk.project().environment).await?,
            Err(error) => return Err(error.into()),
        }
    };
    let news = Some(News { text: fl!(words, "typed-look"), bad: true });
    let view = Notifications { url, url_mistake: Some(mistake), news, ..view(&app, &visitor, &at).await? };
    Ok(page(StatusCode::UNPROCESSABLE_ENTITY, &view))
}

/// Why a URL was refused, asked of whoever refused it.
async fn reason(app: &App, words: Words, url: &str, environment: Environment) -> Result<String, Error> {
    let https_only = environment == Environment::Production;
    let refusal = app.engine.webhook_guard().await?.check_target(url, https_only).await.err();
    Ok(refusal.map_or_else(|| fl!(words, "typed-malformed"), |refusal| sentence(words, &refusal)))
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
        BlockedAddress::LocalName { .. } => fl!(words, "hook-url-local"),
        BlockedAddress::Address(_) => fl!(words, "hook-url-address"),
        BlockedAddress::Unresolved { .. } => fl!(words, "hook-url-unresolved"),
    }
}

pub(super) async fn ask(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    only_for(&at.desk, Act::ManageWebhooks)?;
    let shell = shell::at_desk(&app, &visitor, &at, Section::Notifications).await?;
    let base = shell::base(&app, at.desk.project());
    let view = RemoveUrl {
        back_url: format!("{base}/notifications"),
        action: format!("{base}/notifications/url/remove"),
        url: at.desk.project().webhook_url.clone(),
        shell,
    };
    Ok(page(if view.url.is_some() { StatusCode::OK } else { StatusCode::CONFLICT }, &view))
}

pub(super) async fn remove(
    State(app): State<App>,
    at: AtDesk,
    SignedForm(_): SignedForm,
) -> Result<Response, PageError> {
    let project = at.desk.set_webhook_url(None).await?;
    Ok(Done::UrlRemoved.leading_to(&app, format_args!("/dashboard/{}/notifications", project.id)))
}
