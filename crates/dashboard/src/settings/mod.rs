//! `/dashboard/<project>/settings`: what customers and the API see of a project, in forms of their own.

mod forms;
mod view;

use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::access::Act;
use engine::{Error, ProjectUpdate};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{form::Form, page_error::PageError, render::page, visitor::Visitor},
};

use crate::{
    done::Done,
    session::{AtDesk, SignedForm},
    shell::{self, Flash, Section},
    words::Words,
};
use forms::Filled;

pub(super) use view::standing;
#[cfg(test)]
pub(super) use view::{Check, Facts, MerchantForm, MethodsForm, OriginsForm, SettingsPage};

pub(super) fn routes() -> Router<App> {
    // Whoever has to sign in before a form is taken comes back to its address, and finds the page there.
    Router::new()
        .route("/dashboard/{project}/settings", get(show))
        .route("/dashboard/{project}/settings/merchant", get(show).post(save_merchant))
        .route("/dashboard/{project}/settings/origins", get(show).post(save_origins))
        .route("/dashboard/{project}/settings/methods", get(show).post(save_methods))
        .route("/dashboard/{project}/settings/success-word", get(show).post(save_success_word))
}

async fn show(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    let filled = Filled::of(at.desk.project(), &at.desk.allowed_origins().await?);
    settings_page(&app, &visitor, &at, StatusCode::OK, filled).await
}

async fn save_merchant(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    save(&app, &visitor, at, &form, Filled::merchant).await
}

async fn save_origins(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    save(&app, &visitor, at, &form, Filled::origins).await
}

async fn save_methods(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    save(&app, &visitor, at, &form, Filled::methods).await
}

async fn save_success_word(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    save(&app, &visitor, at, &form, Filled::success_word).await
}

/// Reads one of the forms: what is to change, unless something is wrong with it.
type Read = fn(&mut Filled, Words, &Form) -> Option<ProjectUpdate>;

async fn save(app: &App, visitor: &Visitor, at: AtDesk, form: &Form, read: Read) -> Result<Response, PageError> {
    // Whoever may not change anything is not told what would be wrong with it.
    if !at.desk.may(Act::Configure) {
        return Err(Error::RoleForbids.into());
    }
    let mut filled = Filled::of(at.desk.project(), &at.desk.allowed_origins().await?);
    match read(&mut filled, crate::words::words(visitor.language), form) {
        Some(update) => {
            at.desk.configure(update).await?;
            Ok(Done::SettingsSaved.leading_to(app, format_args!("/dashboard/{}/settings", at.desk.project().id)))
        }
        None => settings_page(app, visitor, &at, StatusCode::UNPROCESSABLE_ENTITY, filled).await,
    }
}

async fn settings_page(
    app: &App,
    visitor: &Visitor,
    at: &AtDesk,
    status: StatusCode,
    filled: Filled,
) -> Result<Response, PageError> {
    let mut shell = shell::at_desk(app, visitor, at, Section::Settings).await?;
    if status != StatusCode::OK {
        shell.notice = Some(Flash { text: fl!(shell.words, "wrong-form"), bad: true });
    }
    Ok(page(status, &view::view(app, at, shell, filled)))
}
