//! `/dashboard/<project>/balance`: the project's balances, and the lines of the ledger that they are made of.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{ledger::Account, money::Rupiah};
use engine::{BalanceAt, LedgerLine};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{moment::Moment, page_error::PageError},
};

use crate::{
    chart::Chart,
    page::Page,
    shell::{Section, Shell},
    table::{PageNumber, Paging},
    words::Words,
};

/// The accounts that are a project's own, in the order in which they are shown.
const SHOWN: [Account; 4] = [Account::Available, Account::Pending, Account::Unapplied, Account::Refunding];

#[derive(Template)]
#[template(path = "balance.html")]
pub(crate) struct BalancePage {
    pub(crate) shell: Shell,
    pub(crate) tiles: Vec<Tile>,
    pub(crate) receipts_url: String,
    /// How many receipts need a decision, in a sentence.
    pub(crate) undecided: Option<String>,
    pub(crate) chart: Chart,
    pub(crate) tabs: Vec<Tab>,
    pub(crate) lines: Vec<Line>,
    pub(crate) paging: Paging,
    pub(crate) accounting_url: String,
    pub(crate) accounting: AccountingForm,
}

/// The form for the file that accountants get: the days that it covers, and what is wrong with them.
#[derive(Default)]
pub(crate) struct AccountingForm {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) from_mistake: Option<String>,
    pub(crate) to_mistake: Option<String>,
}

pub(crate) struct Tile {
    pub(crate) label: String,
    pub(crate) amount: String,
    pub(crate) text: String,
}

pub(crate) struct Tab {
    pub(crate) url: String,
    pub(crate) label: String,
    pub(crate) is_chosen: bool,
}

pub(crate) struct Line {
    pub(crate) at: Moment,
    pub(crate) kind: String,
    pub(crate) payment_url: String,
    pub(crate) reference: String,
    pub(crate) amount: String,
    pub(crate) balance: String,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/balance", get(show))
}

async fn show(page: Page) -> Result<Response, PageError> {
    render(&page, StatusCode::OK, AccountingForm::default()).await
}

/// The page with the given form.
pub(crate) async fn render(page: &Page, status: StatusCode, accounting: AccountingForm) -> Result<Response, PageError> {
    let shell = page.shell(Section::Balance).await?;
    let (words, base, number) = (shell.words, page.base(), PageNumber::of(page));
    let account = chosen(page);
    let balance = page.desk.balance(None).await?;
    let listed = page.desk.ledger(account, number.window()).await?;
    // Money may have moved between the two reads: the balance above is then taken from the newest line below it.
    let latest = listed.items.first().filter(|_| number.window().offset == 0).map(|line| line.balance);
    let held = page.desk.held_sum().await?;
    let (undecided, held) = (held.receipts, held.amount.to_string());
    let view = BalancePage {
        tiles: SHOWN.map(|of| tile(words, of, latest.filter(|_| of == account), &balance)).into(),
        receipts_url: format!("{base}/balance/receipts"),
        undecided: (undecided > 0).then(|| fl!(words, "receipts-sum", count = undecided, amount = held)),
        chart: Chart::of(&page.desk.days().await?, page.language()),
        tabs: SHOWN.map(|of| tab(words, of, account, &base)).into(),
        lines: listed.items.iter().map(|line| shown(page, line, &base)).collect(),
        paging: number.paging(page, &page.path("/balance"), &format!("account={}", account.word()), &listed),
        accounting_url: format!("{base}/accounting.csv"),
        accounting,
        shell,
    };
    Ok(page.render(status, &view))
}

/// The account that the address asks for; the first where it asks for none of these.
fn chosen(page: &Page) -> Account {
    let asked = page.query("account").and_then(Account::parse);
    asked.filter(|account| SHOWN.contains(account)).unwrap_or(Account::Available)
}

/// `latest`: the account's balance by its newest line, where that was read.
fn tile(words: Words, account: Account, latest: Option<Rupiah>, balance: &BalanceAt) -> Tile {
    let (held, text) = match account {
        Account::Pending => (balance.pending, fl!(words, "balance-pending-text")),
        Account::Unapplied => (balance.unapplied, fl!(words, "balance-unapplied-text")),
        Account::Refunding => (balance.refunding, fl!(words, "balance-refunding-text")),
        _ => (balance.available, fl!(words, "balance-available-text")),
    };
    Tile { label: name(words, account), amount: latest.unwrap_or(held).to_string(), text }
}

fn tab(words: Words, account: Account, chosen: Account, base: &str) -> Tab {
    Tab {
        url: format!("{base}/balance?account={}", account.word()),
        label: name(words, account),
        is_chosen: account == chosen,
    }
}

fn name(words: Words, account: Account) -> String {
    match account {
        Account::Pending => fl!(words, "balance-pending"),
        Account::Unapplied => fl!(words, "balance-unapplied"),
        Account::Refunding => fl!(words, "balance-refunding"),
        _ => fl!(words, "balance-available"),
    }
}

fn shown(page: &Page, line: &LedgerLine, base: &str) -> Line {
    let sign = if line.amount > Rupiah::ZERO { "+" } else { "" };
    Line {
        at: page.short_moment(line.at),
        kind: kind(page.words(), &line.kind),
        payment_url: format!("{base}/payments/{}", line.payment_id),
        reference: line.reference.clone(),
        amount: format!("{sign}{}", line.amount),
        balance: line.balance.to_string(),
    }
}

/// Why money moved, in the language of the page.
fn kind(words: Words, word: &str) -> String {
    match word {
        "paid" => fl!(words, "ledger-paid"),
        "settled" => fl!(words, "ledger-settled"),
        "unapplied" => fl!(words, "ledger-unapplied"),
        "accepted" => fl!(words, "ledger-accepted"),
        "returned" => fl!(words, "ledger-returned"),
        "refund_started" => fl!(words, "ledger-refund-started"),
        "refund_succeeded" => fl!(words, "ledger-refund-succeeded"),
        "refund_released" => fl!(words, "ledger-refund-released"),
        "refund_returned" => fl!(words, "ledger-refund-returned"),
        other => other.to_owned(),
    }
}
