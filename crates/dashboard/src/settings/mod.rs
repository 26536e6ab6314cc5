//! `/dashboard/<project>/settings`: what customers and the API see of a project, one form for each part.

pub(crate) mod face;
pub(crate) mod forms;
pub(crate) mod letters;
pub(crate) mod notices;
pub(crate) mod refunds;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod view;

use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::access::Act;
use engine::ProjectUpdate;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{form::Form, page_error::PageError},
};

use self::{forms::Filled, view::view};
use crate::{done::Done, page::Page, session::SignedForm, shell::Section, words::Words};

pub(crate) fn routes() -> Router<App> {
    // A user whose session has ended signs in at the form's address, and then sees the page there.
    Router::new()
        .route("/dashboard/{project}/settings", get(show))
        .route("/dashboard/{project}/settings/merchant", get(show).post(save_merchant))
        .route("/dashboard/{project}/settings/origins", get(show).post(save_origins))
        .route("/dashboard/{project}/settings/frames", get(show).post(save_frames))
        .route("/dashboard/{project}/settings/methods", get(show).post(save_methods))
        .route("/dashboard/{project}/settings/success-word", get(show).post(save_success_word))
        .merge(face::routes())
        .merge(letters::routes())
        .merge(refunds::routes())
        .merge(notices::routes())
}

async fn show(page: Page) -> Result<Response, PageError> {
    let filled = Filled::of(page.project());
    settings_page(&page, StatusCode::OK, filled).await
}

async fn save_merchant(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    save(&page, &form, Filled::merchant).await
}

async fn save_origins(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    save(&page, &form, Filled::origins).await
}

async fn save_frames(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    save(&page, &form, Filled::frames).await
}

async fn save_methods(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    save(&page, &form, Filled::methods).await
}

async fn save_success_word(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    save(&page, &form, Filled::success_word).await
}

/// Reads one of the forms: what it changes, or none where something in it is wrong.
type Read = fn(&mut Filled, Words, &Form) -> Option<ProjectUpdate>;

async fn save(page: &Page, form: &Form, read: Read) -> Result<Response, PageError> {
    page.require(Act::Configure)?;
    let mut filled = Filled::of(page.project());
    match read(&mut filled, page.words(), form) {
        Some(update) => {
            page.desk.configure(update).await?;
            Ok(page.redirect(page.path("/settings"), Done::SettingsSaved))
        }
        None => settings_page(page, StatusCode::UNPROCESSABLE_ENTITY, filled).await,
    }
}

async fn settings_page(page: &Page, status: StatusCode, filled: Filled) -> Result<Response, PageError> {
    let mut shell = page.shell(Section::Settings).await?;
    if status != StatusCode::OK {
        shell.warn(fl!(shell.words, "mistake-form"));
    }
    let origins = page.desk.allowed_origins().await?;
    let standings = page.desk.method_standings().await?;
    Ok(page.render(status, &view(page, shell, filled, &origins, &standings)))
}
