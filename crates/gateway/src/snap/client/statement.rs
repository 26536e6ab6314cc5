//! The account that pays: what has left it and come in (14), and how much is on it (11).

use domain::{
    money::Rupiah,
    time::{DAY, Timestamp, WIB},
};
use serde_json::{Map, Value};

use super::{http::SnapClient, message::with, signed::CallContext};
use crate::snap::{
    call_error::{CallError, Cause, Reason},
    money_out::StatementLine,
    parameters::Parameters,
    reading::{first_amount, first_time, line, text},
    timestamp::format_timestamp,
    values::{Precision, Service},
};

/// As many movements as a statement of some days may have.
const LINES_MOST: usize = 100_000;
/// How much of each text of a line is looked at, and how deep texts may lie.
const TEXT_CHARACTERS_MOST: usize = 500;
const LEVELS_MOST: usize = 3;

impl SnapClient {
    /// The movements of whole days in Jakarta, counted from 1970; both days are included. A line that cannot be read makes
    /// all unknown: one that is left out would look like money that has not left.
    pub async fn statement(
        &self,
        context: &CallContext<'_>,
        first_day: i64,
        last_day: i64,
    ) -> Result<Vec<StatementLine>, CallError> {
        let body = question(context.parameters, first_day, last_day)?;
        let answer = self.call(context, Service::Statement, &body).await?;
        if (answer.status, answer.case().as_deref()) == (404, Some("01")) {
            return Ok(Vec::new());
        }
        read_statement(&answer.success()?)
    }

    /// What can be sent from the account, in whole rupiah; sen are left out.
    pub async fn balance(&self, context: &CallContext<'_>) -> Result<Rupiah, CallError> {
        let mut body = Map::new();
        with(&mut body, "accountNo", Some(source_account(context.parameters)?));
        let answer = self.call(context, Service::Balance, &Value::Object(body)).await?;
        let told = answer.success()?;
        read_balance(&told).ok_or_else(|| unreadable("the answer has no availableBalance"))
    }
}

fn unreadable(words: impl Into<String>) -> CallError {
    CallError::Unknown(Reason::new(Cause::Unreadable, words))
}

fn source_account(parameters: &Parameters) -> Result<&str, CallError> {
    parameters.transfers.source_account.as_deref().ok_or_else(|| CallError::setting("`source_account` must be set"))
}

/// From midnight to midnight: some banks know no other times.
fn question(parameters: &Parameters, first_day: i64, last_day: i64) -> Result<Value, CallError> {
    let midnight = |day: i64| {
        let days = DAY.saturating_mul(u32::try_from(day).unwrap_or_default());
        format_timestamp(Timestamp::from_millis(0).plus(days).minus(WIB), Precision::Seconds)
    };
    let mut body = Map::new();
    with(&mut body, "accountNo", Some(source_account(parameters)?));
    with(&mut body, "fromDateTime", Some(&midnight(first_day)));
    with(&mut body, "toDateTime", Some(&midnight(last_day + 1)));
    Ok(Value::Object(body))
}

pub(super) fn read_statement(told: &Value) -> Result<Vec<StatementLine>, CallError> {
    let Some(Value::Array(lines)) = told.get("detailData") else {
        return Err(unreadable("the statement has no detailData"));
    };
    // With a first page alone, money that is on the next one would look like money that has not left.
    if text(told, "hasMore").is_some_and(|more| more.eq_ignore_ascii_case("Y")) {
        return Err(unreadable("the statement has more lines than the bank has told"));
    }
    if lines.len() > LINES_MOST {
        return Err(unreadable(format!("the statement has more than {LINES_MOST} lines")));
    }
    let read = |(index, entry): (usize, &Value)| {
        movement(entry).ok_or_else(|| unreadable(format!("line {} of the statement says too little", index + 1)))
    };
    lines.iter().enumerate().map(read).collect()
}

fn movement(entry: &Value) -> Option<StatementLine> {
    let is_debit = match text(entry, "type")?.to_ascii_uppercase().as_str() {
        "DEBIT" | "D" | "DB" => true,
        "CREDIT" | "C" | "CR" => false,
        _ => return None,
    };
    let amount = first_amount(entry, &["amount"]);
    // Interest and tax have sen; what is no number at all is not read past.
    if amount.is_none() && !has_number(entry.get("amount")?) {
        return None;
    }
    let mut texts = String::new();
    collect_texts(entry, LEVELS_MOST, &mut texts);
    Some(StatementLine { is_debit, amount, at: first_time(entry, &["transactionDate", "transactionDateTime"]), texts })
}

fn has_number(amount: &Value) -> bool {
    let written = match amount {
        Value::Object(_) => text(amount, "value"),
        _ => Some(line(&serde_json::json!({ "value": amount }), "value", 40)),
    };
    written
        .is_some_and(|written| !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

/// All texts of a line, one after another: banks put what we have sent into one member or another, in pieces.
fn collect_texts(value: &Value, levels: usize, into: &mut String) {
    match value {
        Value::String(text) => {
            let letters = text.chars().take(TEXT_CHARACTERS_MOST).filter(char::is_ascii_alphanumeric);
            into.extend(letters.map(|letter| letter.to_ascii_uppercase()));
            // No reference reaches from one member into the next.
            into.push(' ');
        }
        Value::Object(members) if levels > 0 => {
            members.values().for_each(|member| collect_texts(member, levels - 1, into));
        }
        Value::Array(entries) if levels > 0 => {
            entries.iter().for_each(|entry| collect_texts(entry, levels - 1, into));
        }
        _ => {}
    }
}

fn read_balance(told: &Value) -> Option<Rupiah> {
    let accounts = told.get("accountInfos").unwrap_or(told);
    let account = accounts.as_array().map_or(Some(accounts), |accounts| accounts.first())?;
    let available = account.get("availableBalance")?;
    let written = if available.is_object() { text(available, "value")? } else { text(account, "availableBalance")? };
    let is_ours = text(available, "currency").is_none_or(|currency| currency.eq_ignore_ascii_case("IDR"));
    let (whole, sen) = written.split_once('.').unwrap_or((&written, ""));
    let is_number = !whole.is_empty() && [whole, sen].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    whole.parse().ok().filter(|_| is_number && is_ours).map(Rupiah::new)
}
