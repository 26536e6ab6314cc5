//! Reads requests: the JSON body and its members, the body's fingerprint, and the header `Idempotency-Key`.
//!
//! It checks only the shape of a request, never whether its values are acceptable.

pub(crate) mod fingerprint;
pub(crate) mod ignored;
pub(crate) mod json;
pub(crate) mod members;
mod number_literal;

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Request},
    http::{HeaderMap, HeaderName, request::Parts},
};
use domain::rules::Invalid;
use web::{App, body::read_as};

use crate::error::ApiError;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub(crate) const IDEMPOTENCY_KEY_CHARACTERS: usize = 255;

/// The bytes of a JSON body, not parsed yet.
pub(crate) struct JsonBytes(pub(crate) Bytes);

impl FromRequest<App> for JsonBytes {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<JsonBytes, ApiError> {
        Ok(JsonBytes(read_as(request, app, "application/json").await?))
    }
}

/// The header `Idempotency-Key`, where it is required.
pub(crate) struct RequiredKey(pub(crate) String);

/// The header `Idempotency-Key`, where it is optional.
pub(crate) struct OptionalKey(pub(crate) Option<String>);

impl FromRequestParts<App> for RequiredKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<RequiredKey, ApiError> {
        idempotency_key(&parts.headers)?.map(RequiredKey).ok_or(ApiError::IdempotencyKeyRequired)
    }
}

impl FromRequestParts<App> for OptionalKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<OptionalKey, ApiError> {
        idempotency_key(&parts.headers).map(OptionalKey)
    }
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let invalid = |rule: &str| Err(Invalid::new("Idempotency-Key", rule).into());
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return invalid("must be sent once");
    }
    if value.is_empty() {
        return Ok(None);
    }
    if value.len() > IDEMPOTENCY_KEY_CHARACTERS {
        return invalid("must be at most 255 characters");
    }
    match value.to_str() {
        Ok(text) if text.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(Some(text.to_owned())),
        _ => invalid("must be visible ASCII characters"),
    }
}
