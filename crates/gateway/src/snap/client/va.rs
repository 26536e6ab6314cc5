//! Virtual accounts that the bank hosts: what is sent for one, and what the answers mean.

use serde_json::{Map, Value};

use super::message::{amount, plain_text, same_reference, with};
use crate::snap::{
    call_error::{CallError, Cause, Reason},
    codes::{CodeAsked, CodeOrder, IssuedCode, Standing},
    parameters::Parameters,
    reading::text,
    standing::{va_about, va_standing},
    timestamp::format_timestamp,
    values::Precision,
};

/// The amount is fixed: a customer pays exactly the bill.
const CLOSED: &str = "C";
const NO_NAME: &str = "PELANGGAN";

pub(super) fn order(parameters: &Parameters, order: &CodeOrder<'_>) -> Result<Value, CallError> {
    let mut body = numbers(parameters, order.number)?;
    with(&mut body, "virtualAccountName", Some(&plain_text(order.name, parameters.name_max, NO_NAME)));
    with(&mut body, "trxId", Some(order.reference));
    body.insert("totalAmount".to_owned(), amount(order.amount));
    with(&mut body, "virtualAccountTrxType", Some(CLOSED));
    with(&mut body, "expiredDate", Some(&format_timestamp(order.expires_at, Precision::Seconds)));
    parameters.va_info.add_to(&mut body);
    Ok(Value::Object(body))
}

pub(super) fn issued(parameters: &Parameters, told: &Value, order: &CodeOrder<'_>) -> Result<IssuedCode, CallError> {
    let about = va_about(parameters, told);
    same_reference(order.reference, about.reference)?;
    let bad = |wrong: &str| Err(CallError::refused("bad_number", format!("the number {wrong}")));
    let Some(number) = about.number else {
        // The number that we chose is known without the answer.
        return match (order.number, text(told, "responseCode").is_none_or(|code| code.starts_with("200"))) {
            (Some(number), true) => Ok(IssuedCode { code: number.to_owned(), bank_reference: None }),
            (None, true) => bad("is not in the answer"),
            (_, false) => Err(CallError::Unknown(Reason::new(Cause::Unreadable, "success, with a code that is none"))),
        };
    };
    if let Err(wrong) = check(parameters, &number) {
        return bad(wrong);
    }
    if order.number.is_some_and(|ours| ours != number) {
        return bad("is not the one that was ordered");
    }
    Ok(IssuedCode { code: number, bank_reference: None })
}

fn check(parameters: &Parameters, number: &str) -> Result<(), &'static str> {
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        Err("has more than digits")
    } else if !parameters.number_digits.contains(&number.len()) {
        Err("has a length that the bank does not allow")
    } else {
        Ok(())
    }
}

pub(super) fn query(parameters: &Parameters, asked: &CodeAsked<'_>) -> Result<Value, CallError> {
    let mut body = numbers(parameters, asked.number)?;
    with(&mut body, "inquiryRequestId", Some(asked.reference));
    with(&mut body, "trxId", Some(asked.reference));
    parameters.va_info.add_to(&mut body);
    Ok(Value::Object(body))
}

pub(super) fn void(parameters: &Parameters, asked: &CodeAsked<'_>) -> Result<Value, CallError> {
    let mut body = numbers(parameters, asked.number)?;
    with(&mut body, "trxId", Some(asked.reference));
    parameters.va_info.add_to(&mut body);
    Ok(Value::Object(body))
}

pub(super) fn standing(parameters: &Parameters, told: &Value, asked: &CodeAsked<'_>) -> Result<Standing, CallError> {
    let about = va_about(parameters, told);
    same_reference(asked.reference, about.reference)?;
    if asked.number.is_some() && about.number.is_some() && asked.number != about.number.as_deref() {
        return Err(CallError::Unknown(Reason::new(Cause::Unreadable, "the answer is about another number")));
    }
    let good = about.number.filter(|number| check(parameters, number).is_ok());
    let code = good.map(|code| IssuedCode { code, bank_reference: None });
    let unreadable =
        || CallError::Unknown(Reason::new(Cause::Unreadable, "the answer does not say whether it is paid"));
    va_standing(told, code, asked.amount).ok_or_else(unreadable)
}

/// The three numbers. Where the bank chooses, only its part is known.
fn numbers(parameters: &Parameters, number: Option<&str>) -> Result<Map<String, Value>, CallError> {
    let mut body = Map::new();
    let service_id = parameters.padded_service_id();
    with(&mut body, "partnerServiceId", Some(&service_id));
    if let Some(number) = number {
        let not_ours = || CallError::refused("no_number", "the number does not begin with `partner_service_id`");
        let customer = number.strip_prefix(service_id.trim_start()).filter(|rest| !rest.is_empty());
        let customer = customer.ok_or_else(not_ours)?;
        with(&mut body, "customerNo", Some(customer));
        with(&mut body, "virtualAccountNo", Some(&format!("{service_id}{customer}")));
    }
    Ok(body)
}
