//! `/dashboard/projects/new`: the form by which a user creates a project of their own.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{project::Environment, rules::PROJECT_NAME};
use engine::Error;
use i18n_embed_fl::fl;
use web::{App, page::page_error::PageError};

use crate::{
    attempt,
    done::Done,
    input::text_mistake,
    page::UserPage,
    session::SignedForm,
    shell::{Section, Shell},
};

const PATH: &str = "/dashboard/projects/new";

#[derive(Template)]
#[template(path = "new_project.html")]
pub(crate) struct NewProjectPage {
    pub(crate) shell: Shell,
    pub(crate) action: String,
    pub(crate) attempt: String,
    pub(crate) name: String,
    pub(crate) name_mistake: Option<String>,
    /// `sandbox` or `production`.
    pub(crate) environment: &'static str,
    pub(crate) environment_mistake: Option<String>,
}

/// The content of the form, and what is wrong with it.
struct Filled {
    attempt: String,
    name: String,
    name_mistake: Option<String>,
    environment: Environment,
    environment_mistake: Option<String>,
    notice: Option<String>,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route(PATH, get(show).post(submit))
}

/// Refuses a user who may not create projects.
async fn check(page: &UserPage) -> Result<(), Error> {
    if page.app.engine.may_create_project(&page.visit).await? { Ok(()) } else { Err(Error::RoleForbids) }
}

async fn show(page: UserPage) -> Result<Response, PageError> {
    check(&page).await?;
    let filled = Filled {
        attempt: attempt::fresh(),
        name: String::new(),
        name_mistake: None,
        environment: Environment::Sandbox,
        environment_mistake: None,
        notice: None,
    };
    form_page(&page, StatusCode::OK, filled).await
}

async fn submit(page: UserPage, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    let words = page.words();
    let name = form.text("name").unwrap_or_default().trim().to_owned();
    let environment = form.text("environment").and_then(Environment::parse);
    let mut filled = Filled {
        attempt: attempt::sent(form.text("attempt")),
        name_mistake: text_mistake(words, PROJECT_NAME, &name),
        environment_mistake: environment.is_none().then(|| fl!(words, "mistake-choice")),
        environment: environment.unwrap_or(Environment::Sandbox),
        notice: None,
        name,
    };
    if filled.name_mistake.is_some() || filled.environment_mistake.is_some() {
        // A user who may not create projects is refused, and learns nothing about the form. The engine checks the same
        // below.
        check(&page).await?;
        filled.notice = Some(fl!(words, "mistake-form"));
        return form_page(&page, StatusCode::UNPROCESSABLE_ENTITY, filled).await;
    }
    let (name, attempt) = (filled.name.clone(), Some(filled.attempt.as_str()));
    match page.app.engine.create_owned_project(&page.visit, name, filled.environment, attempt).await {
        Ok(project) => Ok(page.redirect(format_args!("/dashboard/{}", project.id), Done::ProjectCreated)),
        Err(Error::TooMany { most, .. }) => {
            let most = most.to_string();
            filled.notice = Some(fl!(words, "new-project-many", most = most));
            form_page(&page, StatusCode::CONFLICT, filled).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn form_page(page: &UserPage, status: StatusCode, filled: Filled) -> Result<Response, PageError> {
    let mut shell = page.shell(Section::Other).await?;
    if let Some(text) = filled.notice {
        shell.warn(text);
    }
    let view = NewProjectPage {
        shell,
        action: page.url(PATH),
        attempt: filled.attempt,
        name: filled.name,
        name_mistake: filled.name_mistake,
        environment: filled.environment.word(),
        environment_mistake: filled.environment_mistake,
    };
    Ok(page.render(status, &view))
}
