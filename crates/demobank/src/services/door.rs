//! One call from its bytes to its answer: who asks is verified, the service answers, and a fault may spoil it.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri,
        header::{CONTENT_TYPE, LOCATION},
    },
    response::{IntoResponse, Response},
};
use futures_util::stream;
use serde_json::Value;

use super::{
    bank::{BankServices, Call},
    faults::Fault,
    people::PayOrder,
    request::{Reply, ServiceRequest, reference_of, service_of},
    verify::TOKEN_SECONDS,
};
use crate::{journal::held, json::with_white_space, prepared::Service, time};

const BODY_BYTES_MOST: usize = 64 * 1024;
/// The longest text of digits that comes as a bare number.
const BARE_DIGITS_MOST: usize = 15;

/// Marks an answer in place of which the connection is closed.
#[derive(Clone)]
pub(super) struct Lost;

impl BankServices {
    /// The doors, for the root of a server. A lost answer is told apart by `serve_on` alone; elsewhere it is a bare 502.
    pub fn router(self: &Arc<BankServices>) -> Router {
        Router::new().fallback(door).layer(DefaultBodyLimit::max(BODY_BYTES_MOST)).with_state(Arc::clone(self))
    }

    /// The right answer to a call.
    fn judge(&self, asked: &ServiceRequest<'_>) -> Reply {
        if asked.service == Service::Token {
            return if asked.method == "POST" { self.give_token(asked) } else { not_supported(asked) };
        }
        self.serve(asked).unwrap_or_else(|refused| refused)
    }

    fn serve(&self, asked: &ServiceRequest<'_>) -> Result<Reply, Reply> {
        if asked.method != "POST" && asked.service != Service::DeleteVa {
            return Err(not_supported(asked));
        }
        let member = self.verify(asked)?;
        if !member.habits.transfer.has_path(asked.service, asked.path) {
            return Err(asked.answer(404, "02", "Invalid Routing"));
        }
        if asked.service == Service::DeleteVa && asked.method != member.habits.delete_method {
            return Err(not_supported(asked));
        }
        match asked.service {
            Service::Generate => self.generate(asked, &member),
            Service::Query | Service::DebitStatus => self.query(asked, &member),
            Service::Cancel | Service::DebitCancel => self.cancel(asked, &member),
            Service::CreateVa => self.create_account(asked, &member),
            Service::Status => self.tell_status(asked, &member),
            Service::DeleteVa => self.delete_account(asked, &member),
            Service::Report => self.report(asked, &member),
            Service::Balance => self.tell_balance(asked, &member),
            Service::Statement => self.tell_statement(asked, &member),
            Service::InternalInquiry => self.inquire_internal(asked, &member),
            Service::ExternalInquiry => self.inquire_external(asked, &member),
            Service::BankAccountInquiry => self.inquire_bank_account(asked, &member),
            Service::Intrabank | Service::Interbank | Service::Rtgs | Service::Skn | Service::TransferBank => {
                self.send_money(asked, &member)
            }
            Service::TransferStatus | Service::TransferBankStatus | Service::EmoneyStatus => {
                self.tell_transfer(asked, &member)
            }
            Service::QrRefund | Service::DebitRefund => self.refund(asked, &member),
            _ => Err(not_supported(asked)),
        }
    }
}

fn not_supported(asked: &ServiceRequest<'_>) -> Reply {
    asked.answer(405, "00", "Requested Function Is Not Supported")
}

/// One call, with what it carries.
struct Incoming {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
    fault: Option<Fault>,
}

async fn door(
    State(bank): State<Arc<BankServices>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let fault = held(&bank.faults).take(service_of(uri.path()));
    let incoming = Incoming { method, uri, headers, body, fault };
    if incoming.fault != Some(Fault::HeldBefore) {
        return handle(bank, incoming).await;
    }
    // In a task of its own, which goes on when the caller hangs up.
    let handled = tokio::spawn(async move {
        bank.holds.wait().await;
        handle(bank, incoming).await
    });
    handled.await.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

async fn handle(bank: Arc<BankServices>, incoming: Incoming) -> Response {
    let Incoming { method, uri, headers, body, fault } = incoming;
    let path = uri.path();
    let service = service_of(path);
    let skew_ms = if let Some(Fault::SkewedClock(skew_ms)) = &fault { *skew_ms } else { 0 };
    let now_ms = bank.now_ms() + skew_ms;
    let asked = service.map(|service| {
        let fault = fault.as_ref();
        ServiceRequest { service, method: method.as_str(), path, headers: &headers, body: &body, now_ms, fault }
    });
    let reply = asked.as_ref().and_then(|asked| work(&bank, asked));
    let external_id = headers.get("X-EXTERNAL-ID").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let reference = reference_of(&body);
    bank.record(Call {
        service,
        method: method.to_string(),
        path: path.to_owned(),
        external_id: external_id.to_owned(),
        reference: reference.clone(),
        body: String::from_utf8_lossy(&body).into_owned(),
        code: reply.as_ref().and_then(|(_, answer)| answer["responseCode"].as_str()).unwrap_or_default().to_owned(),
    });
    let Some(asked) = asked else { return StatusCode::NOT_FOUND.into_response() };
    match fault {
        Some(Fault::PaidFirst) => {
            // A code that was not issued cannot be paid: then there is nothing to tell.
            let _unknown = bank.pay_code(&reference, PayOrder::default()).await;
        }
        Some(Fault::HeldAfter) => bank.holds.wait().await,
        _ => {}
    }
    let mut response = spoiled(&asked, reply).await;
    let timestamp = HeaderValue::from_str(&time::text(now_ms, false));
    response.headers_mut().extend(timestamp.ok().map(|value| (HeaderName::from_static("x-timestamp"), value)));
    response
}

/// Does what the call asks for, once or twice; none if the fault keeps the bank from it.
fn work(bank: &BankServices, asked: &ServiceRequest<'_>) -> Option<Reply> {
    match asked.fault {
        Some(fault) if !fault.is_work_done() => None,
        Some(Fault::Duplicate) => {
            bank.judge(asked);
            Some(bank.judge(asked))
        }
        Some(Fault::TokenDies) => {
            bank.forget_token(asked.token());
            Some(bank.judge(asked))
        }
        _ => Some(bank.judge(asked)),
    }
}

/// The answer, as a fault makes it.
async fn spoiled(asked: &ServiceRequest<'_>, reply: Option<Reply>) -> Response {
    let (status, mut answer) = reply.unwrap_or_else(|| asked.answer(500, "00", "General Error"));
    let as_asked = |status: u16, case: &str| {
        let (status, answer) = asked.answer(status, case, "As the test asked");
        written(status, answer.to_string())
    };
    match asked.fault {
        Some(Fault::Late(wait)) => tokio::time::sleep(*wait).await,
        Some(Fault::LostAfter | Fault::LostBefore) => {
            let mut lost = StatusCode::BAD_GATEWAY.into_response();
            lost.extensions_mut().insert(Lost);
            return lost;
        }
        Some(Fault::Status(status) | Fault::StatusAfter(status)) => return as_asked(*status, "00"),
        Some(Fault::Case(status, case) | Fault::CaseAfter(status, case)) => return as_asked(*status, case),
        Some(Fault::WrongCode(code)) => answer["responseCode"] = code.as_str().into(),
        Some(Fault::WrongStatus(status)) => return written(*status, answer.to_string()),
        Some(Fault::NumericExpiry) => answer["expiresIn"] = TOKEN_SECONDS.into(),
        Some(Fault::BrokenJson) => {
            let text = answer.to_string();
            return written(status, text.chars().take(text.chars().count() / 2).collect());
        }
        Some(Fault::WhiteSpace) => return written(status, with_white_space(&answer.to_string())),
        Some(Fault::BareNumbers) => return written(status, bare(&answer)),
        Some(Fault::Lacks(names)) => strip(&mut answer, names),
        Some(Fault::Long(bytes)) => {
            answer["padding"] = "x".repeat(bytes.saturating_sub(answer.to_string().len())).into();
        }
        Some(Fault::Slow(pause)) => return slow(status, answer.to_string(), *pause),
        Some(Fault::ContentType(other)) => {
            let mut response = written(status, answer.to_string());
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(other));
            return response;
        }
        Some(Fault::Redirect(to)) => {
            return (StatusCode::TEMPORARY_REDIRECT, [(LOCATION, to.clone())]).into_response();
        }
        _ => {}
    }
    written(status, answer.to_string())
}

/// Takes members away from an answer, and from the objects within it.
fn strip(value: &mut Value, names: &[&str]) {
    if let Value::Object(members) = value {
        members.retain(|name, _| !names.contains(&name.as_str()));
        members.values_mut().for_each(|inner| strip(inner, names));
    }
}

fn written(status: u16, text: String) -> Response {
    with_body(status, Body::from(text))
}

fn with_body(status: u16, body: Body) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

/// A byte at a time, with a pause before each.
fn slow(status: u16, text: String, pause: Duration) -> Response {
    let bytes = stream::unfold(text.into_bytes().into_iter(), move |mut bytes| async move {
        let byte = bytes.next()?;
        tokio::time::sleep(pause).await;
        Some((Ok::<_, Infallible>(Bytes::from(vec![byte])), bytes))
    });
    with_body(status, Body::from_stream(bytes))
}

/// The same JSON with texts of digits as bare numbers. A text that begins with a zero keeps its quotes, since no number may.
fn bare(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(",");
    match value {
        Value::Object(members) => {
            let parts = members.iter().map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), bare(value)));
            format!("{{{}}}", joined(parts.collect()))
        }
        Value::Array(values) => format!("[{}]", joined(values.iter().map(bare).collect())),
        Value::String(text) if is_number(text) => text.clone(),
        _ => value.to_string(),
    }
}

fn is_number(text: &str) -> bool {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let are_digits = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.len() <= BARE_DIGITS_MOST && are_digits(whole) && are_digits(decimals) && !whole.starts_with('0')
}
