//! 14: what came to an account of the merchant's and what left it, the newest first, at most a month in one call and a year back.
//!
//! A page ends with a whole second, so that the next one is asked for with `toDateTime` a second before
//! `lastRecordDateTime`. A call that says `pageSize` and `pageNumber` gets that page instead.

use serde_json::{Value, json};

use super::{
    books::{Account, Line},
    inquiries::{INVALID_ACCOUNT, account_number, check_reference, own_account, refused, with_references},
    rules::MoneyRules,
};
use crate::{
    journal::held,
    services::{
        bank::{BankServices, Member},
        request::{Reply, ServiceRequest, money},
    },
    time,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const SPAN_MOST_MS: i64 = 31 * DAY_MS;
const BACK_MOST_MS: i64 = 366 * DAY_MS;
const JAKARTA_MS: i64 = 7 * 60 * 60 * 1000;

impl BankServices {
    /// 14
    pub(in crate::services) fn tell_statement(
        &self,
        asked: &ServiceRequest<'_>,
        member: &Member,
    ) -> Result<Reply, Reply> {
        let (body, habits) = (asked.members()?, &member.habits);
        check_reference(asked, &body, false, habits.transfer.reference_most)?;
        let number = account_number(asked, &body, "accountNo")?;
        let (from_ms, to_ms) = span(asked, &body, habits.transfer.whole_days)?;
        let mut ledger = held(&self.ledger);
        ledger.advance(asked.now_ms);
        let account = own_account(&ledger, member, number).ok_or_else(|| refused(asked, &INVALID_ACCOUNT))?;
        let of_span = |line: &&Line| (from_ms..=to_ms).contains(&line.at_ms);
        let lines: Vec<&Line> = ledger.books.lines(&account.key).rev().filter(of_span).collect();
        let MoneyRules { statement_lines: most, remark_line, .. } = ledger.rules(&member.merchant.client_id);
        let (shown, has_more) = match read_page_number(asked, &body)? {
            Some((size, number)) => {
                let (first, size) = (size.saturating_mul(number - 1).min(lines.len()), size.min(most));
                let shown = &lines[first..lines.len().min(first + size)];
                (shown, first + shown.len() < lines.len())
            }
            None => {
                let shown = page(&lines, most);
                (shown, shown.len() < lines.len())
            }
        };
        let after: i64 =
            ledger.books.lines(&account.key).filter(|line| line.at_ms > to_ms).map(|line| line.amount).sum();
        let moved: i64 = lines.iter().map(|line| line.amount).sum();
        let ending = account.balance - after;
        let milliseconds = habits.milliseconds;
        let at = |amount: i64, at_ms: i64| {
            let mut balance = money(amount);
            balance["dateTime"] = time::text(at_ms, milliseconds).into();
            balance
        };
        let last = shown.last().map_or(from_ms, |line| line.at_ms);
        let members = json!({
            "balance": [{
                "amount": at(ending, to_ms), "startingBalance": at(ending - moved, from_ms),
                "endingBalance": at(ending, to_ms),
            }],
            "totalCreditEntries": entries(lines.iter().filter(|line| line.amount > 0)),
            "totalDebitEntries": entries(lines.iter().filter(|line| line.amount < 0)),
            "hasMore": if has_more { "Y" } else { "N" },
            "lastRecordDateTime": time::text(last, milliseconds),
            "detailData": shown.iter().map(|line| detail(line, account, (milliseconds, remark_line))).collect::<Vec<_>>(),
        });
        Ok(asked.success(with_references(asked, member, &body, members, &["bankCardToken"])))
    }
}

/// The first lines, as many as are shown at once, and the rest of the last second.
fn page<'a>(lines: &'a [&'a Line], most: usize) -> &'a [&'a Line] {
    let Some(last) = most.checked_sub(1).and_then(|at| lines.get(at)) else { return lines };
    let same_second = lines[most..].iter().take_while(|line| line.at_ms / 1000 == last.at_ms / 1000).count();
    &lines[..most + same_second]
}

/// The size and the number of the page that is asked for, where the call says them: digits above 0.
fn read_page_number(asked: &ServiceRequest<'_>, body: &Value) -> Result<Option<(usize, usize)>, Reply> {
    if body["pageNumber"].is_null() && body["pageSize"].is_null() {
        return Ok(None);
    }
    let number = |name: &str| {
        let number = asked.text(body, name)?.parse().ok().filter(|number| *number > 0_usize);
        number.ok_or_else(|| asked.malformed(name))
    };
    Ok(Some((number("pageSize")?, number("pageNumber")?)))
}

/// From when until when, both included.
fn span(asked: &ServiceRequest<'_>, body: &Value, whole_days: bool) -> Result<(i64, i64), Reply> {
    let moment = |name: &str| time::parse(asked.text(body, name)?).ok_or_else(|| asked.malformed(name));
    let is_absent = |name: &str| !whole_days && (body[name].is_null() || body[name] == "");
    let given_to_ms = if is_absent("toDateTime") { asked.now_ms } else { moment("toDateTime")? };
    let from_ms = if is_absent("fromDateTime") { given_to_ms - 30 * DAY_MS } else { moment("fromDateTime")? };
    if whole_days {
        for (name, at_ms) in [("fromDateTime", from_ms), ("toDateTime", given_to_ms)] {
            if (at_ms + JAKARTA_MS) % DAY_MS != 0 {
                return Err(asked.malformed(name));
            }
        }
    }
    // The end of its second, or of its day.
    let to_ms = given_to_ms + if whole_days { DAY_MS - 1 } else { 999 - given_to_ms % 1000 };
    if from_ms > given_to_ms || given_to_ms - from_ms > SPAN_MOST_MS {
        return Err(asked.malformed("toDateTime"));
    }
    if asked.now_ms - from_ms > BACK_MOST_MS {
        return Err(asked.malformed("fromDateTime"));
    }
    Ok((from_ms, to_ms))
}

fn entries<'a>(lines: impl Iterator<Item = &'a &'a Line>) -> Value {
    let amounts: Vec<i64> = lines.map(|line| line.amount.abs()).collect();
    json!({ "numberOfEntries": amounts.len().to_string(), "amount": money(amounts.iter().sum()) })
}

fn detail(line: &Line, account: &Account, (milliseconds, remark_line): (bool, usize)) -> Value {
    let balance = |amount: i64| json!([{ "amount": money(amount) }]);
    let mut detail = json!({
        "detailBalance": {
            "startAmount": balance(line.balance_after - line.amount), "endAmount": balance(line.balance_after),
        },
        "amount": money(line.amount.abs()),
        "originAmount": money(line.amount.abs()),
        "transactionDate": time::text(line.at_ms, milliseconds),
        "remark": line.remark,
        "transactionId": line.bank_reference,
        "type": if line.amount < 0 { "DEBIT" } else { "CREDIT" },
        "transactionDetailStatus": "SUCCESS",
        "detailInfo": { "accountNo": account.key.number },
    });
    let remark: Vec<char> = line.remark.chars().collect();
    for (index, part) in remark.chunks(remark_line.max(1)).enumerate() {
        let name = if index == 0 { "remark".to_owned() } else { format!("remark{}", index + 1) };
        detail[name] = part.iter().collect::<String>().into();
    }
    detail
}
