//! The list of receipts, either those that need a decision or those that have one.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::access::Act;
use engine::{HeldReceipt, UnappliedFilter};
use i18n_embed_fl::fl;
use web::page::{moment::Moment, page_error::PageError};

use super::wording::{TakenDecision, customer_line, decide_url, difference, reason, taken_decision, waiting};
use crate::{
    page::Page,
    shell::{Section, Shell},
    table::{PageNumber, Paging},
};

#[derive(Template)]
#[template(path = "receipts/list.html")]
pub(crate) struct ReceiptsPage {
    pub(crate) shell: Shell,
    pub(crate) balance_url: String,
    pub(crate) path: String,
    /// Whether the receipts with a decision are listed, and not those without.
    pub(crate) decided: bool,
    /// Whether the member may choose several of them.
    pub(crate) picks: bool,
    /// How many need a decision, and what they add up to.
    pub(crate) sum: Option<String>,
    /// Why what was chosen cannot be decided about.
    pub(crate) notice: Option<String>,
    pub(crate) rows: Vec<Row>,
    pub(crate) paging: Paging,
}

pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) url: String,
    /// What the check box of this row is called.
    pub(crate) pick: String,
    pub(crate) reference: String,
    pub(crate) customer: Option<String>,
    pub(crate) amount: String,
    pub(crate) due: String,
    pub(crate) difference: Option<String>,
    pub(crate) reason: String,
    pub(crate) received: Moment,
    /// For how long it has waited.
    pub(crate) waits: String,
    pub(crate) decision: Option<TakenDecision>,
}

pub(crate) async fn list(page: Page) -> Result<Response, PageError> {
    list_page(&page, StatusCode::OK, None).await
}

/// `notice`: why nothing was done about the receipts that were chosen.
pub(super) async fn list_page(page: &Page, status: StatusCode, notice: Option<String>) -> Result<Response, PageError> {
    let (shell, base, number) = (page.shell(Section::Balance).await?, page.base(), PageNumber::of(page));
    let (words, decided) = (shell.words, page.query("tab") == Some("decided"));
    let filter = if decided { UnappliedFilter::Decided } else { UnappliedFilter::Undecided };
    let listed = page.desk.receipts(filter, number.window()).await?;
    let sum = page.desk.held_sum().await?;
    let (count, amount) = (sum.receipts, sum.amount.to_string());
    let query = if decided { "tab=decided" } else { "" };
    let view = ReceiptsPage {
        balance_url: format!("{base}/balance"),
        path: format!("{base}/balance/receipts"),
        decided,
        picks: !decided && page.desk.may(Act::DecideReceipts),
        sum: (!decided && count > 0).then(|| fl!(words, "receipts-sum", count = count, amount = amount)),
        notice,
        rows: listed.items.iter().map(|held| row(page, &base, held)).collect(),
        paging: number.paging(page, &page.path("/balance/receipts"), query, &listed),
        shell,
    };
    Ok(page.render(status, &view))
}

fn row(page: &Page, base: &str, held: &HeldReceipt) -> Row {
    let HeldReceipt { receipt: held, payment } = held;
    let (words, received) = (page.words(), &held.receipt);
    let (amount, reference) = (received.amount.to_string(), payment.terms.reference.clone());
    Row {
        id: held.id.to_string(),
        url: decide_url(base, held.id),
        pick: fl!(words, "receipts-pick", amount = amount, reference = reference),
        reference: payment.terms.reference.clone(),
        customer: customer_line(payment.terms.checkout.as_ref()),
        amount: received.amount.to_string(),
        due: payment.terms.amount.to_string(),
        difference: difference(words, received.amount, payment.terms.amount),
        reason: reason(words, held.reason),
        received: page.moment(received.received_at),
        waits: waiting(words, received.received_at, page.now()),
        decision: taken_decision(page, held),
    }
}
