//! The id of a request, which the answer's header, the log and error pages carry, so that support can find the log line.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use rand::RngExt;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const CHARACTERS_MOST: usize = 128;

/// The id of a request; it is in the request's extensions.
#[derive(Clone)]
pub struct RequestId(pub HeaderValue);

impl RequestId {
    /// The id that the client sent if it is well-formed, or else a new one.
    pub(crate) fn of(headers: &HeaderMap) -> RequestId {
        let own = headers.get(REQUEST_ID).filter(|value| is_well_formed(value)).cloned();
        RequestId(own.unwrap_or_else(|| {
            let id = format!("req_{:032x}", rand::rng().random::<u128>());
            HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("req_0"))
        }))
    }

    pub(crate) fn text(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

fn is_well_formed(value: &HeaderValue) -> bool {
    let bytes = value.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    (1..=CHARACTERS_MOST).contains(&bytes.len()) && bytes.iter().all(plain)
}
