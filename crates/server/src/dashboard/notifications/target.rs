//! The URL that webhooks go to.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use domain::{access::Act, project::Environment};
use engine::Error;
use gateway::Refusal;
use i18n_embed_fl::fl;

use super::{
    super::{
        done::Done,
        session::{AtDesk, SignedForm},
        shell::{self, Section, Shell},
        typed::only_for,
    },
    News, Notifications, view,
};
use crate::{
    app::App,
    pages::{
        refused::Refused,
        render::page,
        visitor::Visitor,
        words::{self, Words},
    },
};

/// Really take it away?
#[derive(Template)]
#[template(path = "dashboard/hook_url_remove.html")]
pub(in crate::dashboard) struct RemoveUrl {
    pub(in crate::dashboard) shell: Shell,
    pub(in crate::dashboard) back_url: String,
    pub(in crate::dashboard) action: String,
    /// None where there is none to take away.
    pub(in crate::dashboard) url: Option<String>,
}

pub(super) async fn save(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(form): SignedForm,
) -> Result<Response, Refused> {
    only_for(&at.desk, Act::ManageWebhooks)?;
    let words = words::words(visitor.language);
    let url = form.text("url").unwrap_or_default().trim().to_owned();
    let mistake = if url.is_empty() {
        fl!(words, "dash-typed-missing")
    } else {
        match at.desk.set_webhook_url(Some(url.clone())).await {
            Ok(project) => {
                return Ok(Done::UrlSaved.leading_to(&app, format_args!("/dashboard/{}/notifications", project.id)));
            }
            Err(Error::Invalid(_)) => reason(&app, words, &url, at.desk.project().environment).await?,
            Err(error) => return Err(error.into()),
        }
    };
    let news = Some(News { text: fl!(words, "dash-typed-look"), bad: true });
    let view = Notifications { url, url_mistake: Some(mistake), news, ..view(&app, &visitor, &at).await? };
    Ok(page(StatusCode::UNPROCESSABLE_ENTITY, &view))
}

/// Why a URL was refused, asked of whoever refused it.
async fn reason(app: &App, words: Words, url: &str, environment: Environment) -> Result<String, Error> {
    let https_only = environment == Environment::Production;
    let refusal = app.engine.webhook_guard().await?.check_target(url, https_only).await.err();
    Ok(refusal.map_or_else(|| fl!(words, "dash-typed-malformed"), |refusal| sentence(words, &refusal)))
}

fn sentence(words: Words, refusal: &Refusal) -> String {
    match refusal {
        Refusal::TooLong => fl!(words, "dash-hook-url-long"),
        Refusal::Ambiguous => fl!(words, "dash-hook-url-ambiguous"),
        Refusal::NotAbsolute => fl!(words, "dash-hook-url-absolute"),
        Refusal::NotHttps => fl!(words, "dash-hook-url-https"),
        Refusal::Unreadable(_) => fl!(words, "dash-hook-url-unreadable"),
        Refusal::Credentials => fl!(words, "dash-hook-url-credentials"),
        Refusal::Fragment => fl!(words, "dash-hook-url-fragment"),
        Refusal::LocalName { .. } => fl!(words, "dash-hook-url-local"),
        Refusal::Address(_) => fl!(words, "dash-hook-url-address"),
        Refusal::Unresolved { .. } => fl!(words, "dash-hook-url-unresolved"),
    }
}

pub(super) async fn ask(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, Refused> {
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

pub(super) async fn remove(State(app): State<App>, at: AtDesk, SignedForm(_): SignedForm) -> Result<Response, Refused> {
    let project = at.desk.set_webhook_url(None).await?;
    Ok(Done::UrlRemoved.leading_to(&app, format_args!("/dashboard/{}/notifications", project.id)))
}
