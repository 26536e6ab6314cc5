//! The account that pays: what has left it and come in (14), a page at a time, and how much is on it (11).

use std::time::Duration;

use domain::{
    money::Rupiah,
    time::{DAY, Timestamp, WIB},
};
use serde_json::{Map, Value};

use super::{http::SnapClient, message::with, signed::CallContext};
use crate::snap::{
    call_error::{CallError, Cause, Reason},
    parameters::Parameters,
    reading::{first_amount, first_time, line, text},
    statement::{StatementAsked, StatementLine, StatementPage, StatementPart, StatementRest},
    timestamp::format_timestamp,
    values::{Precision, Service, StatementPages},
};

/// As many movements as one answer may have.
const LINES_MOST: usize = 100_000;
/// An answer that does not say whether more follows may be a part of a statement once it has so many lines.
const SURELY_WHOLE_BELOW: usize = 100;
/// How much of each text of a line is looked at, and how deep texts may lie.
const TEXT_CHARACTERS_MOST: usize = 500;
const LEVELS_MOST: usize = 3;
/// Times are written in seconds: with it, a second that has begun is asked for to its end.
const LAST_OF_SECOND: Duration = Duration::from_millis(999);

impl SnapClient {
    /// One page of the movements of whole days in Jakarta. A line that cannot be read makes all of it unknown: one that is
    /// left out would look like money that has not left.
    pub async fn statement_page(
        &self,
        context: &CallContext<'_>,
        asked: &StatementAsked,
    ) -> Result<StatementPage, CallError> {
        let body = question(context.parameters, asked)?;
        let answer = self.call(context, Service::Statement, &body).await?;
        if (answer.status, answer.case().as_deref()) == (404, Some("01")) {
            // No movements at all; but not in the middle of a statement.
            let rest =
                if asked.part == StatementPart::Begin { StatementRest::None } else { StatementRest::Unreachable };
            return Ok(StatementPage { lines: Vec::new(), rest, entries: None });
        }
        read_page(context.parameters.transfers.statement_pages, asked.part, &answer.success()?)
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

/// From midnight to midnight: some banks know no other times. What follows begins or ends where the page before it ended, so
/// that a movement of the same second is told twice rather than not at all.
fn question(parameters: &Parameters, asked: &StatementAsked) -> Result<Value, CallError> {
    let midnight = |day: i64| {
        let days = DAY.saturating_mul(u32::try_from(day).unwrap_or_default());
        Timestamp::from_millis(0).plus(days).minus(WIB)
    };
    let (mut from, mut to) = (midnight(asked.first_day), midnight(asked.last_day + 1));
    match asked.part {
        StatementPart::Begin | StatementPart::Number(_) => {}
        StatementPart::From(at) => from = at,
        StatementPart::Until(at) => to = at.plus(LAST_OF_SECOND),
    }
    let mut body = Map::new();
    with(&mut body, "accountNo", Some(source_account(parameters)?));
    with(&mut body, "fromDateTime", Some(&format_timestamp(from, Precision::Seconds)));
    with(&mut body, "toDateTime", Some(&format_timestamp(to, Precision::Seconds)));
    if let StatementPages::Numbers(size) = parameters.transfers.statement_pages {
        let number = if let StatementPart::Number(number) = asked.part { number } else { 1 };
        with(&mut body, "pageSize", Some(&size.to_string()));
        with(&mut body, "pageNumber", Some(&number.to_string()));
    }
    Ok(Value::Object(body))
}

pub(super) fn read_page(pages: StatementPages, part: StatementPart, told: &Value) -> Result<StatementPage, CallError> {
    let Some(Value::Array(entries)) = told.get("detailData") else {
        return Err(unreadable("the statement has no detailData"));
    };
    if entries.len() > LINES_MOST {
        return Err(unreadable(format!("the statement has more than {LINES_MOST} lines")));
    }
    let read = |(index, entry): (usize, &Value)| {
        movement(entry).ok_or_else(|| unreadable(format!("line {} of the statement says too little", index + 1)))
    };
    let lines: Vec<StatementLine> = entries.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let rest = rest_of(pages, part, told, &lines);
    Ok(StatementPage { lines, rest, entries: entries_told(told) })
}

/// What follows a page. Only a bank that says that nothing does, or tells so little that nothing can, has told all.
fn rest_of(pages: StatementPages, part: StatementPart, told: &Value, lines: &[StatementLine]) -> StatementRest {
    let says_more = has_more(told);
    match (pages, says_more) {
        (_, Some(false)) => StatementRest::None,
        (StatementPages::Numbers(size), _) => {
            let number = if let StatementPart::Number(number) = part { number } else { 1 };
            let is_full = lines.len() >= usize::try_from(size).unwrap_or(usize::MAX);
            match (says_more, lines.is_empty()) {
                (Some(true), true) => StatementRest::Unreachable,
                (Some(true), false) => StatementRest::At(StatementPart::Number(number + 1)),
                (_, _) if is_full => StatementRest::At(StatementPart::Number(number + 1)),
                (_, _) => StatementRest::None,
            }
        }
        (_, None) if lines.len() < SURELY_WHOLE_BELOW => StatementRest::None,
        (StatementPages::LastRecord, Some(true)) => {
            let last = first_time(told, &["lastRecordDateTime"]);
            next_by_time(part, last, lines).map_or(StatementRest::Unreachable, StatementRest::At)
        }
        (StatementPages::LastRecord | StatementPages::None, _) => StatementRest::Unreachable,
    }
}

/// Whether more follows, as the bank says it.
fn has_more(told: &Value) -> Option<bool> {
    if let Some(Value::Bool(more)) = told.get("hasMore") {
        return Some(*more);
    }
    match text(told, "hasMore")?.to_ascii_uppercase().as_str() {
        "Y" | "YES" | "TRUE" => Some(true),
        "N" | "NO" | "FALSE" => Some(false),
        _ => None,
    }
}

/// How many movements the bank says that there are.
fn entries_told(told: &Value) -> Option<usize> {
    let count = |name: &str| text(told.get(name)?, "numberOfEntries")?.parse::<usize>().ok();
    Some(count("totalCreditEntries")? + count("totalDebitEntries")?)
}

/// Where the next page begins or ends: banks tell the newest movement first, or the oldest. None where that cannot be seen, or
/// where a page would be the same again.
fn next_by_time(part: StatementPart, last: Option<Timestamp>, lines: &[StatementLine]) -> Option<StatementPart> {
    let times: Vec<Timestamp> = lines.iter().map(|line| line.at).collect::<Option<_>>()?;
    let (oldest, newest) = (*times.iter().min()?, *times.iter().max()?);
    let last = last.unwrap_or(*times.last()?);
    match part {
        StatementPart::Until(before) => (last < before && last <= oldest).then_some(StatementPart::Until(last)),
        StatementPart::From(before) => (last > before && last >= newest).then_some(StatementPart::From(last)),
        StatementPart::Number(_) => None,
        StatementPart::Begin if oldest == newest => None,
        StatementPart::Begin if last <= oldest => Some(StatementPart::Until(last)),
        StatementPart::Begin if last >= newest => Some(StatementPart::From(last)),
        StatementPart::Begin => None,
    }
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

/// All texts of a line, one after another: banks put what we have sent into one member or another, and cut it into lines that
/// are texts of their own.
fn collect_texts(value: &Value, levels: usize, into: &mut String) {
    match value {
        Value::String(text) => {
            let letters = text.chars().take(TEXT_CHARACTERS_MOST).filter(char::is_ascii_alphanumeric);
            into.extend(letters.map(|letter| letter.to_ascii_uppercase()));
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
