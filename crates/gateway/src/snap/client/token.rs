//! Asks a bank for a token (service 73).

use std::time::Duration;

use domain::time::Timestamp;
use secrecy::SecretString;
use serde_json::Value;

use super::http::{ANSWER_BYTES_MOST, Answer, Request, SnapClient};
use crate::snap::{
    call_error::{CallError, Cause, Reason},
    keys::PrivateKey,
    parameters::Parameters,
    signing::sign_client_timestamp,
    timestamp::format_timestamp,
    values::Service,
};

const TOKEN_BYTES_MOST: usize = 8 * 1024;
/// The life of a token by the standard, for answers that do not tell it.
const TOKEN_SECONDS: u64 = 900;
const TOKEN_SECONDS_MOST: u64 = 24 * 60 * 60;

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

impl SnapClient {
    pub async fn token(&self, request: TokenRequest<'_>) -> Result<Token, CallError> {
        let TokenRequest { parameters, client_id, key, now } = request;
        let missing = || CallError::setting("`base_url` and `path.token` must be set");
        let url = parameters.url(Service::Token).ok_or_else(missing)?;
        let timestamp = format_timestamp(now, parameters.precision);
        let answer = self.send(Request {
            method: parameters.method(Service::Token),
            url,
            headers: vec![
                ("X-CLIENT-KEY", client_id.to_owned()),
                ("X-SIGNATURE", sign_client_timestamp(key, client_id, &timestamp)),
                ("X-TIMESTAMP", timestamp),
            ],
            body: format!(r#"{{"{}":"client_credentials"}}"#, parameters.grant_member.word()),
            timeout: Service::Token.timeout(),
            answer_bytes_most: ANSWER_BYTES_MOST,
        });
        read_token(&answer.await?)
    }
}

/// Where HTTP status and response code disagree, the status counts.
fn read_token(answer: &Answer) -> Result<Token, CallError> {
    let code = answer.code();
    match answer.status {
        200..=299 => token_of(&answer.body).ok_or_else(|| match code.is_empty() || code.starts_with('2') {
            true => {
                let words = format!("{}, without an access token", answer.in_words());
                CallError::Unknown(Reason::new(Cause::Unreadable, words).with_code(&code))
            }
            false => CallError::Refused { code, message: answer.message() },
        }),
        // A token request that fails has changed nothing at the bank.
        408 | 429 | 500..=599 => Err(CallError::Unavailable(answer.reason())),
        400..=499 if !code.is_empty() && !matches!(answer.status, 401 | 403) => {
            Err(CallError::Refused { code, message: answer.message() })
        }
        _ => Err(CallError::Misconfigured(answer.reason())),
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
