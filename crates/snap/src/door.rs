//! Who calls, and whether the message is theirs. The order of the checks is fixed: account, address, size, headers, time,
//! token, signature. Nothing of the body is read before its signature holds.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    body::Bytes,
    extract::Request,
    http::{HeaderMap, Method},
};
use domain::time::Timestamp;
use engine::{InboundClient, OpenAccount};
use gateway::snap::{
    PublicKey, SignIn, SignedRequest, parse_timestamp, verify_client_timestamp, verify_type1, verify_type2,
};
use url::Url;
use web::{App, body, client};

use crate::answer::{BAD_FORMAT, Refusal};

const X_TIMESTAMP: &str = "X-TIMESTAMP";
const X_SIGNATURE: &str = "X-SIGNATURE";
const X_EXTERNAL_ID: &str = "X-EXTERNAL-ID";
const X_PARTNER_ID: &str = "X-PARTNER-ID";
const X_CLIENT_KEY: &str = "X-CLIENT-KEY";
const CHANNEL_ID: &str = "CHANNEL-ID";
const AUTHORIZATION: &str = "Authorization";

/// A call from an address that may call, before it is known to be the bank's.
pub(crate) struct Call {
    pub(crate) app: App,
    pub(crate) open: Arc<OpenAccount>,
    pub(crate) now: Timestamp,
    method: Method,
    /// The path as the bank has called it, with the part that a proxy has cut off.
    path: String,
    headers: HeaderMap,
    body: Bytes,
    proved: Proved,
}

/// Whether a call has proved to be the bank's. It outlives the call, so that the log learns it of one that took too long.
#[derive(Clone, Default)]
pub(crate) struct Proved(Arc<AtomicBool>);

impl Proved {
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A message that the bank has signed.
pub(crate) struct Message {
    pub(crate) external_id: String,
    pub(crate) body: Bytes,
    /// Whether the account has taken as many calls as it may.
    pub(crate) is_over_rate: bool,
}

/// What a bank tells us.
pub(crate) struct Notification {
    /// Whether the bank has signed the body, and not only that it calls.
    pub(crate) is_signed: bool,
    pub(crate) body: Bytes,
}

/// What a signature proves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// That the message is the bank's.
    Message,
    /// That the bank calls; the body may be anybody's.
    Caller,
}

/// The address that a request comes from.
pub(crate) fn caller(app: &App, request: &Request) -> IpAddr {
    client::address(request.extensions(), request.headers(), &app.settings.trusted_proxies)
}

impl Call {
    pub(crate) async fn read(
        app: &App,
        open: Arc<OpenAccount>,
        now: Timestamp,
        proved: Proved,
        request: Request,
    ) -> Result<Call, Refusal> {
        let address = caller(app, &request);
        if !open.parameters.allows(address) {
            return Err(Refusal::Unauthorized("Connection not allowed"));
        }
        if request.method() != Method::POST {
            return Err(Refusal::NotSupported);
        }
        let method = request.method().clone();
        let called = request.uri().path_and_query().map_or("/", |called| called.as_str());
        let path = format!("{}{called}", public_prefix(app));
        let headers = request.headers().clone();
        let body = body::read_any(request, app).await.map_err(Refusal::of_failure)?;
        Ok(Call { app: app.clone(), open, now, method, path, headers, body, proved })
    }

    /// Checks headers, time, token and signature of a message about a number, and the account's rate.
    pub(crate) fn message(self) -> Result<Message, Refusal> {
        let message = self.message_at_any_rate()?;
        if message.is_over_rate { Err(Refusal::TooMany) } else { Ok(message) }
    }

    /// The same, without refusing what is over the rate. It counts all the same.
    pub(crate) fn message_at_any_rate(self) -> Result<Message, Refusal> {
        let signed_in_by_token = self.open.parameters.sign_in == SignIn::Type1;
        let needed = [X_TIMESTAMP, X_SIGNATURE, X_PARTNER_ID, X_EXTERNAL_ID, CHANNEL_ID];
        for name in signed_in_by_token.then_some(AUTHORIZATION).into_iter().chain(needed) {
            self.header(name)?;
        }
        let external_id = self.header(X_EXTERNAL_ID)?.to_owned();
        if !self.open.parameters.external_id.accepts(&external_id) {
            return Err(malformed(X_EXTERNAL_ID));
        }
        if !self.open.parameters.channel_id.accepts(self.header(CHANNEL_ID)?) {
            return Err(malformed(CHANNEL_ID));
        }
        if self.open.parameters.partner_id().is_some_and(|id| self.header(X_PARTNER_ID).map(str::trim) != Ok(id)) {
            return Err(malformed(X_PARTNER_ID));
        }
        let (proof, is_over_rate) = (self.proof()?, self.is_over_rate());
        match proof {
            Proof::Message => Ok(Message { external_id, body: self.body, is_over_rate }),
            Proof::Caller if is_over_rate => Err(Refusal::TooMany),
            // Such a signature leaves the body open, and money is never taken on the word of an open body.
            Proof::Caller => Err(Refusal::Unauthorized("Signature")),
        }
    }

    /// Checks time, token and signature of a notification. Its other headers decide nothing, and banks differ in them.
    pub(crate) fn notification(self) -> Result<Notification, Refusal> {
        for name in [X_TIMESTAMP, X_SIGNATURE] {
            self.header(name)?;
        }
        let proof = self.proof()?;
        if self.is_over_rate() {
            return Err(Refusal::TooMany);
        }
        Ok(Notification { is_signed: proof == Proof::Message, body: self.body })
    }

    /// What the signature proves.
    fn proof(&self) -> Result<Proof, Refusal> {
        let timestamp = self.timestamp()?;
        let signature = self.header(X_SIGNATURE)?;
        let signed = SignedRequest { method: self.method.as_str(), path: &self.path, body: &self.body, timestamp };
        let (holds, proof) = match self.open.parameters.sign_in {
            SignIn::Type1 => (self.is_signed_by_token(&signed, signature)?, Proof::Message),
            SignIn::Type2 => (self.open.bank_keys().any(|key| verify_type2(key, &signed, signature)), Proof::Message),
            // A bank that has a token of ours may sign with it too, and then its body counts.
            SignIn::ClientTimestamp if self.has_token() && self.is_signed_by_token(&signed, signature)? => {
                (true, Proof::Message)
            }
            SignIn::ClientTimestamp => {
                let signs = |key: &PublicKey| {
                    let mut ids = self.open.client_ids();
                    ids.any(|id| verify_client_timestamp(key, id, timestamp, signature))
                };
                (self.open.bank_keys().any(signs), Proof::Caller)
            }
        };
        if !holds {
            return Err(Refusal::Unauthorized("Signature"));
        }
        self.proved.set();
        Ok(proof)
    }

    /// Counts a call that has proved to be the bank's.
    fn is_over_rate(&self) -> bool {
        !self.app.limits.bank_call(self.open.id())
    }

    /// Whether the signature is made with a token of ours, which must be alive.
    fn is_signed_by_token(&self, signed: &SignedRequest<'_>, signature: &str) -> Result<bool, Refusal> {
        let token = self.sent_token()?;
        let client = self.app.engine.bank_client(&self.open, token).ok_or(Refusal::InvalidToken)?;
        Ok(verify_type1(&client.secret, token, signed, signature))
    }

    /// Whether the message carries a token, at an account whose bank can have got one.
    fn has_token(&self) -> bool {
        !self.open.inbound.is_empty() && self.headers.contains_key(AUTHORIZATION)
    }

    /// The token, which stands behind `Bearer` by the standard.
    fn sent_token(&self) -> Result<&str, Refusal> {
        let authorization = self.header(AUTHORIZATION)?.trim();
        let parameters = &self.open.parameters;
        match authorization.split_once(' ') {
            Some((word, token)) if parameters.knows_scheme(word) => Ok(token.trim_start()),
            None if parameters.bare_token => Ok(authorization),
            _ => Err(Refusal::InvalidToken),
        }
    }

    /// A token for a bank that proves by its key that it is the client it says.
    pub(crate) fn token(&self) -> Result<String, Refusal> {
        for name in [X_CLIENT_KEY, X_TIMESTAMP, X_SIGNATURE] {
            self.header(name)?;
        }
        let timestamp = self.timestamp()?;
        let client = self.client()?;
        let token = self.app.engine.bank_token(&self.open, client, timestamp, self.header(X_SIGNATURE)?);
        let token = token.ok_or(Refusal::Unauthorized("Signature"))?;
        self.proved.set();
        Ok(token)
    }

    fn client(&self) -> Result<&InboundClient, Refusal> {
        let id = self.header(X_CLIENT_KEY)?;
        let known = self.open.inbound.iter().find(|client| client.client_id == id);
        known.ok_or(Refusal::UNKNOWN_CLIENT)
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// The time of the message as it was signed; it must be near ours.
    fn timestamp(&self) -> Result<&str, Refusal> {
        let text = self.header(X_TIMESTAMP)?;
        let at = parse_timestamp(text).ok_or_else(|| malformed(X_TIMESTAMP))?;
        let skew = self.open.parameters.skew;
        match at < self.now.minus(skew) || at > self.now.plus(skew) {
            true => Err(Refusal::Unauthorized("Timestamp")),
            false => Ok(text),
        }
    }

    fn header(&self, name: &str) -> Result<&str, Refusal> {
        let value = self.headers.get(name).filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| Refusal::Missing(name.to_owned()))?;
        value.to_str().map_err(|_| malformed(name))
    }
}

/// A bank's own code for bad data is for members; a header has the standard's.
fn malformed(name: &str) -> Refusal {
    Refusal::Malformed(name.to_owned(), BAD_FORMAT)
}

/// The path of the public URL, which a proxy may cut off; banks sign it.
fn public_prefix(app: &App) -> String {
    Url::parse(&app.settings.base_url).map_or_else(|_| String::new(), |url| url.path().trim_end_matches('/').to_owned())
}
