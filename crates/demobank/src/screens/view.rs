//! The pages: what they show, in words that are ready to be shown. Templates escape all of it.

use std::sync::Arc;

use askama::Template;
use axum::{
    http::StatusCode,
    response::{Html, IntoResponse, Response},
};

use super::visit::{Outcome, Visit};
use crate::{
    answer::Answer,
    bank::Bank,
    conclusion::Conclusion,
    contract::Contract,
    journal::Entry,
    prepared::{Prepared, Service},
};

/// How many calls the first page shows.
const ENTRIES_SHOWN: usize = 10;
/// What the field for a late payment holds at first: later than most bills live.
pub(super) const LATE_MINUTES: i64 = 2 * 24 * 60;
/// How much of a body is shown.
const SHOWN_CHARACTERS_MOST: usize = 8_000;

#[derive(Template)]
#[template(path = "screens/view/start.html")]
struct StartPage<'a> {
    base: &'a str,
    problem: Option<&'a str>,
    /// Whether there is a page that scans codes.
    can_scan: bool,
    contracts: Vec<ContractChoice>,
    /// The name of the chosen contract; empty where the number tells it.
    chosen: &'a str,
    number: &'a str,
    entries: Vec<EntryLine>,
}

struct ContractChoice {
    name: String,
    profile: &'static str,
    company_code: String,
    chosen: bool,
}

struct EntryLine {
    what: String,
    end: String,
    class: &'static str,
}

#[derive(Template)]
#[template(path = "screens/view/visit.html")]
struct VisitPage<'a> {
    base: &'a str,
    action_url: String,
    problem: Option<&'a str>,
    contract: &'a str,
    number: &'a str,
    bill: Option<BillLine>,
    no_bill: String,
    /// What the buttons pay.
    amount: Option<String>,
    booked: String,
    late_minutes: i64,
    inquiry: Exchange,
    results: Vec<ResultLine>,
    can_repeat: bool,
}

struct BillLine {
    amount: String,
    name: String,
}

struct ResultLine {
    title: &'static str,
    class: &'static str,
    conclusion: &'static str,
    meaning: &'static str,
    summary: String,
    exchange: Exchange,
}

pub(super) struct Exchange {
    pub(super) sent: String,
    pub(super) answered: String,
}

pub(super) fn start(
    bank: &Bank,
    base: &str,
    can_scan: bool,
    [chosen, number]: [&str; 2],
    problem: Option<&str>,
) -> Response {
    let contracts = bank.contracts();
    let choice = |contract: &Arc<Contract>| ContractChoice {
        name: contract.name.clone(),
        profile: contract.style.profile,
        company_code: contract.company_code.clone(),
        chosen: contract.name == chosen,
    };
    let entries = bank.journal().iter().rev().take(ENTRIES_SHOWN).map(entry_line).collect();
    let contracts = contracts.iter().map(choice).collect();
    page(&StartPage { base, problem, can_scan, contracts, chosen, number, entries })
}

pub(super) fn visit(bank: &Bank, base: &str, id: &str, visit: &Visit, problem: Option<&str>) -> Response {
    let has_bill = visit.inquiry.code() == "2002400";
    let bill = visit.bill.as_ref();
    let line = bill.filter(|_| has_bill).map(|bill| BillLine { amount: rupiah(bill.amount), name: bill.name.clone() });
    page(&VisitPage {
        base,
        action_url: format!("{base}/visits/{id}"),
        problem,
        contract: &visit.contract.name,
        number: &visit.number,
        bill: line,
        no_bill: no_bill(&visit.inquiry),
        amount: bill.map(|bill| rupiah(bill.amount)),
        booked: rupiah(bank.booked(&visit.contract, &visit.number)),
        late_minutes: LATE_MINUTES,
        inquiry: exchange(&visit.inquiry),
        results: visit.results.iter().map(result_line).collect(),
        can_repeat: visit.last.is_some(),
    })
}

pub(super) fn page(template: &impl Template) -> Response {
    match template.render() {
        Ok(page) => Html(page).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn entry_line(entry: &Entry) -> EntryLine {
    let what = match entry.service {
        Service::Token => format!("{}: token", entry.contract),
        Service::Payment => format!("{}: {} for {}", entry.contract, rupiah(entry.amount), entry.number),
        Service::QrNotify | Service::DebitNotify | Service::VaNotify => {
            format!("{}: notification about {}", entry.contract, rupiah(entry.amount))
        }
        Service::SknNotify | Service::RtgsNotify => {
            format!("{}: notification of a transfer of {}", entry.contract, rupiah(entry.amount))
        }
        _ => format!("{}: bill of {}", entry.contract, entry.number),
    };
    let code = if entry.status == 0 { "no answer" } else { &entry.code };
    let end = entry.conclusion.map_or(code.to_owned(), |conclusion| format!("{}, {code}", conclusion.word()));
    EntryLine { what, end, class: entry.conclusion.map_or("", Conclusion::word) }
}

fn result_line(outcome: &Outcome) -> ResultLine {
    let answer = &outcome.answer;
    let (conclusion, meaning) = answer.conclusion.map_or(
        ("not sent", "The bank got no access token from the merchant's side, so it took no money."),
        |conclusion| (conclusion.word(), conclusion.meaning()),
    );
    ResultLine {
        title: outcome.title,
        class: answer.conclusion.map_or("problem", Conclusion::word),
        conclusion,
        meaning,
        summary: summary(answer),
        exchange: exchange(answer),
    }
}

/// The answer in one line.
pub(super) fn summary(answer: &Answer) -> String {
    if answer.sent.lost_answer {
        return "The bank did not read the answer.".to_owned();
    }
    if answer.is_silence() {
        return "There was no answer.".to_owned();
    }
    let parts = [("HTTP ", answer.status.to_string()), ("code ", answer.code().to_owned())];
    let more =
        [("flag ", answer.flag().to_owned()), ("", answer.message().to_owned()), ("", answer.reason().to_owned())];
    let all = parts.into_iter().chain(more).filter(|(_, value)| !value.is_empty());
    all.map(|(name, value)| format!("{name}{value}")).collect::<Vec<_>>().join(", ")
}

/// Why there is no bill, in words.
fn no_bill(answer: &Answer) -> String {
    let why = match (answer.status, answer.code()) {
        (0, _) => "The merchant's side does not answer.",
        (_, "4042412") => "There is no bill with this number.",
        (_, "4042414") => "This bill is paid already.",
        (_, "4042419" | "4042420") => "This bill has expired.",
        (401, _) => "The merchant's side does not accept this bank's signature, token or address.",
        (500.., _) => "The merchant's side has a problem of its own.",
        _ => "The merchant's side refuses to name a bill.",
    };
    format!("{why} ({})", summary(answer))
}

pub(super) fn exchange(answer: &Answer) -> Exchange {
    let answered = if answer.is_silence() {
        summary(answer)
    } else {
        let text = serde_json::to_string_pretty(&answer.body).ok().filter(|_| !answer.body.is_null());
        format!("HTTP {}\n\n{}", answer.status, shortened(&text.unwrap_or_else(|| answer.text.clone())))
    };
    Exchange { sent: sent(&answer.sent), answered }
}

/// A request as it was sent, without what would let a reader send another: token and signature.
fn sent(prepared: &Prepared) -> String {
    let mut lines = vec![format!("{} {}", prepared.method, prepared.path())];
    let secret = ["authorization", "x-signature"];
    for (name, value) in &prepared.headers {
        let is_secret = secret.iter().any(|secret| name.eq_ignore_ascii_case(secret));
        lines.push(format!("{name}: {}", if is_secret { "…" } else { value }));
    }
    let text = prepared.text();
    let pretty = serde_json::from_str::<serde_json::Value>(&text).and_then(|body| serde_json::to_string_pretty(&body));
    lines.push(format!("\n{}", shortened(&pretty.unwrap_or(text))));
    lines.join("\n")
}

fn shortened(text: &str) -> String {
    text.chars().take(SHOWN_CHARACTERS_MOST).collect()
}

/// `Rp150.000`
pub(super) fn rupiah(amount: i64) -> String {
    let digits = amount.unsigned_abs().to_string();
    let mut text = String::from(if amount < 0 { "-Rp" } else { "Rp" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('.');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::rupiah;

    #[test]
    fn rupiah_are_written_with_dots_between_thousands() {
        let written: Vec<String> = [0, 7, 999, 1_000, 150_000, 12_345_678, -5_000].map(rupiah).into();
        assert_eq!(written, ["Rp0", "Rp7", "Rp999", "Rp1.000", "Rp150.000", "Rp12.345.678", "-Rp5.000"]);
    }
}
