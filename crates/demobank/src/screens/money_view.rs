//! The pages about the bank's money: what they show, in words that are ready to be shown.

use askama::Template;
use axum::response::Response;

use super::view::{page, rupiah};
use crate::{
    services::{Account, AccountState, BankServices, Line, Transfer, TransferState, bank_name},
    time,
};

/// How many transfers, and how many lines of an account, a page shows.
const SHOWN: usize = 100;

#[derive(Template)]
#[template(path = "screens/money_view/overview.html")]
struct OverviewPage<'a> {
    base: &'a str,
    problem: Option<&'a str>,
    /// The accounts that merchants send from.
    sources: Vec<AccountRow>,
    customers: Vec<AccountRow>,
    /// What the bank has of each merchant: the name, and the amount.
    floats: Vec<(String, String)>,
    transfers: Vec<TransferRow>,
    refunds: Vec<TransferRow>,
}

#[derive(Template)]
#[template(path = "screens/money_view/account.html")]
struct AccountPage<'a> {
    base: &'a str,
    problem: Option<&'a str>,
    account: AccountRow,
    held: Option<String>,
    available: String,
    is_open: bool,
    lines: Vec<LineRow>,
}

#[derive(Template)]
#[template(path = "screens/money_view/transfer.html")]
struct TransferPage<'a> {
    base: &'a str,
    problem: Option<&'a str>,
    transfer: TransferRow,
    bank_reference: &'a str,
    external_id: &'a str,
    service: &'static str,
    code: &'a str,
    remark: &'a str,
    source: String,
    is_refund: bool,
    is_pending: bool,
    is_done: bool,
}

struct AccountRow {
    url: String,
    name: String,
    place: String,
    balance: String,
    state: &'static str,
    state_class: &'static str,
}

struct LineRow {
    when: String,
    remark: String,
    amount: String,
    class: &'static str,
    balance: String,
}

struct TransferRow {
    url: String,
    reference: String,
    when: String,
    amount: String,
    beneficiary: String,
    state: &'static str,
    state_class: &'static str,
}

pub(super) fn overview(asked: &BankServices, base: &str, problem: Option<&str>) -> Response {
    let accounts = asked.accounts();
    let (sources, customers): (Vec<&Account>, Vec<&Account>) =
        accounts.iter().partition(|account| account.owner.is_some());
    let rows = |accounts: Vec<&Account>| accounts.into_iter().map(|account| account_row(base, account)).collect();
    let all = asked.transfers();
    let (refunds, transfers): (Vec<&Transfer>, Vec<&Transfer>) =
        all.iter().rev().partition(|transfer| transfer.original.is_some());
    let moved = |some: Vec<&Transfer>| {
        some.into_iter().take(SHOWN).map(|transfer| transfer_row(asked, base, transfer)).collect()
    };
    page(&OverviewPage {
        base,
        problem,
        sources: rows(sources),
        customers: rows(customers),
        floats: asked.floats().into_iter().map(|(name, amount)| (name, rupiah(amount))).collect(),
        transfers: moved(transfers),
        refunds: moved(refunds),
    })
}

pub(super) fn account(asked: &BankServices, base: &str, account: &Account, problem: Option<&str>) -> Response {
    let lines = asked.lines(&account.key.bank, &account.key.number);
    page(&AccountPage {
        base,
        problem,
        account: account_row(base, account),
        held: (account.held > 0).then(|| rupiah(account.held)),
        available: rupiah(account.available()),
        is_open: account.state == AccountState::Open,
        lines: lines.iter().rev().take(SHOWN).map(line_row).collect(),
    })
}

pub(super) fn transfer(asked: &BankServices, base: &str, transfer: &Transfer, problem: Option<&str>) -> Response {
    let is_refund = transfer.original.is_some();
    let source = if transfer.source.bank.is_empty() {
        "What the bank has of the merchant".to_owned()
    } else {
        format!("{}, {}", bank_name(&transfer.source.bank), transfer.source.number)
    };
    page(&TransferPage {
        base,
        problem,
        transfer: transfer_row(asked, base, transfer),
        bank_reference: &transfer.bank_reference,
        external_id: &transfer.external_id,
        service: transfer.service.digits(),
        code: &transfer.code,
        remark: &transfer.remark,
        source,
        is_refund,
        is_pending: transfer.state == TransferState::Pending,
        is_done: transfer.state == TransferState::Done && !is_refund,
    })
}

fn account_row(base: &str, account: &Account) -> AccountRow {
    let (bank, number) = (&account.key.bank, &account.key.number);
    let (state, state_class) = match account.state {
        AccountState::Open => ("", ""),
        AccountState::Closed => ("Closed", "problem"),
        AccountState::Dormant => ("Dormant", "suspended"),
        AccountState::Blocked => ("Blocked", "problem"),
    };
    AccountRow {
        url: format!("{base}/money/accounts/{bank}/{number}"),
        name: account.name.clone(),
        place: format!("{} ({bank}), {number}", bank_name(bank)),
        balance: rupiah(account.balance),
        state,
        state_class,
    }
}

fn line_row(line: &Line) -> LineRow {
    LineRow {
        when: time::shown(line.at_ms),
        remark: line.remark.clone(),
        amount: if line.amount > 0 { format!("+{}", rupiah(line.amount)) } else { rupiah(line.amount) },
        class: if line.amount > 0 { "booked" } else { "" },
        balance: rupiah(line.balance_after),
    }
}

fn transfer_row(asked: &BankServices, base: &str, transfer: &Transfer) -> TransferRow {
    let beneficiary = match &transfer.original {
        Some(original) => {
            let reference = asked.code(original).map_or_else(|| original.clone(), |code| code.reference);
            format!("the payer of {reference}")
        }
        None => {
            let key = &transfer.beneficiary;
            let name = if transfer.name.is_empty() { "No such account" } else { &transfer.name };
            format!("{name}, {}, {}", bank_name(&key.bank), key.number)
        }
    };
    let (state, state_class) = state(transfer);
    TransferRow {
        url: format!("{base}/money/transfers/{}", transfer.bank_reference),
        reference: transfer.reference.clone(),
        when: time::shown(transfer.at_ms),
        amount: rupiah(transfer.amount),
        beneficiary,
        state,
        state_class,
    }
}

/// Where a transfer or a refund stands, in words, and the class of these.
pub(super) fn state(transfer: &Transfer) -> (&'static str, &'static str) {
    match transfer.state {
        TransferState::Pending => ("On its way", "suspended"),
        TransferState::Done if transfer.original.is_some() => ("Given back", "booked"),
        TransferState::Done => ("Arrived", "booked"),
        TransferState::Returned => ("Came back", "problem"),
        TransferState::Failed => ("Failed", "problem"),
        TransferState::Refused => ("Refused", "problem"),
    }
}
