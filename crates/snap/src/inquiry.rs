//! Service 24: a bank asks what is to be paid under a number, before it takes the customer's money.

use std::sync::Arc;

use axum::response::Response;
use domain::{bank_request::Verdict, money::Rupiah, qris};
use engine::{Bill, Inquiry, InquiryAnswer};
use gateway::snap::Parameters;
use serde_json::{Map, Value, json};

use crate::{
    answer::{Body, Refusal},
    door::Call,
    members::Members,
    service::Service,
    verdict,
};

/// The name of a merchant whose own has no letter that can be shown.
const MERCHANT: &str = "MERCHANT";
const REQUIRED: [&str; 4] = ["partnerServiceId", "customerNo", "virtualAccountNo", "inquiryRequestId"];

pub(crate) async fn answer(call: Call) -> Result<Response, Refusal> {
    let (app, open, now) = (call.app.clone(), Arc::clone(&call.open), call.now);
    let message = call.message()?;
    let members = Members::read(&message.body, &open.parameters)?;
    members.require(&REQUIRED)?;
    let (number, request_id) = (members.number()?, members.request_id("inquiryRequestId")?);
    let mut data = number.echoed;
    data.extend(members.echo(&["inquiryRequestId"]));
    let inquiry = Inquiry { external_id: message.external_id, request_id, number: number.whole };
    match app.engine.answer_inquiry(&open, inquiry).await.map_err(|error| Refusal::of_error(&error))? {
        InquiryAnswer::ExternalIdReused => Err(Refusal::ExternalIdReused),
        InquiryAnswer::Answered { verdict, bill } => {
            data.extend(bill_members(&open.parameters, bill.as_ref()));
            let (case, message) = match verdict {
                Verdict::Expired => (open.parameters.inquiry_expired, verdict::message(verdict)),
                other => (verdict::case(other), verdict::message(other)),
            };
            let mut body = Body::new(case, message);
            body.account_data(Service::Inquiry, verdict::flag(verdict), &verdict::reason(verdict), data);
            Ok(body.answer(Service::Inquiry, now))
        }
    }
}

/// What the bank shows the customer.
fn bill_members(parameters: &Parameters, bill: Option<&Bill>) -> Map<String, Value> {
    let amount = |amount: Rupiah| json!({ "value": format!("{}.00", amount.get()), "currency": "IDR" });
    // A name as all banks' screens can show it.
    let name = bill.map(|bill| qris::plain(&bill.merchant, parameters.name_max, MERCHANT)).unwrap_or_default();
    let total = bill.map_or(Rupiah::ZERO, |bill| bill.amount);
    let members = json!({
        "virtualAccountName": name,
        "virtualAccountEmail": "",
        "virtualAccountPhone": "",
        "totalAmount": amount(total),
        "subCompany": "00000",
        "billDetails": [],
        "freeTexts": [],
        "virtualAccountTrxType": "C",
        "feeAmount": amount(Rupiah::ZERO),
    });
    match members {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
