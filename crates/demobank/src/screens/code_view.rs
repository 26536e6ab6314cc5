//! The pages about codes that this bank has issued: what they show, in words that are ready to be shown.

use askama::Template;
use axum::response::Response;

use super::money_view;
pub(super) use super::view::rupiah;
use super::view::{Exchange, LATE_MINUTES, exchange, page, summary};
use crate::{
    answer::Answer,
    services::{Code, CodeKind, CodePayment, CodeState, Transfer, TransferState},
    time,
};

/// What a button did.
pub(super) struct CodeOutcome {
    pub(super) title: &'static str,
    /// The RRN or request id of the money, if there was any.
    pub(super) receipt_id: Option<String>,
    /// What the merchant's side answered to the notifications.
    pub(super) answers: Vec<Answer>,
}

#[derive(Template)]
#[template(path = "screens/code_view/scan.html")]
struct ScanPage<'a> {
    base: &'a str,
    problem: Option<&'a str>,
    text: &'a str,
}

#[derive(Template)]
#[template(path = "screens/code_view/code.html")]
struct CodePage<'a> {
    base: &'a str,
    action_url: String,
    problem: Option<&'a str>,
    code: &'a Code,
    is_qr: bool,
    amount: String,
    state: &'static str,
    state_class: &'static str,
    expires: Option<String>,
    payments: Vec<PaymentLine>,
    refunds: Vec<RefundLine>,
    outcomes: Vec<OutcomeLine>,
    late_minutes: i64,
    may_fail: bool,
}

struct PaymentLine {
    what: String,
    when: String,
}

struct RefundLine {
    url: String,
    what: String,
    when: String,
    class: &'static str,
}

struct OutcomeLine {
    title: &'static str,
    receipt_id: String,
    told: Vec<ToldLine>,
}

struct ToldLine {
    class: &'static str,
    words: &'static str,
    summary: String,
    exchange: Exchange,
}

pub(super) fn scan(base: &str, text: &str, problem: Option<&str>) -> Response {
    page(&ScanPage { base, problem, text })
}

pub(super) fn code<'a>(
    base: &str,
    code: &Code,
    refunds: &[Transfer],
    outcomes: impl Iterator<Item = &'a CodeOutcome>,
    now_ms: i64,
    problem: Option<&str>,
) -> Response {
    let (state, state_class) = state(code, refunds, now_ms);
    let line = |payment: &CodePayment| PaymentLine {
        what: format!("{}, {}", rupiah(payment.amount), payment.receipt_id),
        when: time::shown(payment.paid_at_ms),
    };
    let refund = |refund: &Transfer| {
        let (words, class) = money_view::state(refund);
        RefundLine {
            url: format!("{base}/money/transfers/{}", refund.bank_reference),
            what: format!("{words}: {}, {}", rupiah(refund.amount), refund.reference),
            when: time::shown(refund.at_ms),
            class,
        }
    };
    page(&CodePage {
        base,
        action_url: format!("{base}/codes/{}", code.bank_reference),
        problem,
        code,
        is_qr: code.kind == CodeKind::Qr,
        amount: rupiah(code.amount),
        state,
        state_class,
        expires: code.expires_at_ms.map(time::shown),
        payments: code.payments.iter().map(line).collect(),
        refunds: refunds.iter().map(refund).collect(),
        outcomes: outcomes.map(outcome_line).collect(),
        late_minutes: LATE_MINUTES,
        may_fail: code.kind == CodeKind::Qr && matches!(code.state, CodeState::Unpaid | CodeState::Processing),
    })
}

fn state(code: &Code, refunds: &[Transfer], now_ms: i64) -> (&'static str, &'static str) {
    let is_back = |refund: &&Transfer| refund.state == TransferState::Done;
    let back: i64 = refunds.iter().filter(is_back).map(|refund| refund.amount).sum();
    match code.state {
        CodeState::Unpaid if code.is_expired(now_ms) => ("Expired", "problem"),
        CodeState::Unpaid => ("Waits for money", "suspended"),
        CodeState::Processing => ("Being paid", "suspended"),
        CodeState::Paid if back > 0 && back >= code.taken() => ("Given back", "problem"),
        CodeState::Paid if back > 0 => ("Paid, and given back in part", "booked"),
        CodeState::Paid => ("Paid", "booked"),
        CodeState::Refunded => ("Refunded", "problem"),
        CodeState::Voided => ("Cancelled by the merchant", "problem"),
        CodeState::Failed => ("Failed", "problem"),
    }
}

fn outcome_line(outcome: &CodeOutcome) -> OutcomeLine {
    OutcomeLine {
        title: outcome.title,
        receipt_id: outcome.receipt_id.clone().unwrap_or_default(),
        told: outcome.answers.iter().map(told_line).collect(),
    }
}

fn told_line(answer: &Answer) -> ToldLine {
    let is_taken = answer.code().starts_with("200") && answer.status == 200;
    let (class, words) = match (is_taken, answer.is_silence()) {
        (true, _) => ("booked", "The merchant's side took the notification."),
        (_, true) => ("suspended", "The merchant's side did not answer the notification."),
        _ => ("problem", "The merchant's side refused the notification."),
    };
    ToldLine { class, words, summary: summary(answer), exchange: exchange(answer) }
}
