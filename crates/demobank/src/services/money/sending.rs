//! Orders to send money: 17 within the bank, 18, 22 and 23 to another one, 43 from a non-bank to a bank.
//!
//! The same reference is carried out once. What a second call with it gets depends on the bank and on whether it says the same.

use serde_json::{Value, json};

use super::{
    books::AccountKey,
    inquiries::{
        account_number, check_fund_type, check_state, fill, named_bank, new_reference, other_bank, own_account,
        refused, taking_account,
    },
    ledger::{Ledger, Order, Refusal, refusal},
    transfers::{Kind, Transfer, TransferState},
};
use crate::{
    journal::held,
    prepared::Service,
    services::{
        bank::{BankServices, Member},
        repeats::Repeats,
        request::{Reply, ServiceRequest},
    },
    time,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// What may be sent by each way, in rupiah: least and most.
const SWITCHING: (i64, i64) = (10_000, 50_000_000);
const BI_FAST: (i64, i64) = (1, 250_000_000);
const RTGS: (i64, i64) = (100_000_001, i64::MAX);
const SKN: (i64, i64) = (1, 1_000_000_000);
const ANY: (i64, i64) = (1, i64::MAX);

/// What a body asks for, read.
struct Sending<'b> {
    reference: &'b str,
    amount: i64,
    source: AccountKey,
    /// Whether the source is an account of the merchant's, and not what a non-bank has of it.
    is_own_account: bool,
    beneficiary: AccountKey,
    remark: &'b str,
    amounts: (i64, i64),
}

impl BankServices {
    /// 17, 18, 22, 23 and 43
    pub(in crate::services) fn send_money(&self, asked: &ServiceRequest<'_>, member: &Member) -> Result<Reply, Reply> {
        let body = asked.members()?;
        let sending = match asked.service {
            Service::TransferBank => from_float(asked, &body, member)?,
            _ => from_account(asked, &body, member)?,
        };
        let mut ledger = held(&self.ledger);
        ledger.advance(asked.now_ms);
        if let Some(known) = earlier(&ledger, member, sending.reference, asked.now_ms) {
            return repeated(asked, member, known, &sending);
        }
        let order = Order {
            client_id: &member.merchant.client_id,
            service: asked.service,
            reference: sending.reference,
            bank_reference: new_reference(asked.now_ms),
            external_id: asked.header("X-EXTERNAL-ID"),
            source: sending.source.clone(),
            beneficiary: sending.beneficiary.clone(),
            amount: sending.amount,
            remark: sending.remark,
            original: None,
            now_ms: asked.now_ms,
        };
        if let Err(why) = judge(&ledger, member, &sending, asked.now_ms) {
            let reply = refused(asked, &why);
            ledger.refuse(order, reply.1["responseCode"].as_str().unwrap_or_default());
            return Err(reply);
        }
        let is_cleared = matches!(asked.service, Service::Rtgs | Service::Skn);
        let clearing_ms = if is_cleared { ledger.rules(&member.merchant.client_id).clearing_ms } else { 0 };
        let bank_reference = order.bank_reference.clone();
        let answer = |is_pending| answer(asked, member, &body, &bank_reference, is_pending, is_cleared);
        let transfer = ledger.carry_out(order, clearing_ms, answer);
        Ok((status_of(&transfer.code), transfer.answer))
    }
}

/// The HTTP status that a code begins with.
fn status_of(code: &str) -> u16 {
    code.get(..3).and_then(|status| status.parse().ok()).unwrap_or(200)
}

/// The earlier transfer with a reference, if it was not refused and the bank still counts the reference as used.
fn earlier<'a>(ledger: &'a Ledger, member: &Member, reference: &str, now_ms: i64) -> Option<&'a Transfer> {
    let known = ledger.transfers.of_reference(&member.merchant.client_id, Kind::Transfer, reference)?;
    let is_used = now_ms - known.at_ms < member.habits.transfer.reference_days * DAY_MS;
    Some(known).filter(|known| is_used && known.state != TransferState::Refused)
}

/// The answer to a second order with a reference.
fn repeated(
    asked: &ServiceRequest<'_>,
    member: &Member,
    known: &Transfer,
    sending: &Sending<'_>,
) -> Result<Reply, Reply> {
    let is_same = known.service == asked.service
        && known.amount == sending.amount
        && known.source == sending.source
        && known.beneficiary == sending.beneficiary;
    match member.habits.transfer.repeats {
        _ if !is_same => Err(asked.answer(404, "18", "Inconsistent Request")),
        Repeats::SameAnswer => Ok((status_of(&known.code), known.answer.clone())),
        Repeats::Refused => Err(asked.answer(409, "01", "Duplicate partnerReferenceNo")),
    }
}

/// Whether the books and the rules let the money go.
fn judge(ledger: &Ledger, member: &Member, sending: &Sending<'_>, now_ms: i64) -> Result<(), Refusal> {
    ledger.check_rules(&member.merchant.client_id, sending.amount, now_ms)?;
    let (least, most) = sending.amounts;
    if !(least..=most).contains(&sending.amount) {
        return Err(refusal(403, "02", "Exceeds Transaction Amount Limit"));
    }
    if sending.is_own_account {
        let source = own_account(ledger, member, &sending.source.number);
        let source = source.ok_or(refusal(403, "01", "Feature Not Allowed [sourceAccountNo]"))?;
        check_state(source.state)?;
    }
    taking_account(ledger, &sending.beneficiary)?;
    if ledger.books.available(&sending.source) < sending.amount {
        return Err(refusal(403, "14", "Insufficient Funds"));
    }
    Ok(())
}

/// 17, 18, 22 and 23
fn from_account<'b>(asked: &ServiceRequest<'_>, body: &'b Value, member: &Member) -> Result<Sending<'b>, Reply> {
    let habits = &member.habits.transfer;
    let most = if asked.service == Service::Rtgs { habits.short_reference_most } else { habits.reference_most };
    let reference = reference(asked, body, most)?;
    let amount = asked.amount(body, "amount")?;
    let number = account_number(asked, body, "beneficiaryAccountNo")?;
    let source = account_number(asked, body, "sourceAccountNo")?;
    let date = asked.text(body, "transactionDate")?;
    time::parse(date).ok_or_else(|| asked.malformed("transactionDate"))?;
    check_fee_type(asked, body)?;
    let remark = remark(asked, body, member)?;
    let mut amounts = ANY;
    let bank = if asked.service == Service::Intrabank {
        habits.home
    } else {
        asked.text(body, "beneficiaryAccountName")?;
        let code = asked.text(body, "beneficiaryBankCode")?;
        amounts = amounts_of(asked, body, member)?;
        other_bank(asked, habits.bank_codes, "beneficiaryBankCode", code, habits.home)?.code
    };
    Ok(Sending {
        reference,
        amount,
        source: AccountKey::new(habits.home, source),
        is_own_account: true,
        beneficiary: AccountKey::new(bank, number),
        remark,
        amounts,
    })
}

/// 43
fn from_float<'b>(asked: &ServiceRequest<'_>, body: &'b Value, member: &Member) -> Result<Sending<'b>, Reply> {
    let habits = &member.habits.transfer;
    let reference = reference(asked, body, habits.reference_most)?;
    // DANA does not ask for it.
    if habits.fund_type.is_none() {
        asked.text(body, "customerNumber")?;
    }
    let amount = asked.amount(body, "amount")?;
    let number = account_number(asked, body, "beneficiaryAccountNumber")?;
    let bank_code = asked.text(body, "beneficiaryBankCode")?;
    check_fund_type(asked, body, member)?;
    let bank = named_bank(asked, habits.bank_codes, "beneficiaryBankCode", bank_code)?;
    Ok(Sending {
        reference,
        amount,
        source: AccountKey::float(&member.merchant.client_id),
        is_own_account: false,
        beneficiary: AccountKey::new(bank.code, number),
        remark: body["remark"].as_str().unwrap_or_default(),
        amounts: BI_FAST,
    })
}

fn reference<'b>(asked: &ServiceRequest<'_>, body: &'b Value, most: usize) -> Result<&'b str, Reply> {
    let reference = asked.text(body, "partnerReferenceNo")?;
    if reference.len() > most { Err(asked.malformed("partnerReferenceNo")) } else { Ok(reference) }
}

/// `feeType`, which may be left out.
fn check_fee_type(asked: &ServiceRequest<'_>, body: &Value) -> Result<(), Reply> {
    let Some(kind) = body["feeType"].as_str().filter(|kind| !kind.is_empty()) else { return Ok(()) };
    let is_shared = |rest: &str| rest.is_empty() || rest.strip_prefix('|').is_some_and(is_digits);
    let is_kind = ["OUR", "BEN"].contains(&kind) || kind.strip_prefix("SHA").is_some_and(is_shared) || is_digits(kind);
    if is_kind { Ok(()) } else { Err(asked.malformed("feeType")) }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `remark`, which may be left out.
fn remark<'b>(asked: &ServiceRequest<'_>, body: &'b Value, member: &Member) -> Result<&'b str, Reply> {
    let habits = &member.habits.transfer;
    let remark = body["remark"].as_str().unwrap_or_default();
    let is_plain = || remark.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b' ');
    if remark.chars().count() > habits.remark_most || (habits.plain_remark && !is_plain()) {
        return Err(asked.malformed("remark"));
    }
    Ok(remark)
}

/// What may be sent by 18, 22 or 23, with the members that they alone have.
fn amounts_of(asked: &ServiceRequest<'_>, body: &Value, member: &Member) -> Result<(i64, i64), Reply> {
    let habits = &member.habits.transfer;
    if asked.service != Service::Interbank {
        for (name, allowed) in [("beneficiaryCustomerResidence", "12"), ("beneficiaryCustomerType", "123")] {
            let value = asked.text(body, name)?;
            if value.len() != 1 || !allowed.contains(value) {
                return Err(asked.malformed(name));
            }
        }
        if !body[habits.phone_member].is_null() && !body[habits.phone_member].is_string() {
            return Err(asked.malformed(habits.phone_member));
        }
        return Ok(if asked.service == Service::Rtgs { RTGS } else { SKN });
    }
    if !habits.wants_transfer_type {
        return Ok(BI_FAST);
    }
    let is_purpose = |purpose: &str| ["01", "02", "03", "99"].contains(&purpose);
    match asked.text(body, "additionalInfo.transferType")? {
        "1" => Ok(SWITCHING),
        "2" if is_purpose(asked.text(body, "additionalInfo.purposeCode")?) => Ok(BI_FAST),
        "2" => Err(asked.malformed("additionalInfo.purposeCode")),
        _ => Err(asked.malformed("additionalInfo.transferType")),
    }
}

/// What an order that is carried out is answered with.
fn answer(
    asked: &ServiceRequest<'_>,
    member: &Member,
    body: &Value,
    bank_reference: &str,
    is_pending: bool,
    is_cleared: bool,
) -> Value {
    let (status, message) = if is_pending && !is_cleared { (202, "Request In Progress") } else { (200, "Successful") };
    let (_, mut answer) = asked.answer(status, "00", message);
    let echoed: &[&str] = match asked.service {
        Service::TransferBank => &["partnerReferenceNo"],
        Service::Intrabank => {
            &["partnerReferenceNo", "amount", "beneficiaryAccountNo", "sourceAccountNo", "transactionDate"]
        }
        _ => &["partnerReferenceNo", "amount", "beneficiaryAccountNo", "beneficiaryBankCode", "sourceAccountNo"],
    };
    answer["referenceNo"] = bank_reference.into();
    for name in echoed {
        answer[*name] = body[*name].clone();
    }
    let milliseconds = member.habits.milliseconds;
    match asked.service {
        Service::TransferBank => {
            answer["referenceNumber"] = bank_reference.into();
            answer["transactionDate"] = time::text(asked.now_ms, milliseconds).into();
        }
        Service::Interbank => answer["traceNo"] = bank_reference[bank_reference.len() - 6..].into(),
        Service::Rtgs | Service::Skn => {
            answer["traceNo"] = bank_reference[bank_reference.len() - 6..].into();
            answer["transactionDate"] = body["transactionDate"].clone();
            answer["transactionStatus"] = if is_pending { "03" } else { "00" }.into();
            answer["transactionStatusDesc"] = if is_pending { "Pending" } else { "Success" }.into();
        }
        _ => {}
    }
    answer["additionalInfo"] = json!({});
    fill(member, &mut answer, &["customerReference", "currency", "traceNo", "beneficiaryBankCode"]);
    answer
}
