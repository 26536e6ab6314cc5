//! The page about webhooks, which all forms of this folder answer with.

use std::time::Duration;

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::{access::Act, project::Environment};
use engine::Error;
use i18n_embed_fl::fl;
use web::page::{moment::Moment, page_error::PageError};

use super::{
    events::{EventChoice, choices},
    log::{self, Log},
    snippets::{Snippet, snippets},
};
use crate::{
    attempt,
    input::local_field,
    page::Page,
    shell::{Flash, Section, Shell},
};

/// Failed deliveries of the last day are sent again, unless the user chooses another time.
const RECOVER_SINCE: Duration = Duration::from_hours(24);

#[derive(Template)]
#[template(path = "notifications/view.html")]
pub(crate) struct Notifications {
    pub(crate) shell: Shell,
    pub(crate) base: String,
    pub(crate) may_manage: bool,
    pub(crate) sandbox: bool,
    /// Whether the project has a webhook URL.
    pub(crate) has_url: bool,
    /// The value of the field for the URL.
    pub(crate) url: String,
    pub(crate) url_mistake: Option<String>,
    /// Until when webhooks are signed with the previous secret as well.
    pub(crate) previous_until: Option<Moment>,
    /// The secret, where this request asked to see it.
    pub(crate) secret: Option<ShownSecret>,
    pub(crate) attempt: String,
    pub(crate) events: Vec<EventChoice>,
    pub(crate) log: Log,
    /// The value of the field for the time since when failed deliveries are sent again.
    pub(crate) since: String,
    pub(crate) since_mistake: Option<String>,
    /// The result of a form.
    pub(crate) flash: Option<Flash>,
    pub(crate) snippets: Vec<Snippet>,
}

pub(crate) struct ShownSecret {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) value: String,
}

pub(crate) async fn view(page: &Page) -> Result<Notifications, Error> {
    let (shell, base, project) = (page.shell(Section::Notifications).await?, page.base(), page.project());
    let log = log::read(page, &base).await?;
    let previous_until = page.desk.rotating_until().await?;
    Ok(Notifications {
        may_manage: page.desk.may(Act::ManageWebhooks),
        sandbox: project.environment == Environment::Sandbox,
        has_url: project.webhook_url.is_some(),
        url: project.webhook_url.clone().unwrap_or_default(),
        url_mistake: None,
        previous_until: previous_until.map(|until| page.moment(until)),
        secret: None,
        attempt: attempt::fresh(),
        events: choices(shell.words, project),
        log,
        since: local_field(page.now().minus(RECOVER_SINCE)),
        since_mistake: None,
        flash: None,
        snippets: snippets(),
        base,
        shell,
    })
}

/// The page with the reason why a form could not be carried out.
pub(crate) async fn conflict(page: &Page, text: String) -> Result<Response, PageError> {
    let flash = Some(Flash { text, bad: true });
    Ok(page.render(StatusCode::CONFLICT, &Notifications { flash, ..view(page).await? }))
}
