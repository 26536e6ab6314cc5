//! The bank that is asked: its own token door (73) and status (26), which a merchant's side calls. It verifies what it is
//! sent by its own code, and can be told to fail in the ways in which banks fail.
//!
//! Paths are told apart by their ends, since each bank has prefixes of its own; the whole path is what must be signed.

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, Method, StatusCode, Uri, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Semaphore, task::JoinHandle};
use tower::ServiceExt;

use crate::{
    bank::Clock,
    compose::Signed,
    crypto::{hmac_verifies, random_alphanumeric, rsa_verifies},
    journal::held,
    json::minified,
    prepared::Service,
    time,
};

/// How long a token lives.
const TOKEN_SECONDS: i64 = 899;
/// How far a timestamp may be from the bank's clock.
const SKEW_MOST_MS: i64 = 5 * 60 * 1000;
const BODY_BYTES_MOST: usize = 64 * 1024;
const CONNECTIONS_MOST: usize = 256;
/// How many tokens and calls are remembered, and how many faults wait for a call.
const TOKENS_MOST: usize = 1_000;
const CALLS_MOST: usize = 10_000;
const FAULTS_MOST: usize = 1_000;

/// What the bank holds about a merchant that calls it. It has no `Debug`, since it holds a secret.
#[derive(Clone)]
pub struct Merchant {
    pub client_id: String,
    pub client_secret: String,
    /// The merchant's RSA key, in PEM.
    pub public_key_pem: String,
}

/// How the bank fails at one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The right answer, after a while.
    Late(Duration),
    /// The work is done and the connection closed without an answer.
    LostAfter,
    /// The connection is closed and nothing is done.
    LostBefore,
    /// An HTTP status with the response code that belongs to it, and nothing done: 500, 503, 202, 429, …
    Status(u16),
    /// The right answer with another response code.
    WrongCode(String),
    /// The right answer with another HTTP status.
    WrongStatus(u16),
    /// `expiresIn` of a token as a number.
    NumericExpiry,
}

/// A call that the bank received.
#[derive(Clone, Debug)]
pub struct Call {
    /// None for a path that the bank does not have.
    pub service: Option<Service>,
    pub path: String,
    pub external_id: String,
    pub body: String,
    /// What the bank meant to answer; empty if it did nothing.
    pub code: String,
}

/// A bank with doors of its own.
pub struct AskedBank {
    clock: Clock,
    merchants: Mutex<HashMap<String, Merchant>>,
    /// By token: whose it is, and when its life ends.
    tokens: Mutex<HashMap<String, (String, i64)>>,
    faults: Mutex<VecDeque<Fault>>,
    calls: Mutex<VecDeque<Call>>,
}

/// Marks an answer in place of which the connection is closed.
#[derive(Clone)]
struct Lost;

/// One request, read.
struct Asked<'a> {
    service: Service,
    method: &'a str,
    path: &'a str,
    headers: &'a HeaderMap,
    body: &'a [u8],
}

impl Asked<'_> {
    /// A header's text; empty if there is none.
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The code and text of an answer: status and case around the digits of the service.
    fn answer(&self, status: u16, case: &str, message: &str) -> (u16, Value) {
        let code = format!("{status}{}{case}", self.service.digits());
        (status, json!({ "responseCode": code, "responseMessage": message }))
    }

    fn missing(&self, names: &[&str]) -> Option<(u16, Value)> {
        let name = names.iter().find(|name| self.header(name).is_empty())?;
        Some(self.answer(400, "02", &format!("Invalid Mandatory Field {{{name}}}")))
    }
}

impl AskedBank {
    pub fn new(clock: Clock) -> Arc<AskedBank> {
        Arc::new(AskedBank {
            clock,
            merchants: Mutex::default(),
            tokens: Mutex::default(),
            faults: Mutex::default(),
            calls: Mutex::default(),
        })
    }

    /// Lets a merchant in, in place of one with its client id.
    pub fn register(&self, merchant: Merchant) {
        held(&self.merchants).insert(merchant.client_id.clone(), merchant);
    }

    /// Makes a coming call fail. Faults are used up in the order in which they were given, one for each call.
    pub fn fail_next(&self, fault: Fault) {
        let mut faults = held(&self.faults);
        assert!(faults.len() < FAULTS_MOST, "at most {FAULTS_MOST} faults wait");
        faults.push_back(fault);
    }

    /// The calls that the bank received, the oldest first.
    pub fn calls(&self) -> Vec<Call> {
        held(&self.calls).iter().cloned().collect()
    }

    /// The doors, for the root of a server. A lost answer is told apart by `serve_on` alone; elsewhere it is a bare 502.
    pub fn router(self: &Arc<AskedBank>) -> Router {
        Router::new().fallback(door).layer(DefaultBodyLimit::max(BODY_BYTES_MOST)).with_state(Arc::clone(self))
    }

    /// Serves the doors until the task is aborted or the listener fails.
    pub fn serve_on(self: &Arc<AskedBank>, listener: TcpListener) -> JoinHandle<io::Result<()>> {
        tokio::spawn(serve(listener, self.router()))
    }

    fn now_ms(&self) -> i64 {
        (self.clock)()
    }

    /// The right answer to a call.
    fn judge(&self, asked: &Asked<'_>) -> (u16, Value) {
        if asked.method != "POST" {
            return asked.answer(405, "00", "Requested Function Is Not Supported");
        }
        match asked.service {
            Service::Token => self.judge_token(asked),
            Service::Inquiry | Service::Payment | Service::Status => self.judge_status(asked),
        }
    }

    fn judge_token(&self, asked: &Asked<'_>) -> (u16, Value) {
        if let Some(missing) = asked.missing(&["X-CLIENT-KEY", "X-TIMESTAMP", "X-SIGNATURE"]) {
            return missing;
        }
        let (client_id, timestamp) = (asked.header("X-CLIENT-KEY"), asked.header("X-TIMESTAMP"));
        if !self.is_timely(timestamp) {
            return asked.answer(400, "01", "Invalid Field Format {X-TIMESTAMP}");
        }
        let Some(merchant) = held(&self.merchants).get(client_id).cloned() else {
            return asked.answer(401, "00", "Unauthorized. [Unknown client]");
        };
        let signed = format!("{client_id}|{timestamp}");
        if !rsa_verifies(&merchant.public_key_pem, &signed, asked.header("X-SIGNATURE")) {
            return asked.answer(401, "00", "Unauthorized. [Signature]");
        }
        let body: Value = serde_json::from_slice(asked.body).unwrap_or_default();
        if body["grantType"] != "client_credentials" {
            return asked.answer(400, "02", "Invalid Mandatory Field {grantType}");
        }
        let token = random_alphanumeric(40);
        let mut tokens = held(&self.tokens);
        if tokens.len() >= TOKENS_MOST {
            tokens.clear();
        }
        tokens.insert(token.clone(), (merchant.client_id, self.now_ms() + TOKEN_SECONDS * 1000));
        let (status, mut answer) = asked.answer(200, "00", "Successful");
        answer["accessToken"] = token.into();
        answer["tokenType"] = "Bearer".into();
        answer["expiresIn"] = TOKEN_SECONDS.to_string().into();
        (status, answer)
    }

    /// The bank knows of no transaction, so the answer to a question that is well put is "not found".
    fn judge_status(&self, asked: &Asked<'_>) -> (u16, Value) {
        let names = ["Authorization", "X-TIMESTAMP", "X-SIGNATURE", "X-PARTNER-ID", "X-EXTERNAL-ID", "CHANNEL-ID"];
        if let Some(missing) = asked.missing(&names) {
            return missing;
        }
        if !self.is_timely(asked.header("X-TIMESTAMP")) {
            return asked.answer(400, "01", "Invalid Field Format {X-TIMESTAMP}");
        }
        let token = asked.header("Authorization").strip_prefix("Bearer ").unwrap_or_default();
        let owner = held(&self.tokens).get(token).filter(|(_, ends_at_ms)| self.now_ms() < *ends_at_ms).cloned();
        let Some(merchant) = owner.and_then(|(client_id, _)| held(&self.merchants).get(&client_id).cloned()) else {
            return asked.answer(401, "01", "Invalid token (B2B)");
        };
        let body = minified(&String::from_utf8_lossy(asked.body));
        let (method, timestamp) = (asked.method, asked.header("X-TIMESTAMP"));
        let signed = Signed { method, path: asked.path, body: body.as_bytes(), timestamp };
        if !hmac_verifies(&merchant.client_secret, &signed.with_token(token), asked.header("X-SIGNATURE")) {
            return asked.answer(401, "00", "Unauthorized. [Signature]");
        }
        let body: Value = serde_json::from_slice(asked.body).unwrap_or_default();
        for name in ["partnerServiceId", "customerNo", "virtualAccountNo"] {
            if !body[name].is_string() {
                return asked.answer(400, "02", &format!("Invalid Mandatory Field {{{name}}}"));
            }
        }
        asked.answer(404, "01", "Transaction Not Found")
    }

    fn is_timely(&self, timestamp: &str) -> bool {
        time::parse(timestamp).is_some_and(|at_ms| at_ms.abs_diff(self.now_ms()) <= SKEW_MOST_MS.unsigned_abs())
    }

    fn record(&self, call: Call) {
        let mut calls = held(&self.calls);
        if calls.len() >= CALLS_MOST {
            calls.pop_front();
        }
        calls.push_back(call);
    }
}

async fn door(
    State(bank): State<Arc<AskedBank>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path().to_owned();
    let service = [Service::Token, Service::Status].into_iter().find(|service| path.ends_with(end_of(*service)));
    let asked =
        service.map(|service| Asked { service, method: method.as_str(), path: &path, headers: &headers, body: &body });
    let fault = held(&bank.faults).pop_front();
    let is_done = !matches!(fault, Some(Fault::LostBefore | Fault::Status(_)));
    let judged = asked.as_ref().filter(|_| is_done).map(|asked| bank.judge(asked));
    let external_id = headers.get("X-EXTERNAL-ID").and_then(|value| value.to_str().ok()).unwrap_or_default();
    bank.record(Call {
        service,
        path: path.clone(),
        external_id: external_id.to_owned(),
        body: String::from_utf8_lossy(&body).into_owned(),
        code: judged.as_ref().and_then(|(_, answer)| answer["responseCode"].as_str()).unwrap_or_default().to_owned(),
    });
    let Some(asked) = asked else { return StatusCode::NOT_FOUND.into_response() };
    let answer = judged.unwrap_or_else(|| asked.answer(500, "00", "General Error"));
    faulty(&asked, answer, fault).await
}

/// The last two parts of a service's path, which all banks' paths end in.
fn end_of(service: Service) -> &'static str {
    service.path().strip_prefix("/v1.0").unwrap_or(service.path())
}

/// The answer, as a fault makes it.
async fn faulty(asked: &Asked<'_>, (status, mut answer): (u16, Value), fault: Option<Fault>) -> Response {
    match fault {
        None => {}
        Some(Fault::Late(wait)) => tokio::time::sleep(wait).await,
        Some(Fault::LostAfter | Fault::LostBefore) => {
            let mut lost = StatusCode::BAD_GATEWAY.into_response();
            lost.extensions_mut().insert(Lost);
            return lost;
        }
        Some(Fault::Status(status)) => {
            let (status, answer) = asked.answer(status, "00", "As the test asked");
            return written(status, &answer);
        }
        Some(Fault::WrongCode(code)) => answer["responseCode"] = code.into(),
        Some(Fault::WrongStatus(status)) => return written(status, &answer),
        Some(Fault::NumericExpiry) => answer["expiresIn"] = TOKEN_SECONDS.into(),
    }
    written(status, &answer)
}

fn written(status: u16, answer: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

async fn serve(listener: TcpListener, router: Router) -> io::Result<()> {
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MOST));
    loop {
        let permit = Arc::clone(&connections).acquire_owned().await.map_err(io::Error::other)?;
        let (stream, _) = listener.accept().await?;
        let router = router.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| answer_or_close(router.clone(), request));
            // A connection that ends in an error is what a lost answer looks like.
            let _ended = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            drop(permit);
        });
    }
}

/// Answers, or fails, upon which the server closes the connection.
async fn answer_or_close(router: Router, request: hyper::Request<Incoming>) -> Result<Response, io::Error> {
    let request = request.map(axum::body::Body::new);
    let response = router.oneshot(request).await.unwrap_or_else(|never| match never {});
    if response.extensions().get::<Lost>().is_some() {
        return Err(io::Error::other("the answer is lost"));
    }
    Ok(response)
}
