//! `/dashboard/projects/new`: a project of one's own. One for production waits for an operator.

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::{project::Environment, rules::PROJECT_NAME};
use engine::{Error, Visit};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{page_error::PageError, render::page, visitor::Visitor},
};

use crate::{
    done::Done,
    session::{SignedForm, SignedIn},
    shell::{self, Flash, Section, Shell},
    words, wrong,
};

const PATH: &str = "/dashboard/projects/new";

#[derive(Template)]
#[template(path = "new_project.html")]
pub(super) struct NewProjectPage {
    pub(super) shell: Shell,
    pub(super) action: String,
    pub(super) name: String,
    pub(super) name_mistake: Option<String>,
    /// `sandbox` or `production`.
    pub(super) environment: &'static str,
    pub(super) environment_mistake: Option<String>,
}

/// What is in the form when it is shown.
struct Filled {
    name: String,
    name_mistake: Option<String>,
    environment: Environment,
    environment_mistake: Option<String>,
    notice: Option<String>,
}

pub(super) fn routes() -> Router<App> {
    Router::new().route(PATH, get(show).post(submit))
}

async fn show(State(app): State<App>, visitor: Visitor, SignedIn(visit): SignedIn) -> Result<Response, PageError> {
    if !app.engine.may_create_project(&visit).await? {
        return Err(Error::RoleForbids.into());
    }
    let filled = Filled {
        name: String::new(),
        name_mistake: None,
        environment: Environment::Sandbox,
        environment_mistake: None,
        notice: None,
    };
    form_page(&app, &visitor, &visit, StatusCode::OK, filled).await
}

async fn submit(
    State(app): State<App>,
    visitor: Visitor,
    SignedIn(visit): SignedIn,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    if !app.engine.may_create_project(&visit).await? {
        return Err(Error::RoleForbids.into());
    }
    let words = words::words(visitor.language);
    let name = form.text("name").unwrap_or_default().trim().to_owned();
    let environment = form.text("environment").and_then(Environment::parse);
    let mut filled = Filled {
        name_mistake: wrong::text(words, PROJECT_NAME, &name),
        environment_mistake: environment.is_none().then(|| fl!(words, "wrong-choice")),
        environment: environment.unwrap_or(Environment::Sandbox),
        notice: None,
        name,
    };
    if filled.name_mistake.is_some() || filled.environment_mistake.is_some() {
        filled.notice = Some(fl!(words, "wrong-form"));
        return form_page(&app, &visitor, &visit, StatusCode::UNPROCESSABLE_ENTITY, filled).await;
    }
    match app.engine.create_owned_project(&visit, filled.name.clone(), filled.environment).await {
        Ok(project) => Ok(Done::ProjectCreated.leading_to(&app, format_args!("/dashboard/{}", project.id))),
        Err(Error::TooMany { most, .. }) => {
            let most = most.to_string();
            filled.notice = Some(fl!(words, "new-project-many", most = most));
            form_page(&app, &visitor, &visit, StatusCode::CONFLICT, filled).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn form_page(
    app: &App,
    visitor: &Visitor,
    visit: &Visit,
    status: StatusCode,
    filled: Filled,
) -> Result<Response, PageError> {
    let mut shell = shell::signed_in(app, visitor, visit, Section::Other).await?;
    if let Some(text) = filled.notice {
        shell.notice = Some(Flash { text, bad: true });
    }
    let view = NewProjectPage {
        shell,
        action: app.settings.urls.url(PATH),
        name: filled.name,
        name_mistake: filled.name_mistake,
        environment: filled.environment.word(),
        environment_mistake: filled.environment_mistake,
    };
    Ok(page(status, &view))
}
