//! Getting a body in: of the right type, within its size and in time.

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, FromRequestParts, Request},
    http::{HeaderMap, HeaderName, header, request::Parts},
};
use domain::rules::Invalid;
use http_body_util::BodyExt;

use crate::{app::App, error::ApiError, wire::json::ShapeError};

const BODY_BYTES_MOST: usize = 64 * 1024;
/// A larger body is still read up to here before it is refused, so that its sender is done sending and can listen.
const DISCARDED_BYTES_MOST: usize = 4 * 1024 * 1024;
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub(crate) const IDEMPOTENCY_KEY_CHARACTERS: usize = 255;

/// The bytes of a JSON body, not yet looked at.
pub(crate) struct JsonBytes(pub(crate) Bytes);

impl FromRequest<App> for JsonBytes {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<JsonBytes, ApiError> {
        read_as(request, app, "application/json").await.map(JsonBytes)
    }
}

/// The whole body, if it says to be of that type.
pub(crate) async fn read_as(request: Request, app: &App, media_type: &'static str) -> Result<Bytes, ApiError> {
    let is_of_type = is_of_type(request.headers(), media_type);
    let read = read(request.into_body());
    let bytes = tokio::time::timeout(app.shared.body_timeout, read).await.map_err(|_| ApiError::BodyTimeout)??;
    if is_of_type { Ok(bytes) } else { Err(ApiError::UnsupportedMediaType(media_type)) }
}

fn is_of_type(headers: &HeaderMap, media_type: &str) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let given = value.and_then(|value| value.split(';').next()).unwrap_or_default();
    given.trim().eq_ignore_ascii_case(media_type)
}

async fn read(mut body: Body) -> Result<Bytes, ApiError> {
    let mut bytes = Vec::new();
    let mut received = 0_usize;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ShapeError::new("the body ends early or is not framed as its headers say"))?;
        let Ok(data) = frame.into_data() else { continue };
        received += data.len();
        if received <= BODY_BYTES_MOST {
            bytes.extend_from_slice(&data);
        } else if received > DISCARDED_BYTES_MOST {
            break;
        }
    }
    if received > BODY_BYTES_MOST {
        Err(ApiError::BodyTooLarge { bytes_most: BODY_BYTES_MOST })
    } else {
        Ok(bytes.into())
    }
}

/// The header `Idempotency-Key` where it must be sent.
pub(crate) struct RequiredKey(pub(crate) String);

/// The header `Idempotency-Key` where it may be sent.
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
