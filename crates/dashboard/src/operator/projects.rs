//! `/dashboard/operator`: the list of all projects. Those that wait for an approval come first, then the newest.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::project::Environment;
use engine::ProjectHealth;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{moment::Moment, page_error::PageError},
};

use super::tabs::{PATH, Tab, project_path};
use crate::{
    labels::{Badge, project_badge},
    page::OperatorPage,
    shell::Shell,
    table::{PageNumber, Paging},
};

/// The filter for projects that wait for an approval, as an address holds it.
const WAITING: &str = "waiting";

#[derive(Template)]
#[template(path = "operator/projects.html")]
pub(crate) struct ProjectsPage {
    pub(crate) shell: Shell,
    pub(crate) tab: Tab,
    /// `/dashboard/operator`.
    pub(crate) base: String,
    pub(crate) total: i64,
    pub(crate) waiting: i64,
    /// Whether only projects that wait for an approval are listed.
    pub(crate) waiting_only: bool,
    pub(crate) rows: Vec<ProjectRow>,
    pub(crate) paging: Paging,
}

pub(crate) struct ProjectRow {
    pub(crate) url: String,
    pub(crate) name: String,
    /// Its environment, and how many members it has.
    pub(crate) about: String,
    pub(crate) state: Badge,
    pub(crate) undecided: i64,
    pub(crate) failing: i64,
    pub(crate) last_payment: Option<Moment>,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/operator", get(show))
}

async fn show(page: OperatorPage) -> Result<Response, PageError> {
    let (shell, number) = (page.shell().await?, PageNumber::of(&page));
    let waiting_only = page.query("show") == Some(WAITING);
    let listed = page.operator.projects(waiting_only, number.window()).await?;
    let (total, waiting) = (page.operator.count_projects(false).await?, page.operator.count_projects(true).await?);
    let query = if waiting_only { format!("show={WAITING}") } else { String::new() };
    let view = ProjectsPage {
        tab: Tab::Projects,
        base: page.url(PATH),
        total,
        waiting,
        waiting_only,
        paging: number.paging(&page, PATH, &query, &listed),
        rows: listed.items.iter().map(|health| row(&page, health)).collect(),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

fn row(page: &OperatorPage, health: &ProjectHealth) -> ProjectRow {
    let (words, project) = (page.words(), &health.project);
    let environment = match project.environment {
        Environment::Sandbox => fl!(words, "sandbox"),
        Environment::Production => fl!(words, "production"),
    };
    let members = fl!(words, "operator-members", count = health.members);
    ProjectRow {
        url: page.url(project_path(project.id)),
        name: project.name.clone(),
        about: format!("{environment} · {members}"),
        state: project_badge(words, project),
        undecided: health.undecided,
        failing: health.failing,
        last_payment: health.last_payment_at.map(|at| page.moment(at)),
    }
}
