//! QR codes: what is sent for one, and what the answers mean. A code that an acquirer returns is checked before anyone
//! sees it.

use domain::{money::Rupiah, qris};
use serde_json::{Map, Value};

use super::message::{amount, same_reference, with};
use crate::snap::{
    call_error::{CallError, Cause, Reason},
    codes::{CodeAsked, CodeKind, CodeOrder, IssuedCode, Standing},
    parameters::Parameters,
    reading::{id, text},
    standing::{qr_about, qr_standing},
    timestamp::format_timestamp,
    values::{Precision, QueryKey, Service},
};

const COUNTRY: &str = "ID";

pub(super) fn order(parameters: &Parameters, order: &CodeOrder<'_>) -> Value {
    let mut body = Map::new();
    with(&mut body, "partnerReferenceNo", Some(order.reference));
    body.insert("amount".to_owned(), amount(order.amount));
    with(&mut body, "merchantId", parameters.merchant_id.as_deref());
    with(&mut body, "storeId", parameters.store_id.as_deref());
    with(&mut body, "terminalId", parameters.terminal_id.as_deref());
    with(&mut body, "validityPeriod", Some(&format_timestamp(order.expires_at, Precision::Seconds)));
    parameters.qr_info.add_to(&mut body);
    Value::Object(body)
}

pub(super) fn issued(told: &Value, order: &CodeOrder<'_>) -> Result<IssuedCode, CallError> {
    same_reference(order.reference, id(told, "partnerReferenceNo"))?;
    let Some(code) = text(told, "qrContent") else {
        return Err(match text(told, "responseCode").is_none_or(|code| code.starts_with("200")) {
            true => CallError::refused("bad_qr", "the answer has no qrContent"),
            // The status says that it was done, the code does not, and nothing else does either.
            false => CallError::Unknown(Reason::new(Cause::Unreadable, "success, with a code that is none")),
        });
    };
    check(&code, order.amount).map_err(|wrong| CallError::refused("bad_qr", format!("the QR {wrong}")))?;
    Ok(IssuedCode { code, bank_reference: id(told, "referenceNo") })
}

/// Whether customers who scan this pay what was ordered.
fn check(code: &str, ordered: Rupiah) -> Result<(), String> {
    let payload = qris::parse(code).map_err(|error| error.to_string())?;
    match payload.amount() {
        _ if !payload.is_dynamic() => Err("is not for a single payment".to_owned()),
        Some(amount) if amount != ordered => Err(format!("is for {amount}, and {ordered} was ordered")),
        None => Err("has no amount".to_owned()),
        Some(_) if payload.country() != COUNTRY => Err("is of another country".to_owned()),
        Some(_) => Ok(()),
    }
}

pub(super) fn query(parameters: &Parameters, asked: &CodeAsked<'_>) -> Result<Value, CallError> {
    let mut body = names(parameters, asked)?;
    with(&mut body, "serviceCode", Some(&parameters.service_code));
    if parameters.query_service(CodeKind::Qr) == Service::DebitStatus {
        with(&mut body, "transactionDate", Some(&format_timestamp(asked.created_at, Precision::Seconds)));
        body.insert("amount".to_owned(), amount(asked.amount));
    }
    Ok(Value::Object(body))
}

pub(super) fn void(parameters: &Parameters, asked: &CodeAsked<'_>) -> Result<Value, CallError> {
    let mut body = names(parameters, asked)?;
    with(&mut body, "reason", Some("cancelled"));
    body.insert("amount".to_owned(), amount(asked.amount));
    Ok(Value::Object(body))
}

/// By what the bank finds the code.
pub(super) fn names(parameters: &Parameters, asked: &CodeAsked<'_>) -> Result<Map<String, Value>, CallError> {
    if parameters.query_key == QueryKey::Theirs && asked.bank_reference.is_none() {
        return Err(CallError::refused("no_bank_reference", "the bank finds a code by its own reference alone"));
    }
    let mut body = Map::new();
    with(&mut body, "originalPartnerReferenceNo", Some(asked.reference));
    with(&mut body, "originalReferenceNo", asked.bank_reference);
    with(&mut body, "merchantId", parameters.merchant_id.as_deref());
    with(&mut body, "externalStoreId", parameters.store_id.as_deref());
    with(&mut body, "terminalId", parameters.terminal_id.as_deref());
    Ok(body)
}

pub(super) fn standing(parameters: &Parameters, told: &Value, asked: &CodeAsked<'_>) -> Result<Standing, CallError> {
    let about = qr_about(told);
    // What the bank calls the code may have been told by a body that nobody has signed, so the answer itself must say that it
    // is about ours.
    let told_reference = match parameters.query_key {
        QueryKey::Theirs => Some(about.reference.unwrap_or_default()),
        QueryKey::Ours | QueryKey::Number => about.reference,
    };
    same_reference(asked.reference, told_reference)?;
    // A code that could not be shown is as good as none.
    let good = text(told, "qrContent").filter(|code| check(code, asked.amount).is_ok());
    let code = good.map(|code| IssuedCode { code, bank_reference: about.bank_reference.clone() });
    let unreadable = || CallError::Unknown(Reason::new(Cause::Unreadable, "the answer has no latestTransactionStatus"));
    qr_standing(parameters, told, code).ok_or_else(unreadable)
}
