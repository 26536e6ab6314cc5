//! `/dashboard/<project>/audit.csv` and `audit.jsonl`: the whole audit log of a project as a file, oldest first, with the position
//! and the hash of each line in the project's chain. They are for owners.

use axum::{Router, http::HeaderMap, response::Response, routing::get};
use domain::{access::Act, id::AuditId};
use engine::{Audited, Desk, Error};
use web::{
    App,
    page::{moment::local_rfc3339, page_error::PageError},
};
use wire::audit::AuditLineJson;

use crate::{
    csv::{Format, LINES_AT_ONCE, Lines, Table, download, without_formula},
    page::Page,
};

struct AuditTable;

struct AuditLines;

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/dashboard/{project}/audit.csv", get(export_csv))
        .route("/dashboard/{project}/audit.jsonl", get(export_json))
}

async fn export_csv(page: Page, headers: HeaderMap) -> Result<Response, PageError> {
    page.require(Act::ExportAudit)?;
    download(&page, &headers, "-audit", AuditTable)
}

async fn export_json(page: Page, headers: HeaderMap) -> Result<Response, PageError> {
    page.require(Act::ExportAudit)?;
    download(&page, &headers, "-audit", AuditLines)
}

/// The next lines, each made into cells.
async fn lines(
    desk: &Desk,
    cursor: Option<AuditId>,
    cells: fn(&Audited) -> Vec<String>,
) -> Result<Lines<AuditId>, Error> {
    let lines = desk.audit_after(cursor, LINES_AT_ONCE).await?;
    let is_full = i64::try_from(lines.len()).is_ok_and(|found| found == LINES_AT_ONCE);
    let next = lines.last().filter(|_| is_full).map(|audited| audited.line.id);
    Ok((lines.iter().map(cells).collect(), next))
}

impl Table for AuditTable {
    type Cursor = AuditId;
    const COLUMNS: &'static [&'static str] =
        &["id", "at", "action", "actor", "actor_email", "address", "subject", "detail", "position", "hash"];

    async fn page(&self, desk: &Desk, cursor: Option<AuditId>) -> Result<Lines<AuditId>, Error> {
        lines(desk, cursor, csv_cells).await
    }
}

impl Table for AuditLines {
    type Cursor = AuditId;
    const FORMAT: Format = Format::JsonLines;
    const COLUMNS: &'static [&'static str] = &[];

    async fn page(&self, desk: &Desk, cursor: Option<AuditId>) -> Result<Lines<AuditId>, Error> {
        lines(desk, cursor, |audited| vec![serde_json::to_string(&json(audited)).unwrap_or_default()]).await
    }
}

fn json(audited: &Audited) -> AuditLineJson {
    AuditLineJson::of(&audited.line, audited.seal.as_ref(), audited.email())
}

fn csv_cells(audited: &Audited) -> Vec<String> {
    let line = json(audited);
    vec![
        line.id,
        local_rfc3339(audited.line.at),
        line.action.to_owned(),
        line.actor,
        without_formula(&line.actor_email.unwrap_or_default()),
        without_formula(&line.address.unwrap_or_default()),
        without_formula(&line.subject),
        without_formula(&line.detail),
        line.position.map(|position| position.to_string()).unwrap_or_default(),
        line.hash.unwrap_or_default(),
    ]
}
