//! `/dashboard/operator/projects/new`: a project for another user, who is invited to own it, or for the operator.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{project::Environment, rules::PROJECT_NAME};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{form::Form, page_error::PageError},
};

use super::tabs::PATH;
use crate::{
    attempt,
    done::Done,
    input::{email_mistake, text_mistake},
    members::{FreshInvite, fresh_invite},
    page::OperatorPage,
    session::SignedForm,
    shell::{Flash, Shell},
    words::Words,
};

const NEW: &str = "/dashboard/operator/projects/new";

#[derive(Template)]
#[template(path = "operator/create.html")]
pub(crate) struct CreatePage {
    pub(crate) shell: Shell,
    pub(crate) base: String,
    pub(crate) action: String,
    pub(crate) attempt: String,
    /// The invitation for the owner of the project that this request created; it is shown this once.
    pub(crate) fresh: Option<FreshInvite>,
    pub(crate) name: String,
    pub(crate) name_mistake: Option<String>,
    pub(crate) owner: String,
    pub(crate) owner_mistake: Option<String>,
    pub(crate) environment: &'static str,
    pub(crate) environment_mistake: Option<String>,
}

/// The content of the form, and what is wrong with it.
struct Filled {
    attempt: String,
    name: String,
    name_mistake: Option<String>,
    owner: String,
    owner_mistake: Option<String>,
    environment: Environment,
    environment_mistake: Option<String>,
}

impl Filled {
    fn empty(owner: String) -> Filled {
        Filled {
            attempt: attempt::fresh(),
            name: String::new(),
            name_mistake: None,
            owner,
            owner_mistake: None,
            environment: Environment::Sandbox,
            environment_mistake: None,
        }
    }

    fn read(words: Words, form: &Form) -> Filled {
        let text = |name: &str| form.text(name).unwrap_or_default().trim().to_owned();
        let (name, owner) = (text("name"), text("owner"));
        let environment = form.text("environment").and_then(Environment::parse);
        Filled {
            attempt: attempt::sent(form.text("attempt")),
            name_mistake: text_mistake(words, PROJECT_NAME, &name),
            owner_mistake: email_mistake(words, &owner),
            environment_mistake: environment.is_none().then(|| fl!(words, "mistake-choice")),
            environment: environment.unwrap_or(Environment::Sandbox),
            name,
            owner,
        }
    }

    fn is_wrong(&self) -> bool {
        self.name_mistake.is_some() || self.owner_mistake.is_some() || self.environment_mistake.is_some()
    }
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route(NEW, get(show).post(submit))
}

async fn show(page: OperatorPage) -> Result<Response, PageError> {
    let filled = Filled::empty(page.visit.user.email.to_string());
    create_page(&page, StatusCode::OK, filled, None).await
}

async fn submit(page: OperatorPage, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    let words = page.words();
    let filled = Filled::read(words, &form);
    if filled.is_wrong() {
        return create_page(&page, StatusCode::UNPROCESSABLE_ENTITY, filled, None).await;
    }
    let (name, attempt) = (filled.name.clone(), Some(filled.attempt.as_str()));
    let (environment, owner, language) = (filled.environment, &filled.owner, page.language());
    let (_, token) = page.operator.create_project(name, environment, owner, language, attempt).await?;
    let Some(token) = token else { return Ok(page.redirect(PATH, Done::ProjectCreated)) };
    let fresh = fresh_invite(&page, &filled.owner, &token);
    let filled = Filled::empty(String::new());
    create_page(&page, StatusCode::OK, filled, Some(fresh)).await
}

async fn create_page(
    page: &OperatorPage,
    status: StatusCode,
    filled: Filled,
    fresh: Option<FreshInvite>,
) -> Result<Response, PageError> {
    let mut shell = page.shell().await?;
    if filled.is_wrong() {
        shell.warn(fl!(shell.words, "mistake-form"));
    } else if fresh.is_some() {
        shell.notice = Some(Flash { text: Done::ProjectCreated.text(shell.words), bad: false });
    }
    let view = CreatePage {
        shell,
        base: page.url(PATH),
        action: page.url(NEW),
        attempt: filled.attempt,
        fresh,
        name: filled.name,
        name_mistake: filled.name_mistake,
        owner: filled.owner,
        owner_mistake: filled.owner_mistake,
        environment: filled.environment.word(),
        environment_mistake: filled.environment_mistake,
    };
    Ok(page.render(status, &view))
}
