//! `/dashboard/operator/projects/<project>`: how one project fares, and what can be decided about it.

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::{
    id::ProjectId,
    project::{Environment, Project},
};
use engine::Error;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        moment::{Moment, moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};

use crate::{
    fragment::Badge,
    operator::{PATH, decide::Decision},
    session::{AtOperator, LastId},
    settings::standing,
    shell::{self, Section, Shell},
    words::Words,
};

#[derive(Template)]
#[template(path = "operator_project.html")]
pub(in super::super) struct ProjectPage {
    pub(in super::super) shell: Shell,
    pub(in super::super) base: String,
    pub(in super::super) name: String,
    pub(in super::super) project_id: String,
    pub(in super::super) sandbox: bool,
    pub(in super::super) standing: Badge,
    pub(in super::super) made: Moment,
    pub(in super::super) members: i64,
    pub(in super::super) undecided: i64,
    pub(in super::super) failing: i64,
    pub(in super::super) last_payment: Option<Moment>,
    pub(in super::super) acts: Vec<ActLink>,
    /// None where the operator is no member.
    pub(in super::super) desk_url: Option<String>,
}

pub(in super::super) struct ActLink {
    pub(in super::super) url: String,
    pub(in super::super) text: String,
    /// Takes something away.
    pub(in super::super) bad: bool,
}

pub(super) fn routes() -> Router<App> {
    Router::new().route("/dashboard/operator/projects/{project}", get(show))
}

/// Where a project's page is.
pub(super) fn path(id: ProjectId) -> String {
    format!("{PATH}/projects/{id}")
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    at: AtOperator,
    LastId(id): LastId<ProjectId>,
) -> Result<Response, PageError> {
    let found = at.operator.projects().await?.into_iter().find(|health| health.project.id == id);
    let health = found.ok_or(Error::NotFound("project"))?;
    let project = &health.project;
    let shell = shell::signed_in(&app, &visitor, &at.visit, Section::Operator).await?;
    let (words, desk_url) = (shell.words, shell::base(&app, project));
    let decisions = Decision::of(project).into_iter();
    let view = ProjectPage {
        base: app.settings.urls.url(PATH),
        name: project.name.clone(),
        project_id: id.to_string(),
        sandbox: project.environment == Environment::Sandbox,
        standing: standing(words, project),
        made: moment(project.created_at, visitor.language),
        members: health.members,
        undecided: health.undecided,
        failing: health.failing,
        last_payment: health.last_payment_at.map(|at| moment(at, visitor.language)),
        acts: decisions.map(|decision| act_link(&app, words, project, decision)).collect(),
        desk_url: shell.projects.iter().any(|choice| choice.url == desk_url).then_some(desk_url),
        shell,
    };
    Ok(page(StatusCode::OK, &view))
}

fn act_link(app: &App, words: Words, project: &Project, decision: Decision) -> ActLink {
    ActLink {
        url: app.settings.urls.url(decision.path(project.id)),
        text: match decision {
            Decision::Approve => fl!(words, "operator-approve"),
            Decision::WithdrawApproval => fl!(words, "operator-withdraw"),
            Decision::Activate => fl!(words, "operator-activate"),
            Decision::Deactivate => fl!(words, "operator-deactivate"),
        },
        bad: decision.takes_away(),
    }
}
