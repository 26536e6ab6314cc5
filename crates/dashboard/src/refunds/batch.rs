//! `/dashboard/<project>/refunds/transfers/<number>`: one batch of transfers, and its file for the bank. A batch never changes:
//! downloaded again, its file is the same.

use askama::Template;
use axum::{
    http::{HeaderMap, StatusCode},
    response::Response,
};
use domain::{access::Act, visible::escape_hidden};
use engine::{BatchedTransfer, Desk, Error};
use i18n_embed_fl::fl;
use web::page::page_error::PageError;

use super::{
    list::{RefundRow, row},
    transfers::batch_standing,
};
use crate::{
    csv::{Lines, Table, without_formula},
    page::Page,
    session::LastId,
    shell::{Section, Shell},
};

#[derive(Template)]
#[template(path = "refunds/batch.html")]
pub(crate) struct BatchPage {
    pub(crate) shell: Shell,
    pub(crate) list_url: String,
    pub(crate) name: String,
    pub(crate) sub: String,
    /// None for members who may not see whole account numbers.
    pub(crate) csv_url: Option<String>,
    /// That the file has lines which must not be transferred any more.
    pub(crate) released: Option<String>,
    pub(crate) rows: Vec<RefundRow>,
}

pub(crate) async fn show(page: Page, LastId(number): LastId<i64>) -> Result<Response, PageError> {
    let (shell, base) = (page.shell(Section::Refunds).await?, page.base());
    let (words, batch, shown) = (shell.words, page.desk.refund_batch(number).await?, number.to_string());
    let view = BatchPage {
        list_url: format!("{base}/refunds/transfers"),
        name: fl!(words, "transfers-batch", number = shown),
        sub: format!("{} · {}", batch.amount, batch_standing(words, &batch)),
        csv_url: page.desk.may(Act::Refund).then(|| format!("{base}/refunds/transfers/{number}/batch.csv")),
        released: (batch.released > 0).then(|| fl!(words, "transfers-batch-released-text", count = batch.released)),
        rows: page.desk.refunds_of_batch(number).await?.iter().map(|listed| row(&page, &base, listed)).collect(),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

pub(crate) async fn export(page: Page, LastId(number): LastId<i64>, headers: HeaderMap) -> Result<Response, PageError> {
    page.require(Act::Refund)?;
    page.desk.fresh_proof().await?;
    page.desk.refund_batch(number).await?;
    crate::csv::download(&page, &headers, &format!("-transfers-{number}"), TransferTable { number })
}

/// The transfers of one batch.
struct TransferTable {
    number: i64,
}

impl Table for TransferTable {
    type Cursor = ();
    const COLUMNS: &'static [&'static str] =
        &["refund_id", "bank_code", "bank", "account_number", "account_name", "amount", "remark"];

    async fn page(&self, desk: &Desk, _: Option<()>) -> Result<Lines<()>, Error> {
        let transfers = desk.transfers_of_batch(self.number).await?;
        Ok((transfers.into_iter().map(cells).collect(), None))
    }
}

fn cells(BatchedTransfer { refund_id, bank, number, holder, amount, reference, .. }: BatchedTransfer) -> Vec<String> {
    let plain = |text: &str| without_formula(&escape_hidden(text));
    vec![
        refund_id.to_string(),
        bank.code.to_owned(),
        bank.name.to_owned(),
        number.reveal().to_owned(),
        plain(&holder.unwrap_or_default()),
        amount.get().to_string(),
        plain(&reference),
    ]
}
