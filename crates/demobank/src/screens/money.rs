//! The pages about the bank's money: accounts with what they have, transfers and refunds with where they stand, and buttons that
//! change both as banks and their customers do.

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};

use super::{
    form::{field, see_other},
    input::{AMOUNT_MOST, number_up_to},
    money_view,
};
use crate::services::{AccountState, BankServices, TransferState};

struct Desk {
    asked: Arc<BankServices>,
    /// What links and redirects begin with, without a slash at the end.
    base: String,
}

const NOT_POSSIBLE: &str = "The state of this transfer does not allow that.";
const NOT_THERE: &str = "There is not so much money in this account.";

pub(super) fn routes(asked: Arc<BankServices>, base: &str, links: &str) -> Router {
    let path = |rest: &str| format!("{base}{rest}");
    Router::new()
        .route(&path("/money"), get(overview))
        .route(&path("/money/accounts/{bank}/{number}"), get(account).post(change_account))
        .route(&path("/money/transfers/{id}"), get(transfer).post(end_transfer))
        .with_state(Arc::new(Desk { asked, base: links.to_owned() }))
}

async fn overview(State(desk): State<Arc<Desk>>) -> Response {
    money_view::overview(&desk.asked, &desk.base, None)
}

async fn account(State(desk): State<Arc<Desk>>, Path((bank, number)): Path<(String, String)>) -> Response {
    desk.account_page(&bank, &number, None)
}

async fn transfer(State(desk): State<Arc<Desk>>, Path(id): Path<String>) -> Response {
    desk.transfer_page(&id, None)
}

/// Brings money in or takes it out, or changes whether the account takes money.
async fn change_account(
    State(desk): State<Arc<Desk>>,
    Path((bank, number)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    if desk.asked.account(&bank, &number).is_none() {
        return desk.no_such("This bank has no such account.");
    }
    match desk.change(&bank, &number, &body) {
        Ok(()) => see_other(&format!("{}/money/accounts/{bank}/{number}", desk.base)),
        Err(problem) => {
            (StatusCode::UNPROCESSABLE_ENTITY, desk.account_page(&bank, &number, Some(problem))).into_response()
        }
    }
}

/// Ends a transfer that is pending, or brings back one that arrived.
async fn end_transfer(State(desk): State<Arc<Desk>>, Path(id): Path<String>, body: Bytes) -> Response {
    let Some(transfer) = desk.asked.transfer(&id) else { return desk.no_such("This bank has no such transfer.") };
    let state = match field(&body, "action").as_str() {
        "done" => Ok(TransferState::Done),
        "fail" => Ok(TransferState::Failed),
        "return" => Ok(TransferState::Returned),
        _ => Err("There is no such button."),
    };
    let end = |state| desk.asked.end_transfer(&transfer.bank_reference, state).map_err(|_| NOT_POSSIBLE);
    match state.and_then(end) {
        Ok(()) => see_other(&format!("{}/money/transfers/{}", desk.base, transfer.bank_reference)),
        Err(problem) => (StatusCode::UNPROCESSABLE_ENTITY, desk.transfer_page(&id, Some(problem))).into_response(),
    }
}

impl Desk {
    fn change(&self, bank: &str, number: &str, body: &[u8]) -> Result<(), &'static str> {
        let amount = || {
            let amount = number_up_to(&field(body, "amount"), AMOUNT_MOST).filter(|amount| *amount > 0);
            amount.ok_or("Type an amount in rupiah, in digits.")
        };
        let state = match field(body, "action").as_str() {
            "deposit" => return self.asked.deposit(bank, number, amount()?, "CASH IN").map_err(|_| NOT_THERE),
            "withdraw" => return self.asked.withdraw(bank, number, amount()?, "CASH OUT").map_err(|_| NOT_THERE),
            "open" => AccountState::Open,
            "close" => AccountState::Closed,
            "block" => AccountState::Blocked,
            _ => return Err("There is no such button."),
        };
        self.asked.set_account_state(bank, number, state).map_err(|_| "This bank has no such account.")
    }

    fn account_page(&self, bank: &str, number: &str, problem: Option<&str>) -> Response {
        match self.asked.account(bank, number) {
            Some(account) => money_view::account(&self.asked, &self.base, &account, problem),
            None => self.no_such("This bank has no such account."),
        }
    }

    fn transfer_page(&self, id: &str, problem: Option<&str>) -> Response {
        match self.asked.transfer(id) {
            Some(transfer) => money_view::transfer(&self.asked, &self.base, &transfer, problem),
            None => self.no_such("This bank has no such transfer."),
        }
    }

    fn no_such(&self, problem: &str) -> Response {
        (StatusCode::NOT_FOUND, money_view::overview(&self.asked, &self.base, Some(problem))).into_response()
    }
}
