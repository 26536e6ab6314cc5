//! What the checks of keys and sessions have in common: how an unknown caller is counted, and what goes on the answer.

use axum::http::{Extensions, HeaderMap, HeaderValue};
use web::{App, Failure, client, limits::Standing};

use crate::{cors, error::ApiError};

/// Writes how much of its limit the caller has used, and lets a page of `origin` read the answer.
pub(super) fn write_findings(headers: &mut HeaderMap, standing: Option<Standing>, origin: Option<&HeaderValue>) {
    if let Some(standing) = standing {
        standing.write(headers);
    }
    if let Some(origin) = origin {
        cors::allow(headers, origin);
    }
}

/// The error for an unknown caller, who is counted by address.
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
