//! What webhooks are signed with: shown when somebody asks for it, which is noted, and replaced with a day for both.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use domain::access::Act;
use engine::Error;
use i18n_embed_fl::fl;
use secrecy::ExposeSecret;
use web::{
    App,
    page::{
        moment::{Moment, moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};

use crate::{
    notifications::{Notifications, ShownSecret, view},
    session::{AtDesk, SignedForm},
    shell::{self, Section, Shell},
    typed::only_for,
    words,
};

/// Really replace it?
#[derive(Template)]
#[template(path = "hook_secret_roll.html")]
pub(crate) struct RollSecret {
    pub(crate) shell: Shell,
    pub(crate) back_url: String,
    pub(crate) action: String,
    /// Until when the secret before the present one is good; to go on takes its last hours away.
    pub(crate) rolling_until: Option<Moment>,
}

pub(super) async fn reveal(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(_): SignedForm,
) -> Result<Response, PageError> {
    let secret = at.desk.show_webhook_secret().await?;
    let words = words::words(visitor.language);
    let secret = ShownSecret {
        title: fl!(words, "hook-secret-shown"),
        text: fl!(words, "hook-secret-shown-text"),
        value: secret.expose_secret().to_owned(),
    };
    let view = Notifications { secret: Some(secret), ..view(&app, &visitor, &at).await? };
    Ok(page(StatusCode::OK, &view))
}

pub(super) async fn ask(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    only_for(&at.desk, Act::ManageWebhooks)?;
    question(&app, &visitor, &at, StatusCode::OK).await
}

async fn question(app: &App, visitor: &Visitor, at: &AtDesk, status: StatusCode) -> Result<Response, PageError> {
    let shell = shell::at_desk(app, visitor, at, Section::Notifications).await?;
    let base = shell::base(app, at.desk.project());
    let rolling_until = at.desk.rotating_until().await?;
    let view = RollSecret {
        back_url: format!("{base}/notifications"),
        action: format!("{base}/notifications/secret/roll"),
        rolling_until: rolling_until.map(|until| moment(until, visitor.language)),
        shell,
    };
    Ok(page(status, &view))
}

pub(super) async fn roll(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    let at_once = form.text("at_once").is_some();
    let (secret, until) = match at.desk.rotate_webhook_secret(at_once).await {
        Ok(rolled) => rolled,
        Err(Error::StillRotating { .. }) => return question(&app, &visitor, &at, StatusCode::CONFLICT).await,
        Err(error) => return Err(error.into()),
    };
    let words = words::words(visitor.language);
    let until = moment(until, visitor.language).text;
    let secret = ShownSecret {
        title: fl!(words, "hook-secret-rolled"),
        text: fl!(words, "hook-secret-rolled-text", until = until),
        value: secret.expose_secret().to_owned(),
    };
    let view = Notifications { secret: Some(secret), ..view(&app, &visitor, &at).await? };
    Ok(page(StatusCode::OK, &view))
}
