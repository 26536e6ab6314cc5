//! `/dashboard/operator/audit`: the audit log of the whole installation.

use std::collections::{HashMap, hash_map::Entry};

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::id::ProjectId;
use i18n_embed_fl::fl;
use web::{App, page::page_error::PageError};

use super::tabs::{PATH, Tab};
use crate::{
    audit::{Log, row},
    page::OperatorPage,
    shell::Shell,
    table::PageNumber,
};

const AUDIT: &str = "/dashboard/operator/audit";

#[derive(Template)]
#[template(path = "operator/audit.html")]
pub(crate) struct OperatorAuditPage {
    pub(crate) shell: Shell,
    pub(crate) tab: Tab,
    pub(crate) base: String,
    pub(crate) log: Log,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route(AUDIT, get(show))
}

async fn show(page: OperatorPage) -> Result<Response, PageError> {
    let (shell, number) = (page.shell().await?, PageNumber::of(&page));
    let listed = page.operator.audit(number.window()).await?;
    let mut names: HashMap<ProjectId, String> = HashMap::new();
    for id in listed.items.iter().filter_map(|audited| audited.line.project_id) {
        if let Entry::Vacant(unknown) = names.entry(id) {
            unknown.insert(page.operator.project(id).await?.name);
        }
    }
    let name = |id: Option<ProjectId>| id.and_then(|id| names.get(&id)).cloned().unwrap_or_default();
    let rows = listed.items.iter().map(|audited| row(&page, audited, name(audited.line.project_id))).collect();
    let log = Log { rows, paging: number.paging(&page, AUDIT, "", &listed) };
    Ok(page.render(StatusCode::OK, &OperatorAuditPage { shell, tab: Tab::Log, base: page.url(PATH), log }))
}
