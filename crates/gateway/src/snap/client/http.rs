//! Sends one request to a bank and reads one answer, within limits of time and length.

use std::time::Duration;

use reqwest::{Certificate, Client, Method, Response, header::CONTENT_TYPE, redirect::Policy};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use url::Url;

use crate::{
    snap::{
        call_error::{CallError, Cause, Reason},
        reading::line,
        settings::check_base_url,
        values::HttpMethod,
    },
    webhook::{SendLimits, USER_AGENT, root_cause},
};

/// How long a bank may take for any call; most services have less.
const LIMITS: SendLimits = SendLimits { connect: Duration::from_secs(5), total: Duration::from_secs(25) };
/// Calls shortly after one another share a connection. Servers close idle ones, so we stop using them earlier.
const IDLE_TIME_MOST: Duration = Duration::from_secs(3);
const IDLE_CONNECTIONS_MOST: usize = 256;
pub(super) const ANSWER_BYTES_MOST: usize = 64 * 1024;
const MESSAGE_CHARACTERS_MOST: usize = 200;
const CODE_CHARACTERS_MOST: usize = 10;
/// HTTP status, service and case.
const CODE_DIGITS: usize = 7;

/// The HTTP client could not be set up on this machine.
#[derive(Debug, thiserror::Error)]
#[error("banks cannot be called from here: {0}")]
pub struct NoClient(String);

/// The HTTP client for banks.
#[derive(Clone)]
pub struct SnapClient {
    client: Client,
    limits: SendLimits,
    allow_http: bool,
}

/// What to send.
pub(super) struct Request {
    pub(super) method: HttpMethod,
    pub(super) url: Url,
    pub(super) headers: Vec<(&'static str, String)>,
    /// JSON, byte for byte as it was signed.
    pub(super) body: String,
    pub(super) timeout: Duration,
    pub(super) answer_bytes_most: usize,
}

/// What a bank answered.
pub(super) struct Answer {
    pub(super) status: u16,
    /// Null where it is no JSON. The content type is not looked at: banks get it wrong.
    pub(super) body: Value,
}

impl SnapClient {
    /// Banks' certificates are checked against those that the machine trusts. `allow_http` is for development.
    pub fn new(allow_http: bool) -> Result<SnapClient, NoClient> {
        SnapClient::trusting(Vec::new(), LIMITS, allow_http)
    }

    pub(super) fn trusting(
        extra: Vec<Certificate>,
        limits: SendLimits,
        allow_http: bool,
    ) -> Result<SnapClient, NoClient> {
        let client = Client::builder()
            .tls_certs_merge(extra)
            .https_only(!allow_http)
            .user_agent(USER_AGENT)
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .connect_timeout(limits.connect)
            .pool_idle_timeout(IDLE_TIME_MOST)
            .pool_max_idle_per_host(IDLE_CONNECTIONS_MOST)
            .build()
            .map_err(|error| NoClient(root_cause(&error)))?;
        Ok(SnapClient { client, limits, allow_http })
    }

    /// The time limit counts from the start to the last byte of the answer, however slowly those come.
    pub(super) async fn send(&self, request: Request) -> Result<Answer, CallError> {
        let Request { method, url, headers, body, timeout, answer_bytes_most } = request;
        check_base_url(url.as_str(), self.allow_http).map_err(|error| CallError::setting(error.to_string()))?;
        let mut sending = self.client.request(method_of(method), url).header(CONTENT_TYPE, "application/json");
        for (name, value) in headers {
            sending = sending.header(name, value);
        }
        let sent = sending.body(body).timeout(timeout.min(self.limits.total)).send().await;
        let mut response = sent.map_err(failure)?;
        let status = response.status().as_u16();
        let body = read_answer(&mut response, answer_bytes_most).await?;
        Ok(Answer { status, body: serde_json::from_slice(&body).unwrap_or_default() })
    }
}

impl Answer {
    /// Takes secrets out of what the bank says to people, should it repeat them.
    pub(super) fn hide(&mut self, secrets: &[&SecretString]) {
        let Some(Value::String(message)) = self.body.get_mut("responseMessage") else { return };
        for secret in secrets.iter().map(|secret| secret.expose_secret()).filter(|secret| !secret.is_empty()) {
            *message = message.replace(secret, "…");
        }
    }

    /// The response code as the bank wrote it; empty where there is none.
    pub(super) fn code(&self) -> String {
        line(&self.body, "responseCode", CODE_CHARACTERS_MOST)
    }

    pub(super) fn message(&self) -> String {
        line(&self.body, "responseMessage", MESSAGE_CHARACTERS_MOST)
    }

    /// The last two digits of a response code that agrees with the HTTP status; where they disagree, the status counts
    /// and the code says nothing.
    pub(super) fn case(&self) -> Option<String> {
        let code = self.code();
        let agrees = code.len() == CODE_DIGITS && code.starts_with(&self.status.to_string());
        agrees.then(|| code.get(CODE_DIGITS - 2..).map(str::to_owned)).flatten()
    }

    pub(super) fn in_words(&self) -> String {
        format!("HTTP {} {} {}", self.status, self.code(), self.message()).trim_end().to_owned()
    }

    pub(super) fn reason(&self) -> Reason {
        Reason::new(Cause::Status(self.status), self.in_words()).with_code(&self.code())
    }
}

const fn method_of(method: HttpMethod) -> Method {
    match method {
        HttpMethod::Get => Method::GET,
        HttpMethod::Post => Method::POST,
        HttpMethod::Put => Method::PUT,
        HttpMethod::Delete => Method::DELETE,
    }
}

fn failure(error: reqwest::Error) -> CallError {
    let error = error.without_url();
    let words = if error.is_timeout() { "it took too long".to_owned() } else { root_cause(&error) };
    if error.is_builder() {
        CallError::Misconfigured(Reason::new(Cause::Setting, words))
    } else if error.is_connect() {
        CallError::Unavailable(Reason::new(Cause::NotReached, words))
    } else if error.is_timeout() {
        CallError::Unknown(Reason::new(Cause::TooLate, words))
    } else {
        CallError::Unknown(Reason::new(Cause::CutOff, words))
    }
}

async fn read_answer(response: &mut Response, bytes_most: usize) -> Result<Vec<u8>, CallError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failure)? {
        if body.len() + chunk.len() > bytes_most {
            let words = format!("its answer is longer than {bytes_most} bytes");
            return Err(CallError::Unknown(Reason::new(Cause::Unreadable, words)));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
