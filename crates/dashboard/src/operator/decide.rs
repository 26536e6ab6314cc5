//! What an operator decides about a project, each asked once more before it is done.

use askama::Template;
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::Response,
    routing::{MethodRouter, get},
};
use domain::{
    id::ProjectId,
    project::{Environment, Project},
};
use engine::Error;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{page_error::PageError, render::page, visitor::Visitor},
};

use crate::{
    done::Done,
    operator::{PATH, project},
    session::{AtOperator, LastId, SignedForm},
    shell::{self, Section, Shell},
    words::Words,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Approve,
    WithdrawApproval,
    Activate,
    Deactivate,
}

#[derive(Template)]
#[template(path = "operator_decide.html")]
pub(in super::super) struct DecisionPage {
    pub(in super::super) shell: Shell,
    pub(in super::super) project: String,
    pub(in super::super) project_url: String,
    pub(in super::super) action: String,
    pub(in super::super) heading: String,
    pub(in super::super) project_id: String,
    pub(in super::super) effects: Vec<String>,
    pub(in super::super) button: String,
    /// Takes something away.
    pub(in super::super) bad: bool,
}

impl Decision {
    const ALL: [Decision; 4] =
        [Decision::Approve, Decision::WithdrawApproval, Decision::Activate, Decision::Deactivate];

    const fn word(self) -> &'static str {
        match self {
            Decision::Approve => "approve",
            Decision::WithdrawApproval => "withdraw-approval",
            Decision::Activate => "activate",
            Decision::Deactivate => "deactivate",
        }
    }

    pub(super) const fn takes_away(self) -> bool {
        matches!(self, Decision::WithdrawApproval | Decision::Deactivate)
    }

    pub(super) fn path(self, id: ProjectId) -> String {
        format!("{}/{}", project::path(id), self.word())
    }

    /// The decisions that would change something.
    pub(super) fn of(project: &Project) -> Vec<Decision> {
        let approval = match (project.environment, project.approved) {
            (Environment::Sandbox, _) => None,
            (Environment::Production, false) => Some(Decision::Approve),
            (Environment::Production, true) => Some(Decision::WithdrawApproval),
        };
        let activity = if project.active { Decision::Deactivate } else { Decision::Activate };
        approval.into_iter().chain([activity]).collect()
    }
}

pub(super) fn routes() -> Router<App> {
    Decision::ALL.into_iter().fold(Router::new(), |router, decision| {
        router.route(&format!("{PATH}/projects/{{project}}/{}", decision.word()), decided(decision))
    })
}

fn decided(decision: Decision) -> MethodRouter<App> {
    let ask = move |State(app): State<App>, visitor: Visitor, at: AtOperator, LastId(id): LastId<ProjectId>| async move {
        ask(&app, &visitor, &at, id, decision).await
    };
    let decide = move |State(app): State<App>, at: AtOperator, LastId(id): LastId<ProjectId>, _: SignedForm| async move {
        decide(&app, &at, id, decision).await
    };
    get(ask).post(decide)
}

async fn ask(
    app: &App,
    visitor: &Visitor,
    at: &AtOperator,
    id: ProjectId,
    decision: Decision,
) -> Result<Response, PageError> {
    let project = at.operator.project(id).await?;
    let is_approval = matches!(decision, Decision::Approve | Decision::WithdrawApproval);
    if is_approval && project.environment != Environment::Production {
        return Err(Error::NotProduction.into());
    }
    let shell = shell::signed_in(app, visitor, &at.visit, Section::Operator).await?;
    let (heading, effects, button) = told(shell.words, decision, &project.name);
    let view = DecisionPage {
        shell,
        project_url: app.settings.urls.url(project::path(id)),
        project: project.name,
        action: app.settings.urls.url(decision.path(id)),
        heading,
        project_id: id.to_string(),
        effects,
        button,
        bad: decision.takes_away(),
    };
    Ok(page(StatusCode::OK, &view))
}

async fn decide(app: &App, at: &AtOperator, id: ProjectId, decision: Decision) -> Result<Response, PageError> {
    let done = match decision {
        Decision::Approve => at.operator.approve(id, true).await.map(|_| Done::Approved),
        Decision::WithdrawApproval => at.operator.approve(id, false).await.map(|_| Done::ApprovalWithdrawn),
        Decision::Activate => at.operator.activate(id, true).await.map(|_| Done::Activated),
        Decision::Deactivate => at.operator.activate(id, false).await.map(|_| Done::Deactivated),
    };
    Ok(done?.leading_to(app, PATH))
}

/// The question, what follows from it, and the button.
fn told(words: Words, decision: Decision, project: &str) -> (String, Vec<String>, String) {
    match decision {
        Decision::Approve => (
            fl!(words, "operator-approve-heading", project = project),
            vec![fl!(words, "operator-approve-effect"), fl!(words, "operator-approve-back")],
            fl!(words, "operator-approve"),
        ),
        Decision::WithdrawApproval => (
            fl!(words, "operator-withdraw-heading", project = project),
            vec![fl!(words, "operator-stop-effect"), fl!(words, "operator-stop-pending")],
            fl!(words, "operator-withdraw"),
        ),
        Decision::Activate => (
            fl!(words, "operator-activate-heading", project = project),
            vec![fl!(words, "operator-activate-effect")],
            fl!(words, "operator-activate"),
        ),
        Decision::Deactivate => (
            fl!(words, "operator-deactivate-heading", project = project),
            vec![fl!(words, "operator-stop-effect"), fl!(words, "operator-stop-pending")],
            fl!(words, "operator-deactivate"),
        ),
    }
}
