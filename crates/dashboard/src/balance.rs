//! `/dashboard/<project>/balance`: what the project has, and the lines of the ledger that it is made of.

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::{ledger::Account, money::Rupiah};
use engine::{BalanceAt, LedgerLine};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        moment::{Moment, short_moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};

use crate::{
    chart::Chart,
    session::AtDesk,
    shell::{self, Section, Shell},
    table::{PageNumber, Paging},
    words::Words,
};

/// The accounts that are a project's own, in the order in which they are shown.
const SHOWN: [Account; 3] = [Account::Available, Account::Pending, Account::Unapplied];

#[derive(Template)]
#[template(path = "balance.html")]
pub(super) struct BalancePage {
    pub(super) shell: Shell,
    pub(super) tiles: Vec<Tile>,
    pub(super) receipts_url: String,
    /// How much money waits for a decision.
    pub(super) undecided: Option<String>,
    pub(super) chart: Chart,
    pub(super) tabs: Vec<Tab>,
    pub(super) lines: Vec<Line>,
    pub(super) paging: Paging,
}

pub(super) struct Tile {
    pub(super) label: String,
    pub(super) amount: String,
    pub(super) text: String,
}

pub(super) struct Tab {
    pub(super) url: String,
    pub(super) label: String,
    pub(super) is_chosen: bool,
}

pub(super) struct Line {
    pub(super) at: Moment,
    pub(super) kind: String,
    pub(super) payment_url: String,
    pub(super) reference: String,
    pub(super) amount: String,
    pub(super) balance: String,
}

pub(super) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/balance", get(show))
}

async fn show(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    let shell = shell::at_desk(&app, &visitor, &at, Section::Balance).await?;
    let (words, project) = (shell.words, at.desk.project());
    let (base, number) = (shell::base(&app, project), PageNumber::of(&visitor));
    let account = chosen(&visitor);
    let balance = at.desk.balance(None).await?;
    let listed = at.desk.ledger(account, number.window()).await?;
    // Money may have moved between the two looks: what is shown above is then what the lines below it add up to.
    let latest = listed.items.first().filter(|_| number.window().offset == 0).map(|line| line.balance);
    let undecided = at.desk.undecided().await?;
    let view = BalancePage {
        tiles: SHOWN.map(|of| tile(words, of, latest.filter(|_| of == account), &balance)).into(),
        receipts_url: format!("{base}/balance/receipts"),
        undecided: (undecided > 0).then(|| fl!(words, "balance-undecided", count = undecided)),
        chart: Chart::of(&at.desk.days().await?, visitor.language),
        tabs: SHOWN.map(|of| tab(words, of, account, &base)).into(),
        lines: listed.items.iter().map(|line| shown(line, words, &visitor, &base)).collect(),
        paging: number.paging(
            &app,
            &format!("/dashboard/{}/balance", project.id),
            &format!("account={}", account.word()),
            &listed,
            words,
        ),
        shell,
    };
    Ok(page(StatusCode::OK, &view))
}

/// Anything that is none of the three is the first of them.
fn chosen(visitor: &Visitor) -> Account {
    let asked = visitor.query.text("account").ok().flatten().and_then(Account::parse);
    asked.filter(|account| SHOWN.contains(account)).unwrap_or(Account::Available)
}

/// `latest`: what the account's own lines say it holds.
fn tile(words: Words, account: Account, latest: Option<Rupiah>, balance: &BalanceAt) -> Tile {
    let (held, text) = match account {
        Account::Pending => (balance.pending, fl!(words, "balance-pending-text")),
        Account::Unapplied => (balance.unapplied, fl!(words, "balance-unapplied-text")),
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
        _ => fl!(words, "balance-available"),
    }
}

fn shown(line: &LedgerLine, words: Words, visitor: &Visitor, base: &str) -> Line {
    let sign = if line.amount > Rupiah::ZERO { "+" } else { "" };
    Line {
        at: short_moment(line.at, visitor.language),
        kind: kind(words, &line.kind),
        payment_url: format!("{base}/payments/{}", line.payment_id),
        reference: line.reference.clone(),
        amount: format!("{sign}{}", line.amount),
        balance: line.balance.to_string(),
    }
}

/// Why money moved, in people's words.
fn kind(words: Words, word: &str) -> String {
    match word {
        "paid" => fl!(words, "ledger-paid"),
        "settled" => fl!(words, "ledger-settled"),
        "unapplied" => fl!(words, "ledger-unapplied"),
        "accepted" => fl!(words, "ledger-accepted"),
        "returned" => fl!(words, "ledger-returned"),
        other => other.to_owned(),
    }
}
