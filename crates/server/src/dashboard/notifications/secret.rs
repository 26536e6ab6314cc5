//! What webhooks are signed with: shown when somebody asks for it, which is noted, and replaced with a day for both.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use domain::access::Act;
use engine::Error;
use i18n_embed_fl::fl;
use secrecy::ExposeSecret;

use super::{
    super::{
        session::{AtDesk, SignedForm},
        shell::{self, Section, Shell},
        typed::only_for,
    },
    Notifications, ShownSecret, view,
};
use crate::{
    app::App,
    pages::{
        moment::{Moment, moment},
        refused::Refused,
        render::page,
        visitor::Visitor,
        words,
    },
};

/// Really replace it?
#[derive(Template)]
#[template(path = "dashboard/hook_secret_roll.html")]
pub(in crate::dashboard) struct RollSecret {
    pub(in crate::dashboard) shell: Shell,
    pub(in crate::dashboard) back_url: String,
    pub(in crate::dashboard) action: String,
    /// Until when the secret before the present one is good; to go on takes its last hours away.
    pub(in crate::dashboard) rolling_until: Option<Moment>,
}

pub(super) async fn reveal(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(_): SignedForm,
) -> Result<Response, Refused> {
    let secret = at.desk.show_webhook_secret().await?;
    let words = words::words(visitor.language);
    let secret = ShownSecret {
        title: fl!(words, "dash-hook-secret-shown"),
        text: fl!(words, "dash-hook-secret-shown-text"),
        value: secret.expose_secret().to_owned(),
    };
    let view = Notifications { secret: Some(secret), ..view(&app, &visitor, &at).await? };
    Ok(page(StatusCode::OK, &view))
}

pub(super) async fn ask(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, Refused> {
    only_for(&at.desk, Act::ManageWebhooks)?;
    question(&app, &visitor, &at, StatusCode::OK).await
}

async fn question(app: &App, visitor: &Visitor, at: &AtDesk, status: StatusCode) -> Result<Response, Refused> {
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
) -> Result<Response, Refused> {
    let at_once = form.text("at_once").is_some();
    let (secret, until) = match at.desk.rotate_webhook_secret(at_once).await {
        Ok(rolled) => rolled,
        Err(Error::StillRotating { .. }) => return question(&app, &visitor, &at, StatusCode::CONFLICT).await,
        Err(error) => return Err(error.into()),
    };
    let words = words::words(visitor.language);
    let until = moment(until, visitor.language).text;
    let secret = ShownSecret {
        title: fl!(words, "dash-hook-secret-rolled"),
        text: fl!(words, "dash-hook-secret-rolled-text", until = until),
        value: secret.expose_secret().to_owned(),
    };
    let view = Notifications { secret: Some(secret), ..view(&app, &visitor, &at).await? };
    Ok(page(StatusCode::OK, &view))
}
