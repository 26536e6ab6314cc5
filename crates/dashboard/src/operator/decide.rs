//! `/dashboard/operator/projects/<project>/<decision>`: asks for confirmation, and then carries a decision out.

use askama::Template;
use axum::{
    Router,
    http::StatusCode,
    response::Response,
    routing::{MethodRouter, get},
};
use domain::{id::ProjectId, project::Environment};
use engine::Error;
use i18n_embed_fl::fl;
use web::{App, page::page_error::PageError};

use super::{
    decision::Decision,
    tabs::{PATH, project_path},
};
use crate::{
    done::Done,
    page::OperatorPage,
    session::{LastId, SignedForm},
    shell::Shell,
};

#[derive(Template)]
#[template(path = "operator_decide.html")]
pub(crate) struct DecisionPage {
    pub(crate) shell: Shell,
    pub(crate) project: String,
    pub(crate) project_url: String,
    pub(crate) action: String,
    pub(crate) heading: String,
    pub(crate) project_id: String,
    pub(crate) effects: Vec<String>,
    pub(crate) button: String,
    /// Whether the project can do less afterwards.
    pub(crate) bad: bool,
}

pub(crate) fn routes() -> Router<App> {
    Decision::ALL.into_iter().fold(Router::new(), |router, decision| {
        router.route(&format!("{PATH}/projects/{{project}}/{}", decision.word()), ask_and_decide(decision))
    })
}

fn ask_and_decide(decision: Decision) -> MethodRouter<App> {
    let ask = move |page: OperatorPage, LastId(id): LastId<ProjectId>| async move { ask(&page, id, decision).await };
    let decide = move |page: OperatorPage, LastId(id): LastId<ProjectId>, _: SignedForm| async move {
        decide(&page, id, decision).await
    };
    get(ask).post(decide)
}

async fn ask(page: &OperatorPage, id: ProjectId, decision: Decision) -> Result<Response, PageError> {
    let project = page.operator.project(id).await?;
    let is_approval = matches!(decision, Decision::Approve | Decision::WithdrawApproval);
    if is_approval && project.environment != Environment::Production {
        return Err(Error::NotProduction.into());
    }
    let (shell, words) = (page.shell().await?, page.words());
    let view = DecisionPage {
        shell,
        project_url: page.url(project_path(id)),
        action: page.url(decision.path(id)),
        heading: decision.question(words, &project.name),
        project: project.name,
        project_id: id.to_string(),
        effects: decision.effects(words),
        button: decision.button(words),
        bad: decision.takes_away(),
    };
    Ok(page.render(StatusCode::OK, &view))
}

async fn decide(page: &OperatorPage, id: ProjectId, decision: Decision) -> Result<Response, PageError> {
    let operator = &page.operator;
    let done = match decision {
        Decision::Approve => operator.approve(id, true).await.map(|_| Done::Approved),
        Decision::WithdrawApproval => operator.approve(id, false).await.map(|_| Done::ApprovalWithdrawn),
        Decision::Activate => operator.activate(id, true).await.map(|_| Done::Activated),
        Decision::Deactivate => operator.activate(id, false).await.map(|_| Done::Deactivated),
    };
    Ok(page.redirect(PATH, done?))
}
