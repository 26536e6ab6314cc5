//! `/dashboard/<project>/refunds`: the refunds that the address filters, as a page and as a CSV file.

use askama::Template;
use axum::{
    http::{HeaderMap, StatusCode},
    response::Response,
};
use domain::{language::Language, money::Rupiah, refund::RefundStatus};
use engine::{ListedRefund, RefundStanding};
use i18n_embed_fl::fl;
use web::page::{moment::Moment, page_error::PageError, words::grouped};

use super::{
    csv::RefundTable,
    filter::{Mistakes, TypedFilter},
    wording::{refund_url, road_line, standing},
};
use crate::{
    labels::Badge,
    page::Page,
    payments::{Tile, picks::Pick},
    receipts::wording::customer_line,
    shell::{Section, Shell},
    table::{PageNumber, Paging},
    words::Words,
};

#[derive(Template)]
#[template(path = "refunds/list.html")]
pub(crate) struct RefundsPage {
    pub(crate) shell: Shell,
    pub(crate) path: String,
    pub(crate) payments_url: String,
    pub(crate) asked: TypedFilter,
    pub(crate) mistakes: Mistakes,
    pub(crate) tabs: Vec<Pick>,
    pub(crate) periods: Vec<Pick>,
    /// How many a person has to transfer.
    pub(crate) to_transfer: Option<String>,
    /// None where a filter is wrong.
    pub(crate) found: Option<RefundList>,
}

/// The refunds that the address asks for.
pub(crate) struct RefundList {
    pub(crate) rows: Vec<RefundRow>,
    pub(crate) sums: Vec<Tile>,
    pub(crate) paging: Paging,
    pub(crate) csv_url: String,
    pub(crate) excel_url: String,
}

/// A refund in a list.
pub(crate) struct RefundRow {
    pub(crate) url: String,
    /// The customer, or the reference of the payment.
    pub(crate) who: String,
    /// The reference, where that is not what the row is called.
    pub(crate) reference: Option<String>,
    pub(crate) road: String,
    pub(crate) amount: String,
    pub(crate) badge: Badge,
    pub(crate) created: Moment,
}

pub(crate) async fn list(page: Page) -> Result<Response, PageError> {
    let shell = page.shell(Section::Refunds).await?;
    let asked = TypedFilter::of(&page.visitor.query);
    let filter = match asked.filter(page.now(), page.words()) {
        Ok(filter) => filter,
        Err(mistakes) => return refused(&page, shell, asked, mistakes).await,
    };
    let (number, base) = (PageNumber::of(&page), page.base());
    let listed = page.desk.refunds(filter, number.window()).await?;
    let sums = page.desk.refund_sums(filter).await?;
    let query = asked.query();
    let csv_url = |more: &str| {
        let query = [query.as_str(), more].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("&");
        format!("{base}/refunds.csv{}{query}", if query.is_empty() { "" } else { "?" })
    };
    let found = RefundList {
        rows: listed.items.iter().map(|listed| row(&page, &base, listed)).collect(),
        sums: tiles(page.words(), page.language(), &sums),
        paging: number.paging(&page, &page.path("/refunds"), &query, &listed),
        csv_url: csv_url(""),
        excel_url: csv_url("separator=semicolon"),
    };
    let view = RefundsPage { found: Some(found), ..view(&page, shell, asked, Mistakes::default()).await? };
    Ok(page.render(StatusCode::OK, &view))
}

/// The same refunds as a file, which is read from the database while it is sent.
pub(crate) async fn export(page: Page, headers: HeaderMap) -> Result<Response, PageError> {
    let asked = TypedFilter::of(&page.visitor.query);
    match asked.filter(page.now(), page.words()) {
        Ok(filter) => crate::csv::download(&page, &headers, "-refunds", RefundTable { filter }),
        Err(mistakes) => refused(&page, page.shell(Section::Refunds).await?, asked, mistakes).await,
    }
}

/// The page with a sentence at each field that is wrong. It lists nothing, which a reader could take for what was asked for.
async fn refused(page: &Page, shell: Shell, asked: TypedFilter, mistakes: Mistakes) -> Result<Response, PageError> {
    let view = view(page, shell, asked, mistakes).await?;
    Ok(page.render(StatusCode::UNPROCESSABLE_ENTITY, &view))
}

/// The page without any refunds.
async fn view(page: &Page, shell: Shell, asked: TypedFilter, mistakes: Mistakes) -> Result<RefundsPage, PageError> {
    let (words, base) = (shell.words, page.base());
    let path = format!("{base}/refunds");
    let to_transfer = page.desk.refunds_waiting().await?.to_transfer.refunds;
    Ok(RefundsPage {
        payments_url: format!("{base}/payments"),
        tabs: asked.tabs(&path, words),
        periods: asked.periods(&path, words),
        to_transfer: (to_transfer > 0).then(|| grouped(page.language(), to_transfer)),
        found: None,
        path,
        asked,
        mistakes,
        shell,
    })
}

pub(super) fn row(page: &Page, base: &str, listed: &ListedRefund) -> RefundRow {
    let (words, refund, payment) = (page.words(), &listed.refund, &listed.payment);
    let customer = customer_line(payment.terms.checkout.as_ref());
    let reference = payment.terms.reference.clone();
    RefundRow {
        url: refund_url(base, refund.id),
        reference: customer.is_some().then(|| reference.clone()),
        who: customer.unwrap_or(reference),
        road: road_line(words, refund),
        amount: refund.amount.to_string(),
        badge: standing(words, refund.state, listed.sending).0,
        created: page.row_moment(refund.created_at),
    }
}

/// What the listed refunds add up to. Those that failed, were cancelled or came back are counted, but their money is in no sum.
fn tiles(words: Words, language: Language, sums: &[RefundStanding]) -> Vec<Tile> {
    let of = |statuses: &[RefundStatus]| {
        let these = sums.iter().filter(|sum| statuses.contains(&sum.status));
        these.fold((0, Rupiah::ZERO), |(count, amount), sum| (count + sum.refunds, amount + sum.amount))
    };
    let tile = |label: String, (count, amount): (i64, Rupiah)| Tile {
        label,
        figure: amount.to_string(),
        text: fl!(words, "refunds-sum-count", count = count),
    };
    let (count, done) = (of(RefundStatus::ALL).0, of(&[RefundStatus::Succeeded]));
    vec![
        Tile {
            label: fl!(words, "nav-refunds"),
            figure: grouped(language, count),
            text: fl!(words, "refunds-sum-count-text"),
        },
        tile(fl!(words, "refunds-sum-done"), done),
        tile(fl!(words, "refunds-sum-open"), of(&[RefundStatus::RequiresAction, RefundStatus::Pending])),
    ]
}
