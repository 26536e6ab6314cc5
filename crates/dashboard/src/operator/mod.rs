//! `/dashboard/operator`: every project of the installation, who can sign in, and the whole audit log. For whoever is no
//! operator there are no such pages.

mod create;
mod decide;
mod project;
mod users;

use std::collections::HashMap;

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::{
    id::ProjectId,
    project::{Environment, Project},
};
use engine::{Listed, ProjectHealth};
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
    audit::{self, Log},
    fragment::Badge,
    session::AtOperator,
    settings::standing,
    shell::{self, Section, Shell},
    table::{PageNumber, Paging, ROWS},
    words::Words,
};

#[cfg(test)]
pub(super) use {
    create::CreatePage,
    decide::DecisionPage,
    project::{ActLink, ProjectPage},
    users::{UserRow, UsersPage},
};

const PATH: &str = "/dashboard/operator";
/// What the filter is called in an address.
const WAITING: &str = "show=waiting";

#[derive(Template)]
#[template(path = "operator.html")]
pub(super) struct OperatorPage {
    pub(super) shell: Shell,
    pub(super) part: Part,
    /// `/dashboard/operator`.
    pub(super) base: String,
    pub(super) total: usize,
    pub(super) waiting: usize,
    /// Whether only those are shown that wait for an approval.
    pub(super) waiting_only: bool,
    pub(super) rows: Vec<ProjectRow>,
    pub(super) paging: Paging,
}

/// Which of the operator's pages it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Projects,
    Users,
    Log,
}

pub(super) struct ProjectRow {
    pub(super) url: String,
    pub(super) name: String,
    /// Its environment and how many belong to it.
    pub(super) about: String,
    pub(super) standing: Badge,
    pub(super) undecided: i64,
    pub(super) failing: i64,
    pub(super) last_payment: Option<Moment>,
}

#[derive(Template)]
#[template(path = "operator_audit.html")]
pub(super) struct OperatorAuditPage {
    pub(super) shell: Shell,
    pub(super) part: Part,
    pub(super) base: String,
    pub(super) log: Log,
}

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route(PATH, get(projects))
        .route("/dashboard/operator/audit", get(whole_log))
        .merge(project::routes())
        .merge(users::routes())
        .merge(create::routes())
        .merge(decide::routes())
}

async fn projects(State(app): State<App>, visitor: Visitor, at: AtOperator) -> Result<Response, PageError> {
    let shell = shell::signed_in(&app, &visitor, &at.visit, Section::Operator).await?;
    let mut all = at.operator.projects().await?;
    // Those that wait come first, then the newest.
    all.reverse();
    all.sort_by_key(|health| !is_waiting(&health.project));
    let waiting = all.iter().filter(|health| is_waiting(&health.project)).count();
    let (total, waiting_only) = (all.len(), visitor.query.text("show").ok().flatten() == Some("waiting"));
    if waiting_only {
        all.truncate(waiting);
    }
    let number = PageNumber::of(&visitor);
    let listed = paged(number, all);
    let query = if waiting_only { WAITING } else { "" };
    let paging = number.paging(&app, PATH, query, &listed, shell.words);
    let rows = listed.items.iter().map(|health| project_row(&app, &visitor, shell.words, health)).collect();
    let base = app.settings.urls.url(PATH);
    let part = Part::Projects;
    Ok(page(StatusCode::OK, &OperatorPage { shell, part, base, total, waiting, waiting_only, rows, paging }))
}

async fn whole_log(State(app): State<App>, visitor: Visitor, at: AtOperator) -> Result<Response, PageError> {
    let shell = shell::signed_in(&app, &visitor, &at.visit, Section::Operator).await?;
    let number = PageNumber::of(&visitor);
    let listed = at.operator.audit(number.window()).await?;
    let mut names: HashMap<ProjectId, String> = HashMap::new();
    for id in listed.items.iter().filter_map(|audited| audited.line.project_id) {
        if let std::collections::hash_map::Entry::Vacant(unknown) = names.entry(id) {
            unknown.insert(at.operator.project(id).await?.name);
        }
    }
    let name = |id: Option<ProjectId>| id.and_then(|id| names.get(&id)).cloned().unwrap_or_default();
    let rows = listed.items.iter().map(|line| audit::row(&visitor, shell.words, line, name(line.line.project_id)));
    let rows = rows.collect();
    let paging = number.paging(&app, "/dashboard/operator/audit", "", &listed, shell.words);
    let base = app.settings.urls.url(PATH);
    Ok(page(StatusCode::OK, &OperatorAuditPage { shell, part: Part::Log, base, log: Log { rows, paging } }))
}

/// One page of a list that is there as a whole.
fn paged<T>(number: PageNumber, all: Vec<T>) -> Listed<T> {
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let offset = usize::try_from(number.window().offset).unwrap_or(usize::MAX);
    let rows = usize::try_from(ROWS).unwrap_or_default();
    Listed { items: all.into_iter().skip(offset).take(rows).collect(), total }
}

fn is_waiting(project: &Project) -> bool {
    project.environment == Environment::Production && !project.approved
}

fn project_row(app: &App, visitor: &Visitor, words: Words, health: &ProjectHealth) -> ProjectRow {
    let project = &health.project;
    let environment = match project.environment {
        Environment::Sandbox => fl!(words, "sandbox"),
        Environment::Production => fl!(words, "production"),
    };
    let count = health.members.to_string();
    ProjectRow {
        url: app.settings.urls.url(project::path(project.id)),
        name: project.name.clone(),
        about: format!("{environment} · {}", fl!(words, "operator-members", count = count)),
        standing: standing(words, project),
        undecided: health.undecided,
        failing: health.failing,
        last_payment: health.last_payment_at.map(|at| moment(at, visitor.language)),
    }
}
