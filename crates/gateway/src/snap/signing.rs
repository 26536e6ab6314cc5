//! The signatures of SNAP, made and verified.
//!
//! | Kind | What is signed | With |
//! |---|---|---|
//! | type 1 | `METHOD:path:token:hash:timestamp` | HMAC-SHA512, the client's secret |
//! | type 2 | `METHOD:path:hash:timestamp` | RSA |
//! | token requests, BRI's QR notifications | `client id\|timestamp` | RSA |
//!
//! `hash` is the SHA-256 of the body in lowercase hexadecimal digits. What is signed are bytes as they were sent: a path
//! with each prefix that the caller used, the timestamp's text. Signatures are compared in constant time, and one that
//! cannot be read is simply wrong.

use std::borrow::Cow;

use aws_lc_rs::{digest, hmac};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::hex::{hex, unhex};
use secrecy::{ExposeSecret, SecretString};

use super::{
    keys::{PrivateKey, PublicKey},
    minify::minify,
    values::Encoding,
};

/// The lengths of an HMAC-SHA512 in its two encodings.
const HMAC_BASE64_CHARACTERS: usize = 88;
const HMAC_HEX_CHARACTERS: usize = 128;

/// The parts of a request that its signature covers.
#[derive(Clone, Copy, Debug)]
pub struct SignedRequest<'a> {
    /// In capitals: `POST`.
    pub method: &'a str,
    /// From the slash after the host, as the caller sees it.
    pub path: &'a str,
    pub body: &'a [u8],
    /// The text of X-TIMESTAMP.
    pub timestamp: &'a str,
}

impl SignedRequest<'_> {
    fn symmetric_text(&self, token: &str) -> String {
        let SignedRequest { method, path, timestamp, .. } = self;
        format!("{method}:{path}:{token}:{}:{timestamp}", self.body_hash())
    }

    fn asymmetric_text(&self) -> String {
        let SignedRequest { method, path, timestamp, .. } = self;
        format!("{method}:{path}:{}:{timestamp}", self.body_hash())
    }

    fn body_hash(&self) -> String {
        hex(digest::digest(&digest::SHA256, self.body).as_ref())
    }

    /// Whether `verifies` accepts the request as it came, or else with its body minified: many programs sign the
    /// minified body and send another.
    fn verified_by(&self, verifies: impl Fn(&SignedRequest<'_>) -> bool) -> bool {
        let with_minified_body = || match minify(self.body) {
            Cow::Owned(body) => verifies(&SignedRequest { body: &body, ..*self }),
            Cow::Borrowed(_) => false,
        };
        verifies(self) || with_minified_body()
    }
}

/// The signature of a call with a token, over the body as it is sent.
pub fn sign_type1(secret: &SecretString, token: &str, request: &SignedRequest<'_>, encoding: Encoding) -> String {
    let tag = hmac::sign(&hmac_key(secret), request.symmetric_text(token).as_bytes());
    match encoding {
        Encoding::Base64 => STANDARD.encode(tag),
        Encoding::Hex => hex(tag.as_ref()),
    }
}

/// Whether `signature`, in base64 or hexadecimal digits, is that of the request with this token.
pub fn verify_type1(secret: &SecretString, token: &str, request: &SignedRequest<'_>, signature: &str) -> bool {
    let tag = match signature.len() {
        HMAC_BASE64_CHARACTERS => STANDARD.decode(signature).ok(),
        HMAC_HEX_CHARACTERS => unhex(&signature.to_ascii_lowercase()),
        _ => None,
    };
    let Some(tag) = tag else { return false };
    let key = hmac_key(secret);
    request.verified_by(|request| hmac::verify(&key, request.symmetric_text(token).as_bytes(), &tag).is_ok())
}

/// The signature of a call without a token, in base64.
pub fn sign_type2(key: &PrivateKey, request: &SignedRequest<'_>) -> String {
    STANDARD.encode(key.sign(request.asymmetric_text().as_bytes()))
}

pub fn verify_type2(key: &PublicKey, request: &SignedRequest<'_>, signature: &str) -> bool {
    let Ok(signature) = STANDARD.decode(signature) else { return false };
    request.verified_by(|request| key.verify(request.asymmetric_text().as_bytes(), &signature))
}

/// The signature of a request for a token, in base64. It covers no body.
pub fn sign_client_timestamp(key: &PrivateKey, client_id: &str, timestamp: &str) -> String {
    STANDARD.encode(key.sign(client_timestamp_text(client_id, timestamp).as_bytes()))
}

pub fn verify_client_timestamp(key: &PublicKey, client_id: &str, timestamp: &str, signature: &str) -> bool {
    let Ok(signature) = STANDARD.decode(signature) else { return false };
    key.verify(client_timestamp_text(client_id, timestamp).as_bytes(), &signature)
}

fn client_timestamp_text(client_id: &str, timestamp: &str) -> String {
    format!("{client_id}|{timestamp}")
}

fn hmac_key(secret: &SecretString) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA512, secret.expose_secret().as_bytes())
}

#[cfg(test)]
mod tests;
