//! Signs a call with the account's keys, sends it, and tells successes from failures.

use domain::time::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::{
    http::{ANSWER_BYTES_MOST, Answer, Request, SnapClient},
    token::TokenRequest,
    tokens::Tokens,
};
use crate::snap::{
    call_error::{CallError, Cause, Reason},
    keys::PrivateKey,
    parameters::Parameters,
    signing::{SignedRequest, sign_type1, sign_type2},
    timestamp::format_timestamp,
    values::{Service, SignOut},
};

/// A report has all transactions of an hour, a statement those of days.
const REPORT_BYTES_MOST: usize = 4 * 1024 * 1024;
/// The case of a token that is over, in codes of 401.
const TOKEN_OVER: &str = "01";

/// All that one call needs from the account.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    pub parameters: &'a Parameters,
    /// What the bank calls us.
    pub client_id: &'a str,
    pub secret: &'a SecretString,
    pub key: &'a PrivateKey,
    pub tokens: &'a Tokens,
    /// Unique for each try; the caller has stored it.
    pub external_id: &'a str,
    pub now: Timestamp,
}

impl SnapClient {
    /// Sends `body` to a service. Every answer is given back but the one that our token is over.
    pub(super) async fn call(
        &self,
        context: &CallContext<'_>,
        service: Service,
        body: &Value,
    ) -> Result<Answer, CallError> {
        let CallContext { parameters, key, external_id, now, .. } = *context;
        let missing = || CallError::setting(format!("`base_url` and `path.{}` must be set", service.word()));
        let url = parameters.url(service).ok_or_else(missing)?;
        // The bytes that are signed are the bytes that are sent: compact, and plain so that no proxy rewrites them.
        let body = body.to_string();
        if !body.is_ascii() {
            return Err(CallError::setting("ids and references must be plain ASCII"));
        }
        let timestamp = format_timestamp(now, parameters.precision);
        let method = parameters.method(service);
        let signed =
            SignedRequest { method: method.word(), path: url.path(), body: body.as_bytes(), timestamp: &timestamp };
        let token = self.token_for(context).await?;
        let signature = match &token {
            Some(token) => sign_type1(context.secret, token.expose_secret(), &signed, parameters.signature_encoding),
            None => sign_type2(key, &signed),
        };
        let mut headers = vec![
            ("X-TIMESTAMP", timestamp.clone()),
            ("X-SIGNATURE", signature),
            ("X-PARTNER-ID", parameters.partner_id_of(service).unwrap_or(context.client_id).to_owned()),
            ("X-EXTERNAL-ID", external_id.to_owned()),
        ];
        headers.extend(token.as_ref().map(|token| ("Authorization", format!("Bearer {}", token.expose_secret()))));
        headers.extend(parameters.channel_of(service).map(|channel| ("CHANNEL-ID", channel.to_owned())));
        let is_list = matches!(service, Service::Report | Service::Statement);
        let answer_bytes_most = if is_list { REPORT_BYTES_MOST } else { ANSWER_BYTES_MOST };
        let timeout = service.timeout();
        let mut answer = self.send(Request { method, url, headers, body, timeout, answer_bytes_most }).await?;
        if let Some(token) = &token {
            answer.hide(&[token, context.secret]);
            if answer.status == 401 && answer.case().as_deref() == Some(TOKEN_OVER) {
                context.tokens.discard(token);
                return Err(CallError::TokenRefused(answer.reason()));
            }
        }
        Ok(answer)
    }

    /// Gets what a call needs before it: an order that is committed as sent should not fail for want of a token.
    pub async fn prepare(&self, context: &CallContext<'_>) -> Result<(), CallError> {
        self.token_for(context).await.map(|_| ())
    }

    /// None where calls are signed without a token.
    async fn token_for(&self, context: &CallContext<'_>) -> Result<Option<SecretString>, CallError> {
        let CallContext { parameters, client_id, key, now, .. } = *context;
        match parameters.sign_out {
            SignOut::Type2 => Ok(None),
            SignOut::None => Err(CallError::setting("`sign_out` must be type1 or type2")),
            SignOut::Type1 => {
                let ask = || self.token(TokenRequest { parameters, client_id, key, now });
                context.tokens.get(now, ask).await.map(Some).map_err(without_effect)
            }
        }
    }
}

/// A call that got no token was never sent.
fn without_effect(error: CallError) -> CallError {
    match error {
        CallError::Unknown(reason) => CallError::Unavailable(reason),
        CallError::Refused { code, message } => {
            let words = format!("no token: {code} {message}");
            CallError::Misconfigured(Reason::new(Cause::Status(400), words).with_code(&code))
        }
        other => other,
    }
}

impl Answer {
    /// The body of a success, or what the failure means for a call that has effects. The HTTP status decides.
    pub(super) fn success(self) -> Result<Value, CallError> {
        let code = self.code();
        match self.status {
            202 | 408 | 409 | 500..=599 => Err(CallError::Unknown(self.reason())),
            200..=299 if self.body.is_object() => Ok(self.body),
            200..=299 => {
                let words = format!("{}, and it is no JSON object", self.in_words());
                Err(CallError::Unknown(Reason::new(Cause::Unreadable, words)))
            }
            429 => Err(CallError::Unavailable(self.reason())),
            401 | 403 => Err(CallError::Misconfigured(self.reason())),
            400..=499 if !code.is_empty() => {
                // A code that speaks of another status is not the bank's reason.
                let code = if self.case().is_some() { code } else { format!("http_{}", self.status) };
                Err(CallError::Refused { code, message: self.message() })
            }
            _ => Err(CallError::Misconfigured(self.reason())),
        }
    }
}
