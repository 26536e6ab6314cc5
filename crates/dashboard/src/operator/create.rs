//! `/dashboard/operator/projects/new`: a project for somebody, who is invited to own it.

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::{project::Environment, rules::PROJECT_NAME};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{form::Form, page_error::PageError, render::page, visitor::Visitor},
};

use crate::{
    done::Done,
    members::{FreshInvite, fresh_invite},
    operator::PATH,
    session::{AtOperator, SignedForm},
    shell::{self, Flash, Section, Shell},
    words::{self, Words},
    wrong,
};

const NEW: &str = "/dashboard/operator/projects/new";

#[derive(Template)]
#[template(path = "operator_create.html")]
pub(in super::super) struct CreatePage {
    pub(in super::super) shell: Shell,
    pub(in super::super) base: String,
    pub(in super::super) action: String,
    /// Of the project that was just made; shown this once.
    pub(in super::super) fresh: Option<FreshInvite>,
    pub(in super::super) name: String,
    pub(in super::super) name_mistake: Option<String>,
    pub(in super::super) owner: String,
    pub(in super::super) owner_mistake: Option<String>,
    pub(in super::super) environment: &'static str,
    pub(in super::super) environment_mistake: Option<String>,
}

/// What is in the form when it is shown.
struct Filled {
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
            name: String::new(),
            name_mistake: None,
            owner,
            owner_mistake: None,
            environment: Environment::Sandbox,
            environment_mistake: None,
        }
    }

    fn by(words: Words, form: &Form) -> Filled {
        let text = |name: &str| form.text(name).unwrap_or_default().trim().to_owned();
        let (name, owner) = (text("name"), text("owner"));
        let environment = form.text("environment").and_then(Environment::parse);
        Filled {
            name_mistake: wrong::text(words, PROJECT_NAME, &name),
            owner_mistake: wrong::email(words, &owner),
            environment_mistake: environment.is_none().then(|| fl!(words, "wrong-choice")),
            environment: environment.unwrap_or(Environment::Sandbox),
            name,
            owner,
        }
    }

    fn is_wrong(&self) -> bool {
        self.name_mistake.is_some() || self.owner_mistake.is_some() || self.environment_mistake.is_some()
    }
}

pub(super) fn routes() -> Router<App> {
    Router::new().route(NEW, get(show).post(submit))
}

async fn show(State(app): State<App>, visitor: Visitor, at: AtOperator) -> Result<Response, PageError> {
    let filled = Filled::empty(at.visit.user.email.to_string());
    create_page(&app, &visitor, &at, StatusCode::OK, filled, None).await
}

async fn submit(
    State(app): State<App>,
    visitor: Visitor,
    at: AtOperator,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    let words = words::words(visitor.language);
    let filled = Filled::by(words, &form);
    if filled.is_wrong() {
        return create_page(&app, &visitor, &at, StatusCode::UNPROCESSABLE_ENTITY, filled, None).await;
    }
    let (_, token) = at.operator.create_project(filled.name.clone(), filled.environment, &filled.owner).await?;
    let Some(token) = token else { return Ok(Done::ProjectCreated.leading_to(&app, PATH)) };
    let fresh = fresh_invite(&app, words, &filled.owner, &token);
    let filled = Filled::empty(String::new());
    create_page(&app, &visitor, &at, StatusCode::OK, filled, Some(fresh)).await
}

async fn create_page(
    app: &App,
    visitor: &Visitor,
    at: &AtOperator,
    status: StatusCode,
    filled: Filled,
    fresh: Option<FreshInvite>,
) -> Result<Response, PageError> {
    let mut shell = shell::signed_in(app, visitor, &at.visit, Section::Operator).await?;
    if filled.is_wrong() {
        shell.notice = Some(Flash { text: fl!(shell.words, "wrong-form"), bad: true });
    } else if fresh.is_some() {
        shell.notice = Some(Flash { text: Done::ProjectCreated.text(shell.words), bad: false });
    }
    let view = CreatePage {
        shell,
        base: app.settings.urls.url(PATH),
        action: app.settings.urls.url(NEW),
        fresh,
        name: filled.name,
        name_mistake: filled.name_mistake,
        owner: filled.owner,
        owner_mistake: filled.owner_mistake,
        environment: filled.environment.word(),
        environment_mistake: filled.environment_mistake,
    };
    Ok(page(status, &view))
}
