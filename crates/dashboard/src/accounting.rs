//! `/dashboard/<project>/accounting.csv`: the ledger as a file for accountants, one line for each posting, oldest first. The
//! form that asks for it is on the page of the balance.

use std::time::Duration;

use axum::{
    Router,
    http::{HeaderMap, StatusCode},
    response::Response,
    routing::get,
};
use domain::{
    ledger::Account,
    time::{DAY, Timestamp},
};
use engine::{Desk, Error, LedgerPosting, PostingCursor};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        moment::{local_rfc3339, midnight_of},
        page_error::PageError,
    },
};

use crate::{
    balance::{self, AccountingForm},
    csv::{LINES_AT_ONCE, Lines, Table, download, without_formula},
    page::Page,
};

const MILLISECOND: Duration = Duration::from_millis(1);
/// A time before every posting.
const BEGINNING: Timestamp = Timestamp::from_millis(0);
/// The accounts in the order of their columns.
const ACCOUNTS: [Account; 7] = [
    Account::Clearing,
    Account::Pending,
    Account::Available,
    Account::Fees,
    Account::Unapplied,
    Account::Refunding,
    Account::Refunded,
];

/// The postings from the first instant on, and before the second.
struct PostingTable {
    from: Timestamp,
    until: Timestamp,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/accounting.csv", get(export))
}

async fn export(page: Page, headers: HeaderMap) -> Result<Response, PageError> {
    match requested_table(&page) {
        Ok(table) => download(&page, &headers, "-accounting", table),
        Err(form) => balance::render(&page, StatusCode::UNPROCESSABLE_ENTITY, *form).await,
    }
}

/// The days that the address asks for, both in full; without them, everything up to now.
fn requested_table(page: &Page) -> Result<PostingTable, Box<AccountingForm>> {
    let words = page.words();
    let mut form = Box::<AccountingForm>::default();
    let from = day(page, "from", &mut form.from, &mut form.from_mistake);
    let to = day(page, "to", &mut form.to, &mut form.to_mistake);
    if from.zip(to).is_some_and(|(from, to)| to < from) {
        form.to_mistake = Some(fl!(words, "filter-range-wrong"));
    }
    if form.from_mistake.is_some() || form.to_mistake.is_some() {
        return Err(form);
    }
    // What is posted while the file is sent is not in it.
    let until = page.now().plus(MILLISECOND);
    Ok(PostingTable { from: from.unwrap_or(BEGINNING), until: to.map_or(until, |to| to.plus(DAY).min(until)) })
}

/// The midnight with which a day begins; an empty field asks for none.
fn day(page: &Page, name: &str, typed: &mut String, mistake: &mut Option<String>) -> Option<Timestamp> {
    let given = page.visitor.query.text(name);
    *typed = given.as_ref().ok().copied().flatten().unwrap_or_default().to_owned();
    let day = midnight_of(typed);
    let is_wrong = given.is_err() || (!typed.is_empty() && day.is_none());
    *mistake = is_wrong.then(|| fl!(page.words(), "filter-day-wrong"));
    day
}

impl Table for PostingTable {
    type Cursor = PostingCursor;
    const COLUMNS: &'static [&'static str] = &[
        "date",
        "posting",
        "kind",
        "payment_id",
        "reference",
        "clearing",
        "pending",
        "available",
        "fees",
        "unapplied",
        "refunding",
        "refunded",
    ];

    async fn page(&self, desk: &Desk, cursor: Option<PostingCursor>) -> Result<Lines<PostingCursor>, Error> {
        let cursor = cursor.unwrap_or_else(|| PostingCursor::before(self.from));
        let postings = desk.postings(&cursor, self.until, LINES_AT_ONCE).await?;
        let is_full = i64::try_from(postings.len()).is_ok_and(|found| found == LINES_AT_ONCE);
        let next = postings.last().filter(|_| is_full).map(PostingCursor::after);
        Ok((postings.iter().map(cells).collect(), next))
    }
}

fn cells(posting: &LedgerPosting) -> Vec<String> {
    let named = [
        local_rfc3339(posting.at),
        without_formula(&posting.id),
        posting.kind.clone(),
        posting.payment_id.to_string(),
        without_formula(&posting.reference),
    ];
    named.into_iter().chain(ACCOUNTS.map(|account| posting.amount(account).get().to_string())).collect()
}
