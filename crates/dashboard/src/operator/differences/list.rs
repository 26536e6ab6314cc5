//! The list of differences, either those that are open or those that somebody has settled.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use i18n_embed_fl::fl;
use web::page::page_error::PageError;

use super::wording::{DifferenceFacts, facts};
use crate::{
    operator::tabs::{PATH, Tab, differences_path},
    page::OperatorPage,
    shell::Shell,
    table::{PageNumber, Paging},
};

#[derive(Template)]
#[template(path = "operator/differences/list.html")]
pub(crate) struct DifferencesPage {
    pub(crate) shell: Shell,
    pub(crate) tab: Tab,
    pub(crate) base: String,
    pub(crate) path: String,
    /// Whether the settled ones are listed, and not those that are open.
    pub(crate) settled: bool,
    /// How many are open; none where none are.
    pub(crate) open: Option<String>,
    pub(crate) rows: Vec<DifferenceFacts>,
    pub(crate) paging: Paging,
}

pub(crate) async fn show(page: OperatorPage) -> Result<Response, PageError> {
    let (shell, number) = (page.shell().await?, PageNumber::of(&page));
    let settled = page.query("tab") == Some("settled");
    let listed = page.operator.differences(!settled, number.window()).await?;
    let mut rows = Vec::new();
    for difference in &listed.items {
        let account = page.operator.bank_account(difference.key.account_id).await?;
        rows.push(facts(&page, difference, &account));
    }
    let count = page.operator.open_differences().await?;
    let query = if settled { "tab=settled" } else { "" };
    let view = DifferencesPage {
        tab: Tab::Differences,
        base: page.url(PATH),
        path: page.url(differences_path()),
        settled,
        open: (count > 0).then(|| fl!(shell.words, "differences-open", count = count)),
        rows,
        paging: number.paging(&page, &differences_path(), query, &listed),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}
