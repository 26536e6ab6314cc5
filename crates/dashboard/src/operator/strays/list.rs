//! The list of strays, either those that need a decision or those that have one.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use i18n_embed_fl::fl;
use web::page::page_error::PageError;

use super::wording::{StrayFacts, TakenDecision, facts, taken_decision};
use crate::{
    operator::tabs::{PATH, Tab, strays_path},
    page::OperatorPage,
    shell::Shell,
    table::{PageNumber, Paging},
};

#[derive(Template)]
#[template(path = "operator/strays/list.html")]
pub(crate) struct StraysPage {
    pub(crate) shell: Shell,
    pub(crate) tab: Tab,
    pub(crate) base: String,
    pub(crate) path: String,
    /// Whether the strays with a decision are listed, and not those without.
    pub(crate) decided: bool,
    /// How many are open, and what they add up to; none where none are.
    pub(crate) open: Option<String>,
    pub(crate) rows: Vec<Row>,
    pub(crate) paging: Paging,
}

pub(crate) struct Row {
    pub(crate) facts: StrayFacts,
    pub(crate) decision: Option<TakenDecision>,
}

pub(crate) async fn show(page: OperatorPage) -> Result<Response, PageError> {
    let (shell, number) = (page.shell().await?, PageNumber::of(&page));
    let decided = page.query("tab") == Some("decided");
    let listed = page.operator.strays(!decided, number.window()).await?;
    let mut rows = Vec::new();
    for stray in &listed.items {
        let account = page.operator.bank_account(stray.account_id).await?;
        rows.push(Row { facts: facts(&page, stray, &account), decision: taken_decision(&page, stray).await? });
    }
    let open = page.operator.open_strays().await?;
    let (count, amount) = (open.count, open.amount.to_string());
    let query = if decided { "tab=decided" } else { "" };
    let view = StraysPage {
        tab: Tab::Strays,
        base: page.url(PATH),
        path: page.url(strays_path()),
        decided,
        open: (count > 0).then(|| fl!(shell.words, "strays-open", count = count, amount = amount)),
        rows,
        paging: number.paging(&page, &strays_path(), query, &listed),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}
