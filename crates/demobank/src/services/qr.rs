//! Codes for QRIS: 47 issues one, 51 and 55 tell where it stands, 77 and 57 cancel it.

use serde_json::{Value, json};

use super::{
    bank::{BankServices, Member},
    codes::{Code, CodeKind, CodePayment, CodeState, Codes},
    habits::{Habits, QueryKey, RrnIn},
    qris::{self, Payload},
    repeats::Repeats,
    request::{Reply, ServiceRequest, money},
};
use crate::{crypto::random_digits, journal::held, notification::status_words, prepared::Service, time};

/// The most that one QRIS payment may be, in rupiah.
const AMOUNT_MOST: i64 = 10_000_000;

/// What an order for a QR says.
struct Order<'a> {
    reference: &'a str,
    merchant_id: &'a str,
    terminal_id: &'a str,
    amount: i64,
    expires_at_ms: Option<i64>,
}

impl BankServices {
    /// 47
    pub(super) fn generate(&self, asked: &ServiceRequest<'_>, member: &Member) -> Result<Reply, Reply> {
        let body = asked.members()?;
        let order = order(asked, &body, &member.habits)?;
        let text = asked.minified();
        let mut codes = held(&self.codes);
        if let Some(known) = codes.of_reference(&member.merchant.client_id, order.reference) {
            return Err(repeated(asked, known, &text, member.habits.repeats));
        }
        if order.amount > AMOUNT_MOST {
            return Err(asked.answer(403, "02", "Exceeds Transaction Amount Limit"));
        }
        let bank_reference = new_bank_reference(asked.now_ms);
        let payload = Payload {
            merchant: &member.merchant.name,
            merchant_id: order.merchant_id,
            terminal_id: order.terminal_id,
            bank_reference: &bank_reference,
            amount: order.amount,
        };
        let answer = asked.success(json!({
            "referenceNo": bank_reference,
            "partnerReferenceNo": order.reference,
            "qrContent": qris::write(&payload, asked.qr_fault()),
            "terminalId": order.terminal_id,
            "additionalInfo": {},
        }));
        let content = qris::write(&payload, None);
        codes.insert(Code {
            kind: CodeKind::Qr,
            client_id: member.merchant.client_id.clone(),
            reference: order.reference.to_owned(),
            content,
            company_code: String::new(),
            name: member.merchant.name.clone(),
            amount: order.amount,
            created_at_ms: asked.now_ms,
            expires_at_ms: order.expires_at_ms,
            state: CodeState::Unpaid,
            payments: Vec::new(),
            order: text,
            answer: answer.1.clone(),
            bank_reference,
        });
        Ok(answer)
    }

    /// 51 and 55
    pub(super) fn query(&self, asked: &ServiceRequest<'_>, member: &Member) -> Result<Reply, Reply> {
        let (body, habits) = (asked.members()?, &member.habits);
        if asked.text(&body, "serviceCode")? != habits.service_code {
            return Err(asked.malformed("serviceCode"));
        }
        let mut codes = held(&self.codes);
        let code = original(asked, &body, member, &mut codes)?;
        let (mut status, mut payment) = standing(asked, code, habits);
        if asked.said().is_none() && self.is_given_back(code, asked.now_ms) {
            (status, payment) = ("04", None);
        }
        let amount = if asked.service == Service::DebitStatus { "transAmount" } else { "amount" };
        let mut members = json!({
            "originalReferenceNo": code.bank_reference,
            "originalPartnerReferenceNo": code.reference,
            "serviceCode": habits.service_code,
            "latestTransactionStatus": status,
            "transactionStatusDesc": status_words(status),
            amount: money(payment.as_ref().map_or(code.amount, |payment| payment.amount)),
            "additionalInfo": {},
        });
        // 51 has no member for it.
        if asked.service == Service::DebitStatus {
            let history = self.refund_history(code, member, asked.now_ms);
            if !history.is_empty() {
                members["refundHistory"] = history.into();
            }
        }
        if let Some(payment) = payment {
            members["paidTime"] = time::text(payment.paid_at_ms, habits.milliseconds).into();
            if habits.rrn_in == RrnIn::Both {
                let receipt_id = payment.receipt_id;
                members["additionalInfo"] = json!({ "issuerRrn": receipt_id, "paymentReferenceNo": receipt_id });
            }
        } else if habits.query_has_content && status == habits.unpaid {
            members["qrContent"] = code.content.clone().into();
        }
        Ok(asked.success(members))
    }

    /// 77 and 57
    pub(super) fn cancel(&self, asked: &ServiceRequest<'_>, member: &Member) -> Result<Reply, Reply> {
        let body = asked.members()?;
        let mut codes = held(&self.codes);
        let code = original(asked, &body, member, &mut codes)?;
        void(asked, code)?;
        Ok(asked.success(json!({
            "originalReferenceNo": code.bank_reference,
            "originalPartnerReferenceNo": code.reference,
            "cancelTime": time::text(asked.now_ms, member.habits.milliseconds),
        })))
    }
}

fn order<'a>(asked: &ServiceRequest<'_>, body: &'a Value, habits: &Habits) -> Result<Order<'a>, Reply> {
    let reference = asked.text(body, "partnerReferenceNo")?;
    for name in habits.required {
        asked.text(body, name)?;
    }
    let amount = asked.amount(body, "amount")?;
    if reference.len() > habits.reference_most {
        return Err(asked.malformed("partnerReferenceNo"));
    }
    let expires_at_ms = end(asked, body, "validityPeriod")?;
    let (least, most) = habits.validity_seconds;
    let is_allowed = |ends_at_ms: i64| (least..=most).contains(&((ends_at_ms - asked.now_ms) / 1000));
    if !expires_at_ms.is_none_or(is_allowed) {
        return Err(asked.malformed("validityPeriod"));
    }
    let optional = |name: &str| body[name].as_str().unwrap_or_default();
    let (merchant_id, terminal_id) = (optional("merchantId"), optional("terminalId"));
    Ok(Order { reference, merchant_id, terminal_id, amount, expires_at_ms })
}

/// When a code is to end, if the body says so. It must lie ahead.
pub(super) fn end(asked: &ServiceRequest<'_>, body: &Value, name: &str) -> Result<Option<i64>, Reply> {
    if body[name].is_null() {
        return Ok(None);
    }
    let ends_at_ms = time::parse(asked.text(body, name)?).filter(|ends_at_ms| *ends_at_ms > asked.now_ms);
    ends_at_ms.map(Some).ok_or_else(|| asked.malformed(name))
}

/// The code that a question is about, by the references that the bank goes by.
pub(super) fn original<'a>(
    asked: &ServiceRequest<'_>,
    body: &Value,
    member: &Member,
    codes: &'a mut Codes,
) -> Result<&'a mut Code, Reply> {
    let given = |name: &str| body[name].as_str().filter(|text| !text.is_empty());
    let (theirs, ours) = (given("originalReferenceNo"), given("originalPartnerReferenceNo"));
    let client_id = &member.merchant.client_id;
    let found = match (theirs, ours, member.habits.query_key) {
        (Some(theirs), ..) => codes.of_bank_reference(client_id, theirs),
        (None, Some(ours), QueryKey::Either) => codes.of_reference(client_id, ours),
        (None, _, QueryKey::Theirs) => return Err(asked.missing("originalReferenceNo")),
        (None, None, QueryKey::Either) => return Err(asked.missing("originalPartnerReferenceNo")),
    };
    let code = found.filter(|code| code.kind == CodeKind::Qr);
    let code = code.ok_or_else(|| asked.answer(404, "01", "Transaction Not Found"))?;
    if ours.is_some_and(|ours| ours != code.reference) {
        return Err(asked.answer(404, "18", "Inconsistent Request"));
    }
    Ok(code)
}

/// A second order with the same reference.
pub(super) fn repeated(asked: &ServiceRequest<'_>, known: &Code, order: &str, repeats: Repeats) -> Reply {
    match repeats {
        _ if known.order != order => asked.answer(404, "18", "Inconsistent Request"),
        Repeats::SameAnswer => (200, known.answer.clone()),
        Repeats::Refused => asked.answer(409, "01", "Duplicate partnerReferenceNo"),
    }
}

/// `latestTransactionStatus` of a code, and the money that a status of 00 tells of.
pub(super) fn standing(
    asked: &ServiceRequest<'_>,
    code: &Code,
    habits: &Habits,
) -> (&'static str, Option<CodePayment>) {
    let status = asked.said().unwrap_or(match code.state {
        CodeState::Unpaid if code.is_expired(asked.now_ms) => habits.expired,
        CodeState::Unpaid => habits.unpaid,
        CodeState::Processing => "02",
        CodeState::Paid => "00",
        CodeState::Refunded => "04",
        CodeState::Voided => "05",
        CodeState::Failed => "06",
    });
    let invented = || CodePayment {
        receipt_id: code.bank_reference.chars().rev().take(12).collect(),
        amount: code.amount,
        paid_at_ms: asked.now_ms,
        fee: None,
    };
    let payment = (status == "00").then(|| code.payments.first().cloned().unwrap_or_else(invented));
    (status, payment)
}

/// Cancels a code. One that is cancelled already stays so; one that is paid or being paid cannot be.
pub(super) fn void(asked: &ServiceRequest<'_>, code: &mut Code) -> Result<(), Reply> {
    match code.state {
        CodeState::Paid | CodeState::Refunded => return Err(asked.answer(404, "14", "Paid Bill")),
        CodeState::Processing => return Err(asked.answer(202, "00", "Transaction still on process")),
        CodeState::Unpaid | CodeState::Voided | CodeState::Failed => code.state = CodeState::Voided,
    }
    Ok(())
}

/// The time and random digits, so that references sort by time and are not guessed.
pub(super) fn new_bank_reference(now_ms: i64) -> String {
    time::digits(now_ms) + &random_digits(16)
}
