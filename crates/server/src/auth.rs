//! Who calls, and whether they may: the first checks of every `/v1` request, in the contract's order.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{Extensions, HeaderMap, HeaderValue, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use domain::{
    api_key::KeySecret,
    project::{Environment, Project},
};
use engine::KeyOwner;

use crate::{app::App, client, cors, error::ApiError, front::LoggedCaller, limit::Standing};

/// A live key's project, put beside the request by [`authenticate`].
#[derive(Clone)]
struct Authenticated(KeyOwner);

/// The project whose key was sent, usable or not: enough to revoke a key.
pub(crate) struct AnyCaller {
    pub(crate) project: Arc<Project>,
}

/// A caller whose project is usable.
pub(crate) struct Caller {
    pub(crate) project: Arc<Project>,
}

/// A caller whose project is usable and in the sandbox.
pub(crate) struct SandboxCaller {
    pub(crate) project: Arc<Project>,
}

/// Nobody with a key: these addresses are for dashboard sessions.
pub(crate) struct DashboardCaller;

/// Checks key, origin and rate; then lets the request through and writes on the answer what was found.
pub(crate) async fn authenticate(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let owner = match key_owner(&app, request.headers(), request.extensions()).await {
        Ok(owner) => owner,
        Err(refusal) => return refusal.into_response(),
    };
    let logged = LoggedCaller { project_id: owner.project.id, key_id: owner.key_id };
    let standing = app.shared.limits.request(owner.key_id);
    let (origin, mut response) = match cors::allowed_origin(&app, owner.project.id, request.headers()).await {
        Err(refusal) => (None, refusal.into_response()),
        Ok(origin) => match standing.and_then(|standing| standing.retry_after) {
            Some(retry_after) => (origin, ApiError::RateLimited { retry_after }.into_response()),
            None => {
                request.extensions_mut().insert(Authenticated(owner));
                (origin, next.run(request).await)
            }
        },
    };
    response.extensions_mut().insert(logged);
    write_findings(response.headers_mut(), standing, origin.as_ref());
    response
}

fn write_findings(headers: &mut HeaderMap, standing: Option<Standing>, origin: Option<&HeaderValue>) {
    if let Some(standing) = standing {
        standing.write(headers);
    }
    if let Some(origin) = origin {
        cors::allow(headers, origin);
    }
}

async fn key_owner(app: &App, headers: &HeaderMap, extensions: &Extensions) -> Result<KeyOwner, ApiError> {
    let found = match bearer(headers) {
        Err(reason) => Err(reason),
        Ok(secret) => match app.engine.key_owner(&secret).await {
            Ok(Some(owner)) => return Ok(owner),
            Ok(None) => Err("the API key is unknown or revoked"),
            Err(error) => return Err(ApiError::AuthUnavailable(error)),
        },
    };
    let address = client::address(extensions, headers, &app.shared.trusted_proxies);
    match (app.shared.limits.failed_login(client::limited_as(address)), found) {
        (Some(retry_after), _) => Err(ApiError::RateLimited { retry_after }),
        (None, found) => found.map_err(ApiError::Unauthorized),
    }
}

/// The key in `Authorization: Bearer`, if it is one at all: check digits refuse junk without a look-up.
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

fn authenticated(parts: &Parts) -> Result<Arc<Project>, ApiError> {
    let found = parts.extensions.get::<Authenticated>();
    found.map(|found| Arc::clone(&found.0.project)).ok_or(ApiError::Unauthorized("no API key was checked"))
}

fn usable(project: Arc<Project>) -> Result<Arc<Project>, ApiError> {
    if project.is_usable() { Ok(project) } else { Err(ApiError::ProjectUnavailable) }
}

impl FromRequestParts<App> for AnyCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<AnyCaller, ApiError> {
        Ok(AnyCaller { project: authenticated(parts)? })
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Caller, ApiError> {
        Ok(Caller { project: usable(authenticated(parts)?)? })
    }
}

impl FromRequestParts<App> for SandboxCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<SandboxCaller, ApiError> {
        let project = authenticated(parts)?;
        if project.environment != Environment::Sandbox {
            return Err(ApiError::Forbidden("only a sandbox key may simulate payments"));
        }
        Ok(SandboxCaller { project: usable(project)? })
    }
}

impl FromRequestParts<App> for DashboardCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<DashboardCaller, ApiError> {
        authenticated(parts)?;
        Err(ApiError::Forbidden("this address is for the dashboard, not for API keys"))
    }
}
