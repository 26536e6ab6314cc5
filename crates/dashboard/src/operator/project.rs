//! `/dashboard/operator/projects/<project>`: the state of one project, and the decisions that can be taken about it.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    id::ProjectId,
    project::{Environment, Project},
};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{moment::Moment, page_error::PageError},
};

use super::{
    decision::ProjectDecision,
    tabs::{PATH, banks_path},
};
use crate::{
    labels::{Badge, project_badge},
    method_state::{MethodState, method_states},
    page::OperatorPage,
    session::LastId,
    shell::Shell,
};

#[derive(Template)]
#[template(path = "operator/project.html")]
pub(crate) struct ProjectPage {
    pub(crate) shell: Shell,
    pub(crate) base: String,
    pub(crate) name: String,
    pub(crate) project_id: String,
    pub(crate) sandbox: bool,
    pub(crate) state: Badge,
    pub(crate) created: Moment,
    pub(crate) members: i64,
    pub(crate) undecided: i64,
    pub(crate) failing: i64,
    pub(crate) last_payment: Option<Moment>,
    /// By which methods it can take money; empty for a sandbox.
    pub(crate) methods: Vec<MethodState>,
    pub(crate) banks_url: String,
    pub(crate) acts: Vec<ActLink>,
    /// None where the operator is not a member of the project.
    pub(crate) desk_url: Option<String>,
}

pub(crate) struct ActLink {
    pub(crate) url: String,
    pub(crate) text: String,
    /// Whether the project can do less afterwards.
    pub(crate) bad: bool,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/operator/projects/{project}", get(show))
}

async fn show(page: OperatorPage, LastId(id): LastId<ProjectId>) -> Result<Response, PageError> {
    let health = page.operator.project_health(id).await?;
    let (project, shell) = (&health.project, page.shell().await?);
    let desk_url = page.desk_url(project);
    let decisions = ProjectDecision::of(project).into_iter();
    let standings = match project.environment {
        Environment::Production => page.operator.method_standings(project).await?,
        Environment::Sandbox => Vec::new(),
    };
    let view = ProjectPage {
        base: page.url(PATH),
        name: project.name.clone(),
        project_id: id.to_string(),
        sandbox: project.environment == Environment::Sandbox,
        state: project_badge(shell.words, project),
        created: page.moment(project.created_at),
        members: health.members,
        undecided: health.undecided,
        failing: health.failing,
        last_payment: health.last_payment_at.map(|at| page.moment(at)),
        methods: method_states(shell.words, &standings),
        banks_url: page.url(banks_path()),
        acts: decisions.map(|decision| act_link(&page, project, decision)).collect(),
        desk_url: shell.projects.iter().any(|choice| choice.url == desk_url).then_some(desk_url),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

fn act_link(page: &OperatorPage, project: &Project, decision: ProjectDecision) -> ActLink {
    ActLink {
        url: page.url(decision.path(project.id)),
        text: decision.button(page.words()),
        bad: decision.takes_away(),
    }
}
