//! Authentication by API key: checks the key, then the origin, then the rate limit, then the address that the request comes from.
//! The key itself is never logged.

use axum::{
    extract::{Request, State},
    http::{Extensions, HeaderMap, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use domain::api_key::KeySecret;
use engine::KeyOwner;
use web::{App, CallerNotes, LoggedCaller, client, limits::LimitedCaller};

use super::{
    answers::{note_usage, unknown_caller, within_rate},
    caller::Authenticated,
};
use crate::{cors, error::ApiError};

/// Lets a request with a valid key through, and notes the headers of its answer.
pub(crate) async fn require_key(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let owner = match key_owner(&app, request.headers(), request.extensions()).await {
        Ok(owner) => owner,
        Err(error) => return error.into_response(),
    };
    let notes = CallerNotes::of(request.extensions());
    if let Err(error) = check_origin_and_rate(&app, &owner, request.headers(), &notes).await {
        return error.into_response();
    }
    if let Err(error) = check_address(&app, &owner, request.headers(), request.extensions()) {
        return error.into_response();
    }
    request.extensions_mut().insert(Authenticated::Key(owner));
    next.run(request).await
}

async fn check_origin_and_rate(
    app: &App,
    owner: &KeyOwner,
    headers: &HeaderMap,
    notes: &CallerNotes,
) -> Result<(), ApiError> {
    notes.caller_is(LoggedCaller {
        project_id: Some(owner.project.id),
        key_id: Some(owner.key_id),
        ..LoggedCaller::default()
    });
    let usage = app.limits.request(LimitedCaller::Key(owner.key_id));
    note_usage(notes, usage);
    if let Some(origin) = cors::allowed_origin(app, owner.project.id, headers).await? {
        notes.add_headers(|headers| cors::allow(headers, &origin));
    }
    within_rate(usage)
}

fn check_address(app: &App, owner: &KeyOwner, headers: &HeaderMap, extensions: &Extensions) -> Result<(), ApiError> {
    // Most keys have no networks, and need no look at the headers.
    if owner.networks.is_empty() {
        return Ok(());
    }
    let address = client::address(extensions, headers, &app.settings.trusted_proxies);
    if owner.networks.allow(address) { Ok(()) } else { Err(ApiError::AddressForbidden) }
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
