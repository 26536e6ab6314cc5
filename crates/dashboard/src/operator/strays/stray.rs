//! One stray: where it came from, and the forms for a decision about it.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::id::StrayId;
use i18n_embed_fl::fl;
use web::page::{page_error::PageError, render::switch_query};

use super::wording::{STATE_AMOUNT, StrayFacts, TakenDecision, facts, taken_decision};
use crate::{
    operator::tabs::strays_path, page::OperatorPage, receipts::wording::Answer, session::LastId, shell::Shell,
};

#[derive(Template)]
#[template(path = "operator/strays/stray.html")]
pub(crate) struct StrayPage {
    pub(crate) shell: Shell,
    pub(crate) list_url: String,
    pub(crate) facts: StrayFacts,
    /// Why a form was not carried out.
    pub(crate) notice: Option<String>,
    /// None while nobody has decided.
    pub(crate) decision: Option<TakenDecision>,
    /// The id of a payment as it was typed.
    pub(crate) payment: String,
    pub(crate) payment_mistake: Option<String>,
    pub(crate) returning: Answer,
}

/// What was sent, and why it was not carried out.
pub(super) struct Failed {
    pub(super) status: StatusCode,
    pub(super) notice: Option<String>,
    pub(super) payment: String,
    pub(super) payment_mistake: Option<String>,
    pub(super) returning: Answer,
}

impl Failed {
    pub(super) fn with(status: StatusCode) -> Failed {
        Failed { status, notice: None, payment: String::new(), payment_mistake: None, returning: Answer::default() }
    }
}

pub(crate) async fn show(page: OperatorPage, LastId(id): LastId<StrayId>) -> Result<Response, PageError> {
    stray_page(&page, id, Failed::with(StatusCode::OK)).await
}

pub(super) async fn stray_page(page: &OperatorPage, id: StrayId, failed: Failed) -> Result<Response, PageError> {
    let mut shell = page.shell().await?;
    let stray = page.operator.stray(id).await?;
    let account = page.operator.bank_account(stray.account_id).await?;
    let facts = facts(page, &stray, &account);
    // A form is sent to another address, which shows the same.
    shell.switch_url = format!("{}{}", facts.url, switch_query(&page.visitor));
    let view = StrayPage {
        list_url: page.url(strays_path()),
        facts,
        notice: failed.notice,
        decision: taken_decision(page, &stray).await?,
        payment: failed.payment,
        payment_mistake: failed.payment_mistake,
        returning: failed.returning,
        shell,
    };
    Ok(page.render(failed.status, &view))
}
