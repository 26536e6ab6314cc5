//! Calls a bank: so far for a token, which shows that address, client id and key are right. An operator has chosen the
//! address, so it is not guarded as those of webhooks are; it must be https outside of development. No redirect is
//! followed, and no error quotes a secret or a token.

use std::time::Duration;

use domain::time::Timestamp;
use reqwest::{Certificate, Client, Response, header::CONTENT_TYPE, redirect::Policy};
use secrecy::SecretString;
use serde_json::Value;

use super::{
    keys::PrivateKey, parameters::Parameters, settings::check_base_url, signing::sign_client_timestamp,
    timestamp::format_timestamp, values::Service,
};
use crate::webhook::{SendLimits, USER_AGENT, root_cause};

/// How long a bank may take for a call.
const LIMITS: SendLimits = SendLimits { connect: Duration::from_secs(5), total: Duration::from_secs(10) };
const ANSWER_BYTES_MOST: usize = 64 * 1024;
const TOKEN_BYTES_MOST: usize = 8 * 1024;
const MESSAGE_CHARACTERS_MOST: usize = 200;
const CODE_CHARACTERS_MOST: usize = 10;
/// The life of a token by the standard, for answers that do not tell it.
const TOKEN_SECONDS: u64 = 900;
const TOKEN_SECONDS_MOST: u64 = 24 * 60 * 60;

/// Why a call gave no result, by what the caller may do about it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The bank did nothing: it was not reached, or it says that it cannot work now. Try again later.
    #[error("the bank cannot be reached now: {0}")]
    Unavailable(String),
    /// The bank understood and said no: final.
    #[error("the bank refused: {code} {message}")]
    Refused { code: String, message: String },
    /// The request was sent, and no usable answer came: it may have had its effect.
    #[error("the bank gave no usable answer: {0}")]
    Unknown(String),
    /// No call will work until a person changes a setting, a key or a secret.
    #[error("the account is not set up right: {0}")]
    Misconfigured(String),
}

/// The HTTP client could not be set up on this machine.
#[derive(Debug, thiserror::Error)]
#[error("banks cannot be called from here: {0}")]
pub struct NoClient(String);

/// What is needed to ask for a token.
pub struct TokenRequest<'a> {
    pub parameters: &'a Parameters,
    /// What the bank calls us.
    pub client_id: &'a str,
    pub key: &'a PrivateKey,
    pub now: Timestamp,
}

/// Lets us call the bank for a while. Banks write its type in several ways; it is sent as `Bearer` always.
pub struct Token {
    pub value: SecretString,
    pub expires_in: Duration,
}

/// The HTTP client for banks.
#[derive(Clone)]
pub struct SnapClient {
    client: Client,
    allow_http: bool,
}

impl SnapClient {
    /// Banks' certificates are checked against those that the machine trusts. `allow_http` is for development.
    pub fn new(allow_http: bool) -> Result<SnapClient, NoClient> {
        SnapClient::trusting(Vec::new(), LIMITS, allow_http)
    }

    fn trusting(extra: Vec<Certificate>, limits: SendLimits, allow_http: bool) -> Result<SnapClient, NoClient> {
        let client = Client::builder()
            .tls_certs_merge(extra)
            .https_only(!allow_http)
            .user_agent(USER_AGENT)
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .connect_timeout(limits.connect)
            .timeout(limits.total)
            .build()
            .map_err(|error| NoClient(root_cause(&error)))?;
        Ok(SnapClient { client, allow_http })
    }

    /// Asks the bank for a token (service 73).
    pub async fn token(&self, request: TokenRequest<'_>) -> Result<Token, CallError> {
        let TokenRequest { parameters, client_id, key, now } = request;
        let missing = || CallError::Misconfigured("`base_url` and `path.token` must be set".to_owned());
        let url = parameters.url(Service::Token).ok_or_else(missing)?;
        check_base_url(url.as_str(), self.allow_http).map_err(|error| CallError::Misconfigured(error.to_string()))?;
        let timestamp = format_timestamp(now, parameters.precision);
        let sent = self
            .client
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header("X-CLIENT-KEY", client_id)
            .header("X-SIGNATURE", sign_client_timestamp(key, client_id, &timestamp))
            .header("X-TIMESTAMP", timestamp)
            .body(r#"{"grantType":"client_credentials"}"#)
            .send()
            .await;
        let mut response = sent.map_err(failure)?;
        let body = read_answer(&mut response).await?;
        read_token(response.status().as_u16(), &body)
    }
}

fn failure(error: reqwest::Error) -> CallError {
    let error = error.without_url();
    let reason = if error.is_timeout() { "it took too long".to_owned() } else { root_cause(&error) };
    if error.is_builder() {
        CallError::Misconfigured(reason)
    } else if error.is_connect() {
        CallError::Unavailable(reason)
    } else {
        CallError::Unknown(reason)
    }
}

async fn read_answer(response: &mut Response) -> Result<Vec<u8>, CallError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failure)? {
        if body.len() + chunk.len() > ANSWER_BYTES_MOST {
            return Err(CallError::Unknown(format!("its answer is longer than {ANSWER_BYTES_MOST} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Where HTTP status and response code disagree, the status counts.
fn read_token(status: u16, body: &[u8]) -> Result<Token, CallError> {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let code = text(&answer, "responseCode", CODE_CHARACTERS_MOST);
    let message = text(&answer, "responseMessage", MESSAGE_CHARACTERS_MOST);
    let in_words = format!("HTTP {status} {code} {message}").trim_end().to_owned();
    match status {
        200..=299 => token_of(&answer).ok_or_else(|| match code.is_empty() || code.starts_with('2') {
            true => CallError::Unknown(format!("{in_words}, without an access token")),
            false => CallError::Refused { code, message },
        }),
        // A token request that fails has changed nothing at the bank.
        408 | 429 | 500..=599 => Err(CallError::Unavailable(in_words)),
        400..=499 if !code.is_empty() && !matches!(status, 401 | 403) => Err(CallError::Refused { code, message }),
        _ => Err(CallError::Misconfigured(in_words)),
    }
}

fn token_of(answer: &Value) -> Option<Token> {
    let value = answer.get("accessToken")?.as_str()?;
    let can_be_sent =
        !value.is_empty() && value.len() <= TOKEN_BYTES_MOST && value.bytes().all(|byte| byte.is_ascii_graphic());
    let seconds = match answer.get("expiresIn") {
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(number) => number.as_u64(),
        None => None,
    };
    let expires_in = Duration::from_secs(seconds.unwrap_or(TOKEN_SECONDS).min(TOKEN_SECONDS_MOST));
    can_be_sent.then(|| Token { value: value.into(), expires_in })
}

/// A member as a line of text, whether it was written as a string or as a number; empty where it is not there.
fn text(answer: &Value, member: &str, characters_most: usize) -> String {
    let text = match answer.get(member) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    text.chars().filter(|character| !character.is_control()).take(characters_most).collect()
}

#[cfg(test)]
mod tests;
