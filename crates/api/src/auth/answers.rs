//! What key and session authentication share: the rate limit and its headers, and the error for an unknown caller.

use axum::http::{Extensions, HeaderMap};
use web::{App, CallerNotes, Failure, client, limits::LimitUsage};

use crate::error::ApiError;

/// Notes how much of its rate limit the caller has used, for the headers of the answer.
pub(super) fn note_usage(notes: &CallerNotes, usage: Option<LimitUsage>) {
    if let Some(usage) = usage {
        notes.add_headers(|headers| usage.write(headers));
    }
}

/// An error where the request is over the caller's rate limit.
pub(super) fn within_rate(usage: Option<LimitUsage>) -> Result<(), ApiError> {
    match usage.and_then(|usage| usage.retry_after) {
        Some(retry_after) => Err(Failure::RateLimited { retry_after }.into()),
        None => Ok(()),
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
