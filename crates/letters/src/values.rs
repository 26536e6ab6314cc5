//! The values of a letter by name, as notices have them: amounts are whole rupiah, times are written as the API writes them.

use domain::method::Method;
use serde::Serialize;

use crate::letter::{
    ApprovalWanted, Asker, BankDown, Customer, Letter, MoneyHeld, PaymentReceipt, RefundMade, Summary, WebhookFailing,
};

/// What a notice says, by name.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Values<'a> {
    Receipt(ReceiptValues<'a>),
    RefundMade(RefundValues<'a>),
    WebhookFailing(WebhookValues<'a>),
    MoneyHeld(HeldValues<'a>),
    ApprovalWanted(ApprovalValues<'a>),
    BankDown(BankValues<'a>),
    Summary(SummaryValues<'a>),
    Test(TestValues),
}

#[derive(Serialize)]
pub struct ReceiptValues<'a> {
    title: &'a str,
    amount: i64,
    paid_at: String,
    method: MethodValues,
    payment_id: &'a str,
    reference: Option<&'a str>,
    payment_url: &'a str,
    is_sandbox: bool,
    customer: Option<&'a Customer>,
}

#[derive(Serialize)]
pub struct RefundValues<'a> {
    title: &'a str,
    amount: i64,
    destination: Option<&'a str>,
    made_at: String,
    payment_id: &'a str,
    reference: Option<&'a str>,
    payment_url: &'a str,
    is_sandbox: bool,
    customer: Option<&'a Customer>,
}

/// As payments have it in the API.
#[derive(Serialize)]
struct MethodValues {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bank: Option<&'static str>,
}

#[derive(Serialize)]
pub struct WebhookValues<'a> {
    project: &'a str,
    webhook_url: &'a str,
    failing_since: String,
    waiting: u64,
    last_answer: Option<&'a str>,
    page_url: &'a str,
}

#[derive(Serialize)]
pub struct HeldValues<'a> {
    project: &'a str,
    amount: i64,
    received_at: String,
    reason: &'static str,
    payment_id: &'a str,
    page_url: &'a str,
    is_sandbox: bool,
}

#[derive(Serialize)]
pub struct ApprovalValues<'a> {
    project: &'a str,
    amount: i64,
    /// The address of the user who asked; none for a key and a command.
    asked_by: Option<&'a str>,
    asked_at: String,
    destination: Option<&'a str>,
    reason: Option<&'a str>,
    refund_id: &'a str,
    payment_id: &'a str,
    page_url: &'a str,
    is_sandbox: bool,
}

#[derive(Serialize)]
pub struct BankValues<'a> {
    bank_account: &'a str,
    failing_since: String,
    last_error: Option<&'a str>,
    page_url: &'a str,
}

#[derive(Serialize)]
pub struct SummaryValues<'a> {
    project: &'a str,
    period: &'static str,
    from: String,
    until: String,
    paid_count: u64,
    paid_sum: i64,
    paid_sum_before: i64,
    held_count: u64,
    page_url: &'a str,
    is_sandbox: bool,
}

#[derive(Serialize)]
pub struct TestValues {
    sent_at: String,
}

/// None of letters that are never notices.
pub(crate) fn values(letter: &Letter) -> Option<Values<'_>> {
    Some(match letter {
        Letter::Receipt(letter) => Values::Receipt(receipt(letter)),
        Letter::RefundMade(letter) => Values::RefundMade(refund_made(letter)),
        Letter::WebhookFailing(letter) => Values::WebhookFailing(webhook_failing(letter)),
        Letter::MoneyHeld(letter) => Values::MoneyHeld(money_held(letter)),
        Letter::ApprovalWanted(letter) => Values::ApprovalWanted(approval_wanted(letter)),
        Letter::BankDown(letter) => Values::BankDown(bank_down(letter)),
        Letter::Summary(letter) => Values::Summary(summary(letter)),
        Letter::Test(letter) => Values::Test(TestValues { sent_at: letter.sent_at.to_string() }),
        Letter::Invitation(_)
        | Letter::RefundClaim(_)
        | Letter::PasswordReset(_)
        | Letter::NewDevice(_)
        | Letter::PasswordChanged(_)
        | Letter::FactorChanged(_) => return None,
    })
}

fn receipt(letter: &PaymentReceipt) -> ReceiptValues<'_> {
    ReceiptValues {
        title: &letter.title,
        amount: letter.amount.get(),
        paid_at: letter.paid_at.to_string(),
        method: method(letter.method),
        payment_id: &letter.payment_id,
        reference: letter.reference.as_deref(),
        payment_url: &letter.payment_url,
        is_sandbox: letter.is_sandbox,
        customer: letter.customer.as_ref(),
    }
}

fn refund_made(letter: &RefundMade) -> RefundValues<'_> {
    RefundValues {
        title: &letter.title,
        amount: letter.amount.get(),
        destination: letter.destination.as_deref(),
        made_at: letter.made_at.to_string(),
        payment_id: &letter.payment_id,
        reference: letter.reference.as_deref(),
        payment_url: &letter.payment_url,
        is_sandbox: letter.is_sandbox,
        customer: letter.customer.as_ref(),
    }
}

fn method(method: Method) -> MethodValues {
    MethodValues { kind: method.kind().word(), bank: method.bank().map(|bank| bank.code()) }
}

fn webhook_failing(letter: &WebhookFailing) -> WebhookValues<'_> {
    WebhookValues {
        project: &letter.project,
        webhook_url: &letter.webhook_url,
        failing_since: letter.failing_since.to_string(),
        waiting: letter.waiting,
        last_answer: letter.last_answer.as_deref(),
        page_url: &letter.page_url,
    }
}

fn money_held(letter: &MoneyHeld) -> HeldValues<'_> {
    HeldValues {
        project: &letter.project,
        amount: letter.amount.get(),
        received_at: letter.received_at.to_string(),
        reason: letter.reason.word(),
        payment_id: &letter.payment_id,
        page_url: &letter.page_url,
        is_sandbox: letter.is_sandbox,
    }
}

fn approval_wanted(letter: &ApprovalWanted) -> ApprovalValues<'_> {
    let asked_by = match &letter.asked_by {
        Some(Asker::User(email)) => Some(email.as_str()),
        Some(Asker::Key | Asker::CommandLine) | None => None,
    };
    ApprovalValues {
        project: &letter.project,
        amount: letter.amount.get(),
        asked_by,
        asked_at: letter.asked_at.to_string(),
        destination: letter.destination.as_deref(),
        reason: letter.reason.as_deref(),
        refund_id: &letter.refund_id,
        payment_id: &letter.payment_id,
        page_url: &letter.page_url,
        is_sandbox: letter.is_sandbox,
    }
}

fn bank_down(letter: &BankDown) -> BankValues<'_> {
    BankValues {
        bank_account: &letter.bank_account,
        failing_since: letter.failing_since.to_string(),
        last_error: letter.last_error.as_deref(),
        page_url: &letter.page_url,
    }
}

fn summary(letter: &Summary) -> SummaryValues<'_> {
    SummaryValues {
        project: &letter.project,
        period: letter.period.word(),
        from: letter.from.to_string(),
        until: letter.until.to_string(),
        paid_count: letter.paid_count,
        paid_sum: letter.paid_sum.get(),
        paid_sum_before: letter.paid_sum_before.get(),
        held_count: letter.held_count,
        page_url: &letter.page_url,
        is_sandbox: letter.is_sandbox,
    }
}
