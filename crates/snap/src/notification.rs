//! Services 34, 52, 56, and 25 where the bank hosts the number: the bank tells us of money that it has taken. Refusing it would
//! return nothing, so it is recorded and the answer is success. Services 75 and 76: it tells what became of a transfer of ours.
//! What the bank has not signed only makes us ask it.

use std::sync::Arc;

use axum::response::Response;
use gateway::snap::{About, NotificationKind, ResponseCase, TransferNotice, read_notification};
use serde_json::{Map, Value};

use crate::{
    answer::{Body, Reason, Refusal},
    door::Call,
    service::Service,
};

const SUCCESS: ResponseCase = ResponseCase::new(200, 0);
const SUCCESSFUL: &str = "Successful";
/// What a notification must name.
const REFERENCE: &str = "originalPartnerReferenceNo";
const NUMBER: &str = "virtualAccountNo";
/// What is sent back as it came.
const ECHOED: [&str; 10] = [
    "partnerServiceId",
    "customerNo",
    "virtualAccountNo",
    "virtualAccountName",
    "trxId",
    "paymentRequestId",
    "paidAmount",
    "totalAmount",
    "trxDateTime",
    "referenceNo",
];

pub(crate) async fn answer(call: Call, notice: NotificationKind) -> Result<Response, Refusal> {
    let now = call.now;
    recorded(call, notice).await?;
    let service = match notice {
        NotificationKind::VaNotify => Service::VaNotify,
        NotificationKind::QrNotify => Service::QrNotify,
        NotificationKind::DebitNotify => Service::DebitNotify,
        NotificationKind::VaPayment => Service::Payment,
    };
    Ok(Body::new(SUCCESS, SUCCESSFUL).answer(service, now))
}

/// Service 25 of a bank that hosts the number.
pub(crate) async fn taken(call: Call) -> Result<Response, Refusal> {
    let now = call.now;
    let told = recorded(call, NotificationKind::VaPayment).await?;
    let echoed: Map<String, Value> =
        ECHOED.iter().filter_map(|name| Some(((*name).to_owned(), told.get(*name)?.clone()))).collect();
    let mut body = Body::new(SUCCESS, SUCCESSFUL);
    body.account_data(Service::Payment, "00", &Reason { english: "Success", indonesia: "Sukses" }, echoed);
    Ok(body.answer(Service::Payment, now))
}

/// Services 75 and 76.
pub(crate) async fn of_transfer(call: Call, service: Service) -> Result<Response, Refusal> {
    let (app, open, now) = (call.app.clone(), Arc::clone(&call.open), call.now);
    let notification = call.notification()?;
    let told: Value = serde_json::from_slice(&notification.body).map_err(|_| Refusal::BadRequest("Invalid JSON"))?;
    let notice = TransferNotice::read(told).map_err(|missing| Refusal::Missing(missing.to_owned()))?;
    let recorded = app.engine.record_transfer_notice(&open, notice, notification.is_signed).await;
    recorded.map_err(|error| Refusal::of_error(&error))?;
    Ok(Body::new(SUCCESS, SUCCESSFUL).answer(service, now))
}

/// Records what the bank tells us, and answers its body.
async fn recorded(call: Call, notice: NotificationKind) -> Result<Value, Refusal> {
    let (app, open) = (call.app.clone(), Arc::clone(&call.open));
    let notification = call.notification()?;
    let told: Value = serde_json::from_slice(&notification.body).map_err(|_| Refusal::BadRequest("Invalid JSON"))?;
    let missing = || {
        let name = if matches!(notice, NotificationKind::QrNotify | NotificationKind::DebitNotify) {
            REFERENCE
        } else {
            NUMBER
        };
        Refusal::Missing(name.to_owned())
    };
    let heard = read_notification(&open.parameters, notice, &told).ok_or_else(missing)?;
    // What nobody has signed only makes us ask, and here is nothing to ask about.
    if heard.about == About::default() && !notification.is_signed {
        return Err(missing());
    }
    let body = String::from_utf8_lossy(&notification.body);
    let recorded = app.engine.record_notification(&open, heard, &body, notification.is_signed).await;
    recorded.map_err(|error| Refusal::of_error(&error))?;
    Ok(told)
}
