//! `/dashboard/<project>/refunds/transfers`: refunds that a person transfers by hand, and the numbered batches of them that were
//! taken to the bank.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::{access::Act, project::Environment};
use engine::{Error, RefundBatch};
use i18n_embed_fl::fl;
use web::page::page_error::PageError;

use super::list::{RefundRow, row};
use crate::{
    attempt,
    done::Done,
    page::Page,
    session::SignedForm,
    shell::{Section, Shell},
    words::Words,
};

#[derive(Template)]
#[template(path = "refunds/transfers.html")]
pub(crate) struct TransfersPage {
    pub(crate) shell: Shell,
    pub(crate) list_url: String,
    /// The address of this page.
    pub(crate) url: String,
    pub(crate) notice: Option<String>,
    /// Whether the member may make batches and download them: their files have whole account numbers.
    pub(crate) may_export: bool,
    pub(crate) attempt: String,
    /// How many are ready, and what they add up to.
    pub(crate) sum: String,
    pub(crate) ready: Vec<RefundRow>,
    pub(crate) batches: Vec<BatchRow>,
}

/// A batch that was made.
pub(crate) struct BatchRow {
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) made: String,
    pub(crate) amount: String,
    /// How many of it nobody has recorded yet.
    pub(crate) standing: String,
    pub(crate) csv_url: String,
    pub(crate) excel_url: String,
}

pub(crate) async fn show(page: Page) -> Result<Response, PageError> {
    transfers_page(&page, StatusCode::OK, None).await
}

/// Puts everything that is ready into one batch.
pub(crate) async fn make_batch(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::Refund)?;
    match page.desk.make_refund_batch(&attempt::sent(form.text("attempt"))).await {
        Ok(number) => Ok(page.redirect(page.path(&format!("/refunds/transfers/{number}")), Done::BatchMade)),
        Err(Error::NothingToTransfer) => {
            let notice = fl!(page.words(), "transfers-batch-none-left");
            transfers_page(&page, StatusCode::CONFLICT, Some(notice)).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn transfers_page(page: &Page, status: StatusCode, notice: Option<String>) -> Result<Response, PageError> {
    let (mut shell, base) = (page.shell(Section::Refunds).await?, page.base());
    let (words, ready) = (shell.words, page.desk.transfers_ready().await?);
    shell.live_url = shell.live_url.filter(|_| notice.is_none());
    let (count, amount) = (ready.sum.refunds, ready.sum.amount.to_string());
    let view = TransfersPage {
        list_url: format!("{base}/refunds"),
        url: format!("{base}/refunds/transfers"),
        may_export: page.desk.may(Act::Refund) && page.project().environment == Environment::Production,
        attempt: attempt::fresh(),
        sum: fl!(words, "transfers-ready-sum", count = count, amount = amount),
        ready: ready.refunds.iter().map(|listed| row(page, &base, listed)).collect(),
        batches: page.desk.refund_batches().await?.iter().map(|batch| batch_row(page, &base, batch)).collect(),
        notice,
        shell,
    };
    Ok(page.render(status, &view))
}

fn batch_row(page: &Page, base: &str, batch: &RefundBatch) -> BatchRow {
    let (words, number) = (page.words(), batch.number.to_string());
    let url = format!("{base}/refunds/transfers/{number}");
    let at = page.moment(batch.created_at).text;
    BatchRow {
        name: fl!(words, "transfers-batch", number = number),
        made: fl!(words, "transfers-batch-made", at = at),
        amount: batch.amount.to_string(),
        standing: batch_standing(words, batch),
        csv_url: format!("{url}/batch.csv"),
        excel_url: format!("{url}/batch.csv?separator=semicolon"),
        url,
    }
}

/// How many of a batch nobody has recorded yet, and how many were not transferred.
pub(super) fn batch_standing(words: Words, batch: &RefundBatch) -> String {
    let (open, all) = (batch.open, batch.refunds);
    let standing = match open {
        0 => fl!(words, "transfers-batch-closed"),
        _ => fl!(words, "transfers-batch-open", count = open, all = all),
    };
    match batch.released {
        0 => standing,
        released => format!("{standing} · {}", fl!(words, "transfers-batch-released", count = released)),
    }
}
