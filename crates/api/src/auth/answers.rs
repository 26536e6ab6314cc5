//! What key and session authentication share: the headers that they add to answers, and the error for an unknown caller.

use axum::http::{Extensions, HeaderMap, HeaderValue};
use web::{App, Failure, client, limits::LimitUsage};

use crate::{cors, error::ApiError};

/// Adds the rate limit headers, and the CORS headers that let pages of `origin` read the answer.
pub(super) fn write_headers(headers: &mut HeaderMap, usage: Option<LimitUsage>, origin: Option<&HeaderValue>) {
    if let Some(usage) = usage {
        usage.write(headers);
    }
    if let Some(origin) = origin {
        cors::allow(headers, origin);
    }
}

/// The error for an unknown caller: 401, or 429 when its address has failed too often.
pub(super) fn unknown_caller(
    app: &App,
    headers: &HeaderMap,
    extensions: &Extensions,
    reason: &'static str,
) -> ApiError {
    let address = client::address(extensions, headers, &app.settings.trusted_proxies);
    match app.limits.failed_login(client::limited_as(address)) {
        Some(retry_after) => Failure::RateLimited { retry_after }.into(),
        None => ApiError::Unauthorized(reason),
    }
}
