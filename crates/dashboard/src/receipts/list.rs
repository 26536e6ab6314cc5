//! The list of receipts, either those that need a decision or those that have one.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::receipt::UnappliedReceipt;
use engine::UnappliedFilter;
use i18n_embed_fl::fl;
use web::page::{moment::Moment, page_error::PageError};

use super::wording::{TakenDecision, decide_url, reason, taken_decision};
use crate::{
    page::Page,
    shell::{Section, Shell},
    table::{PageNumber, Paging},
};

#[derive(Template)]
#[template(path = "receipts.html")]
pub(crate) struct ReceiptsPage {
    pub(crate) shell: Shell,
    pub(crate) balance_url: String,
    pub(crate) path: String,
    /// Whether the receipts with a decision are listed, and not those without.
    pub(crate) decided: bool,
    pub(crate) rows: Vec<Row>,
    pub(crate) paging: Paging,
}

pub(crate) struct Row {
    pub(crate) url: String,
    pub(crate) amount: String,
    pub(crate) reason: String,
    pub(crate) paid: Moment,
    pub(crate) decision: Option<TakenDecision>,
}

pub(crate) async fn list(page: Page) -> Result<Response, PageError> {
    let (shell, base, number) = (page.shell(Section::Balance).await?, page.base(), PageNumber::of(&page));
    let decided = page.query("tab") == Some("decided");
    let filter = if decided { UnappliedFilter::Decided } else { UnappliedFilter::Undecided };
    let listed = page.desk.receipts(filter, number.window()).await?;
    let row = |receipt: &UnappliedReceipt| Row {
        url: decide_url(&base, &receipt.receipt.key),
        amount: receipt.receipt.amount.to_string(),
        reason: reason(page.words(), receipt.reason),
        paid: page.short_moment(receipt.receipt.paid_at),
        decision: taken_decision(&page, receipt),
    };
    let query = if decided { "tab=decided" } else { "" };
    let view = ReceiptsPage {
        balance_url: format!("{base}/balance"),
        path: format!("{base}/balance/receipts"),
        decided,
        rows: listed.items.iter().map(row).collect(),
        paging: number.paging(&page, &page.path("/balance/receipts"), query, &listed),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}
