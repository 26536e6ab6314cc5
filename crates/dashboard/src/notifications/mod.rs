//! Where events are told to: the webhook's URL and secret, how to verify what comes, a test, and the log of what was sent.

mod log;
mod secret;
mod snippets;
mod target;

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::{access::Act, project::Environment};
use engine::Error;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{moment::Moment, page_error::PageError, render::page, visitor::Visitor},
};

use crate::{
    done::Done,
    session::{AtDesk, SignedForm},
    shell::{self, Section, Shell},
    table::Paging,
    typed::{fresh_form, known_form, local, only_for},
    words,
};

pub(super) use log::{EventRow, next_attempt};
#[cfg(test)]
pub(super) use secret::RollSecret;
pub(super) use snippets::{Snippet, snippets};
#[cfg(test)]
pub(super) use target::RemoveUrl;

/// Everything about webhooks.
#[derive(Template)]
#[template(path = "notifications.html")]
pub(super) struct Notifications {
    pub(super) shell: Shell,
    pub(super) base: String,
    pub(super) may_manage: bool,
    pub(super) sandbox: bool,
    /// Whether there is somewhere to send to.
    pub(super) has_url: bool,
    /// What is in the field for it.
    pub(super) url: String,
    pub(super) url_mistake: Option<String>,
    /// Until when the secret before the present one is signed with too.
    pub(super) rolling_until: Option<Moment>,
    /// The secret, this once.
    pub(super) secret: Option<ShownSecret>,
    pub(super) attempt: String,
    pub(super) rows: Vec<EventRow>,
    pub(super) paging: Paging,
    pub(super) failing_only: bool,
    pub(super) since: String,
    pub(super) since_mistake: Option<String>,
    pub(super) news: Option<News>,
    pub(super) snippets: Vec<Snippet>,
}

pub(super) struct ShownSecret {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) value: String,
}

/// What stands above the page after something was tried.
pub(super) struct News {
    pub(super) text: String,
    pub(super) bad: bool,
}

pub(super) fn routes() -> Router<App> {
    // Whoever has to sign in before a form is taken comes back to its address, and finds the page there.
    Router::new()
        .route("/dashboard/{project}/notifications", get(show))
        .route("/dashboard/{project}/notifications/url", get(show).post(target::save))
        .route("/dashboard/{project}/notifications/url/remove", get(target::ask).post(target::remove))
        .route("/dashboard/{project}/notifications/secret/show", get(show).post(secret::reveal))
        .route("/dashboard/{project}/notifications/secret/roll", get(secret::ask).post(secret::roll))
        .route("/dashboard/{project}/notifications/test", get(show).post(send_test))
        .route("/dashboard/{project}/notifications/recover", get(show).post(log::recover))
}

async fn show(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    Ok(page(StatusCode::OK, &view(&app, &visitor, &at).await?))
}

async fn view(app: &App, visitor: &Visitor, at: &AtDesk) -> Result<Notifications, Error> {
    let shell = shell::at_desk(app, visitor, at, Section::Notifications).await?;
    let project = at.desk.project();
    let (words, base) = (shell.words, shell::base(app, project));
    let listed = log::listed(app, visitor, at, words, &base).await?;
    let rolling_until = at.desk.rotating_until().await?;
    Ok(Notifications {
        may_manage: at.desk.may(Act::ManageWebhooks),
        sandbox: project.environment == Environment::Sandbox,
        has_url: project.webhook_url.is_some(),
        url: project.webhook_url.clone().unwrap_or_default(),
        url_mistake: None,
        rolling_until: rolling_until.map(|until| web::page::moment::moment(until, visitor.language)),
        secret: None,
        attempt: fresh_form(),
        rows: listed.rows,
        paging: listed.paging,
        failing_only: listed.failing_only,
        since: local(app.engine.now().minus(log::SINCE_USUAL)),
        since_mistake: None,
        news: None,
        snippets: snippets(),
        base,
        shell,
    })
}

/// The page again with what stands in the way of what was asked for.
async fn conflict(app: &App, visitor: &Visitor, at: &AtDesk, text: String) -> Result<Response, PageError> {
    let news = Some(News { text, bad: true });
    Ok(page(StatusCode::CONFLICT, &Notifications { news, ..view(app, visitor, at).await? }))
}

/// Makes a real payment and pays it, so that a real webhook is sent.
async fn send_test(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    only_for(&at.desk, Act::ManageWebhooks)?;
    let words = words::words(visitor.language);
    match at.desk.send_test(&known_form(form.text("attempt"))).await {
        Ok(payment) => {
            Ok(Done::Tested.leading_to(&app, format_args!("/dashboard/{}/notifications", payment.project_id)))
        }
        Err(Error::NoWebhookUrl) => conflict(&app, &visitor, &at, fl!(words, "hook-test-no-url")).await,
        Err(Error::ProjectUnusable) => conflict(&app, &visitor, &at, fl!(words, "hook-unusable")).await,
        Err(error) => Err(error.into()),
    }
}
