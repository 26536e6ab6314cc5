//! 78 and 58: a payment by QR is given back to the person who paid it, in whole or in part, out of what the bank owes the merchant.

use serde_json::{Value, json};

use super::{
    books::AccountKey,
    inquiries::{new_reference, refused},
    ledger::{Ledger, Order, Refusal, refusal},
    money_habits::{RefundHabits, RefundKey},
    rules::RefundRule,
    transfers::{Kind, Transfer, TransferState},
};
use crate::{
    journal::held,
    services::{
        bank::{BankServices, Member},
        codes::{Code, CodeState},
        qr::original,
        repeats::Repeats,
        request::{Reply, ServiceRequest, money},
    },
    time,
};

const REFUND_NUMBER_MOST: usize = 64;
const REASON_MOST: usize = 256;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const MINUTE_MS: i64 = 60 * 1000;
const JAKARTA_MS: i64 = 7 * 60 * MINUTE_MS;

impl BankServices {
    /// 78 and 58
    pub(in crate::services) fn refund(&self, asked: &ServiceRequest<'_>, member: &Member) -> Result<Reply, Reply> {
        let (body, habits) = (asked.members()?, &member.habits.refund);
        if !habits.services.contains(&asked.service) {
            return Err(asked.answer(405, "00", "Requested Function Is Not Supported"));
        }
        asked.text(&body, "originalPartnerReferenceNo")?;
        let number = asked.text(&body, "partnerRefundNo")?;
        let amount = asked.amount(&body, "refundAmount")?;
        if number.len() > REFUND_NUMBER_MOST {
            return Err(asked.malformed("partnerRefundNo"));
        }
        let reason = body["reason"].as_str().unwrap_or_default();
        if reason.chars().count() > REASON_MOST {
            return Err(asked.malformed("reason"));
        }
        let mut codes = held(&self.codes);
        let code = original(asked, &body, member, &mut codes)?;
        let mut ledger = held(&self.ledger);
        ledger.advance(asked.now_ms);
        let external_id = asked.header("X-EXTERNAL-ID");
        if let Some(known) = earlier(&ledger, member, number, external_id) {
            return repeated(asked, habits.repeats, known, [&code.bank_reference, number], amount);
        }
        let bank_reference = new_reference(asked.now_ms);
        let order = Order {
            client_id: &member.merchant.client_id,
            service: asked.service,
            reference: number,
            bank_reference: bank_reference.clone(),
            external_id,
            source: AccountKey::float(&member.merchant.client_id),
            beneficiary: AccountKey::payers(),
            amount,
            remark: reason,
            original: Some(code.bank_reference.clone()),
            now_ms: asked.now_ms,
        };
        if let Err(why) = judge(&ledger, member, code, amount, asked.now_ms) {
            let reply = refused(asked, &why);
            ledger.refuse(order, reply.1["responseCode"].as_str().unwrap_or_default());
            return Err(reply);
        }
        let answer = |is_pending| answer(asked, member, code, &body, &bank_reference, is_pending);
        let refund = ledger.carry_out(order, 0, answer);
        let status = if refund.code.starts_with("202") { 202 } else { 200 };
        Ok((status, refund.answer))
    }

    /// Whether a call repeats the external id of a refund, at a bank that tells refunds apart by it.
    pub(in crate::services) fn repeats_refund(&self, asked: &ServiceRequest<'_>, member: &Member) -> bool {
        let habits = &member.habits.refund;
        habits.key == RefundKey::ExternalId && habits.services.contains(&asked.service) && {
            let ledger = held(&self.ledger);
            let (client_id, external_id) = (&member.merchant.client_id, asked.header("X-EXTERNAL-ID"));
            ledger.transfers.of_external_id(client_id, Kind::Refund, external_id).is_some()
        }
    }

    /// `refundHistory[]` of a code, the oldest first.
    pub(in crate::services) fn refund_history(&self, code: &Code, member: &Member, now_ms: i64) -> Vec<Value> {
        let mut ledger = held(&self.ledger);
        ledger.advance(now_ms);
        let line = |refund: &Transfer| {
            let status = match refund.state {
                TransferState::Pending => "03",
                TransferState::Done | TransferState::Returned => "00",
                TransferState::Failed | TransferState::Refused => "06",
            };
            json!({
                "refundNo": refund.bank_reference,
                "partnerRefundNo": refund.reference,
                "refundAmount": money(refund.amount),
                "refundStatus": status,
                "refundDate": time::text(refund.at_ms, member.habits.milliseconds),
                "reason": refund.remark,
            })
        };
        let seen = ledger.transfers.refunds_of(&code.bank_reference).filter(|refund| !refund.is_hidden(now_ms));
        seen.map(line).collect()
    }

    /// Whether a code was given back as a whole.
    pub(in crate::services) fn is_given_back(&self, code: &Code, now_ms: i64) -> bool {
        let mut ledger = held(&self.ledger);
        ledger.advance(now_ms);
        let done = |refund: &&Transfer| refund.state == TransferState::Done && !refund.is_hidden(now_ms);
        let back: i64 =
            ledger.transfers.refunds_of(&code.bank_reference).filter(done).map(|refund| refund.amount).sum();
        back > 0 && back >= code.taken()
    }
}

/// The earlier refund that a call repeats, if it was not refused.
fn earlier<'a>(ledger: &'a Ledger, member: &Member, number: &str, external_id: &str) -> Option<&'a Transfer> {
    let client_id = &member.merchant.client_id;
    let known = match member.habits.refund.key {
        RefundKey::PartnerRefundNo => ledger.transfers.of_reference(client_id, Kind::Refund, number),
        RefundKey::ExternalId => ledger.transfers.of_external_id(client_id, Kind::Refund, external_id),
        RefundKey::Nothing => None,
    };
    known.filter(|known| known.state != TransferState::Refused)
}

/// The answer to the same refund again, and to another one by its name.
fn repeated(
    asked: &ServiceRequest<'_>,
    repeats: Repeats,
    known: &Transfer,
    [original, number]: [&str; 2],
    amount: i64,
) -> Result<Reply, Reply> {
    let is_same = known.original.as_deref() == Some(original) && known.amount == amount && known.reference == number;
    match repeats {
        _ if !is_same => Err(asked.answer(404, "18", "Inconsistent Request")),
        Repeats::SameAnswer => {
            let status = if known.code.starts_with("202") { 202 } else { 200 };
            Ok((status, known.answer.clone()))
        }
        Repeats::Refused => Err(asked.answer(409, "01", "Duplicate partnerRefundNo")),
    }
}

/// Whether a payment may be given back now, and so much of it.
fn judge(ledger: &Ledger, member: &Member, code: &Code, amount: i64, now_ms: i64) -> Result<(), Refusal> {
    let (client_id, habits) = (&member.merchant.client_id, &member.habits.refund);
    ledger.check_rules(client_id, amount, now_ms)?;
    if habits.closed.is_some_and(|hours| is_closed(hours, now_ms)) {
        return Err(refusal(403, "06", "Feature Not Allowed At This Time. [Cut off In Progress]"));
    }
    if !matches!(code.state, CodeState::Paid | CodeState::Refunded) {
        return Err(refusal(404, "00", "Invalid Transaction Status"));
    }
    match ledger.rules(client_id).refunds {
        RefundRule::Unsupported => return Err(refusal(405, "01", "Requested Operation Is Not Allowed")),
        RefundRule::Over => return Err(refusal(403, "15", "Transaction Not Permitted. [Refund period is over]")),
        RefundRule::Allowed => {}
    }
    if is_over(habits, code, now_ms) {
        return Err(refusal(403, "15", "Transaction Not Permitted. [Refund period is over]"));
    }
    let earlier = || ledger.transfers.refunds_of(&code.bank_reference);
    if habits.one_at_a_time && earlier().any(|refund| refund.state == TransferState::Pending) {
        return Err(refusal(405, "01", "Requested Operation Is Not Allowed"));
    }
    let counted: i64 = earlier().filter(|refund| refund.counts()).map(|refund| refund.amount).sum();
    if amount > code.taken() - counted {
        return Err(refusal(404, "13", "Invalid Amount"));
    }
    if ledger.books.available(&AccountKey::float(client_id)) < amount {
        return Err(refusal(403, "14", "Insufficient Funds"));
    }
    Ok(())
}

fn is_over(habits: &RefundHabits, code: &Code, now_ms: i64) -> bool {
    code.payments.first().is_some_and(|payment| now_ms - payment.paid_at_ms > habits.days * DAY_MS)
}

/// Whether a time is within hours of the Jakarta day, which may go past midnight.
fn is_closed((from, until): (i64, i64), now_ms: i64) -> bool {
    let minute = (now_ms + JAKARTA_MS).rem_euclid(DAY_MS) / MINUTE_MS;
    if from <= until { (from..until).contains(&minute) } else { minute >= from || minute < until }
}

fn answer(
    asked: &ServiceRequest<'_>,
    member: &Member,
    code: &Code,
    body: &Value,
    bank_reference: &str,
    is_pending: bool,
) -> Value {
    let (status, message) = if is_pending { (202, "Request In Progress") } else { (200, "Successful") };
    let (_, mut answer) = asked.answer(status, "00", message);
    answer["originalPartnerReferenceNo"] = code.reference.clone().into();
    answer["originalReferenceNo"] = code.bank_reference.clone().into();
    if body["originalExternalId"].is_string() {
        answer["originalExternalId"] = body["originalExternalId"].clone();
    }
    answer["refundNo"] = bank_reference.into();
    answer["partnerRefundNo"] = body["partnerRefundNo"].clone();
    answer["refundAmount"] = body["refundAmount"].clone();
    answer["refundTime"] = time::text(asked.now_ms, member.habits.milliseconds).into();
    answer["additionalInfo"] = json!({});
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_may_go_past_midnight() {
        // 2026-01-15T10:20:30+07:00
        let at = |hour: i64, minute: i64| 1_768_447_230_000 + ((hour - 10) * 60 + minute - 20) * MINUTE_MS;
        let night = (23 * 60 + 55, 6 * 60);
        for (hour, minute, expected) in [(23, 54, false), (23, 55, true), (0, 0, true), (5, 59, true), (6, 0, false)] {
            assert_eq!(is_closed(night, at(hour, minute)), expected, "{hour}:{minute}");
        }
        assert!(is_closed((600, 660), at(10, 30)) && !is_closed((600, 660), at(11, 0)));
    }
}
