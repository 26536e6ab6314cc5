//! Authentication by API key: checks the key, then the origin, then the rate limit. The key itself is never logged.

use axum::{
    extract::{Request, State},
    http::{Extensions, HeaderMap, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use domain::api_key::KeySecret;
use engine::KeyOwner;
use web::{App, Failure, LoggedAs, LoggedCaller, limits::LimitedCaller};

use super::{
    answers::{unknown_caller, write_headers},
    caller::Authenticated,
};
use crate::{cors, error::ApiError};

/// Lets a request with a valid key through, and adds the caller's headers to its answer.
pub(crate) async fn require_key(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let owner = match key_owner(&app, request.headers(), request.extensions()).await {
        Ok(owner) => owner,
        Err(error) => return error.into_response(),
    };
    let logged = LoggedCaller { project_id: Some(owner.project.id), who: LoggedAs::Key(owner.key_id) };
    let usage = app.limits.request(LimitedCaller::Key(owner.key_id));
    let (origin, mut response) = match cors::allowed_origin(&app, owner.project.id, request.headers()).await {
        Err(error) => (None, error.into_response()),
        Ok(origin) => match usage.and_then(|usage| usage.retry_after) {
            Some(retry_after) => (origin, ApiError::from(Failure::RateLimited { retry_after }).into_response()),
            None => {
                request.extensions_mut().insert(Authenticated::Key(owner));
                (origin, next.run(request).await)
            }
        },
    };
    response.extensions_mut().insert(logged);
    write_headers(response.headers_mut(), usage, origin.as_ref());
    response
}

async fn key_owner(app: &App, headers: &HeaderMap, extensions: &Extensions) -> Result<KeyOwner, ApiError> {
    let reason = match bearer(headers) {
        Err(reason) => reason,
        Ok(secret) => match app.engine.key_owner(&secret).await {
            Ok(Some(owner)) => return Ok(owner),
            Ok(None) => "the API key is unknown or revoked",
            Err(error) => return Err(ApiError::AuthUnavailable(error)),
        },
    };
    Err(unknown_caller(app, headers, extensions, reason))
}

/// The key in `Authorization: Bearer`. Its check digits reveal junk without a database look-up.
fn bearer(headers: &HeaderMap) -> Result<KeySecret, &'static str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err("send the API key once, as Authorization: Bearer <key>");
    };
    let (scheme, key) = value.to_str().ok().and_then(|value| value.split_once(' ')).unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err("send the API key as Authorization: Bearer <key>");
    }
    KeySecret::recognise(key.trim()).ok_or("the API key is malformed")
}
