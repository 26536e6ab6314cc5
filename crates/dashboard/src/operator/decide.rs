//! `/dashboard/operator/projects/<project>/<decision>`: asks for confirmation, and then carries a decision out.

use askama::Template;
use axum::{
    Router,
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
use web::{App, page::page_error::PageError};

use super::{
    decision::ProjectDecision,
    tabs::{PATH, project_path},
};
use crate::{
    done::Done,
    method_state::{MethodState, method_states},
    page::OperatorPage,
    session::{LastId, SignedForm},
    shell::Shell,
};

#[derive(Template)]
#[template(path = "operator/decide.html")]
pub(crate) struct DecisionPage {
    pub(crate) shell: Shell,
    /// The project or the bank account that is decided about.
    pub(crate) subject: String,
    pub(crate) subject_url: String,
    pub(crate) subject_id: String,
    pub(crate) action: String,
    pub(crate) heading: String,
    pub(crate) effects: Vec<String>,
    /// By which methods a project can take money once it is approved; empty where that is not decided.
    pub(crate) methods: Vec<MethodState>,
    pub(crate) button: String,
    /// Whether less can be done afterwards.
    pub(crate) bad: bool,
}

pub(crate) fn routes() -> Router<App> {
    ProjectDecision::ALL.into_iter().fold(Router::new(), |router, decision| {
        router.route(&format!("{PATH}/projects/{{project}}/{}", decision.word()), ask_and_decide(decision))
    })
}

fn ask_and_decide(decision: ProjectDecision) -> MethodRouter<App> {
    let ask = move |page: OperatorPage, LastId(id): LastId<ProjectId>| async move { ask(&page, id, decision).await };
    let decide = move |page: OperatorPage, LastId(id): LastId<ProjectId>, _: SignedForm| async move {
        decide(&page, id, decision).await
    };
    get(ask).post(decide)
}

async fn ask(page: &OperatorPage, id: ProjectId, decision: ProjectDecision) -> Result<Response, PageError> {
    let project = page.operator.project(id).await?;
    let is_approval = matches!(decision, ProjectDecision::Approve | ProjectDecision::WithdrawApproval);
    if is_approval && project.environment != Environment::Production {
        return Err(Error::NotProduction.into());
    }
    let (shell, words) = (page.shell().await?, page.words());
    let methods = match decision {
        ProjectDecision::Approve => {
            let approved = Project { approved: true, ..project.clone() };
            method_states(words, &page.operator.method_standings(&approved).await?)
        }
        ProjectDecision::WithdrawApproval | ProjectDecision::Activate | ProjectDecision::Deactivate => Vec::new(),
    };
    let view = DecisionPage {
        shell,
        subject_url: page.url(project_path(id)),
        subject_id: id.to_string(),
        action: page.url(decision.path(id)),
        heading: decision.question(words, &project.name),
        subject: project.name,
        effects: decision.effects(words),
        methods,
        button: decision.button(words),
        bad: decision.takes_away(),
    };
    Ok(page.render(StatusCode::OK, &view))
}

async fn decide(page: &OperatorPage, id: ProjectId, decision: ProjectDecision) -> Result<Response, PageError> {
    let operator = &page.operator;
    let done = match decision {
        ProjectDecision::Approve => operator.approve(id, true).await.map(|_| Done::Approved),
        ProjectDecision::WithdrawApproval => operator.approve(id, false).await.map(|_| Done::ApprovalWithdrawn),
        ProjectDecision::Activate => operator.activate(id, true).await.map(|_| Done::Activated),
        ProjectDecision::Deactivate => operator.activate(id, false).await.map(|_| Done::Deactivated),
    };
    Ok(page.redirect(PATH, done?))
}
