//! Who calls, and whether they may: the first checks of every `/v1` request, in the contract's order.
//!
//! Whoever sends `Authorization` is judged by their key alone. Only where the route says so, and only without that header, a
//! session of the dashboard is looked at instead.

mod session;

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{Extensions, HeaderMap, HeaderValue, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use domain::{
    access::Act,
    api_key::KeySecret,
    id::{KeyId, ProjectId},
    project::{Environment, Project},
};
use engine::{Desk, KeyOwner};

use crate::{
    app::App,
    client, cors, dashboard,
    error::ApiError,
    front::{LoggedAs, LoggedCaller},
    limit::{Limited, Standing},
};

/// Who called, put beside the request once that is known.
#[derive(Clone)]
enum Authenticated {
    /// A live key.
    Key(KeyOwner),
    /// Somebody who is signed in, at the desk of the project that the request names.
    Session(Arc<Desk>),
}

/// The project whose key was sent, usable or not: enough to revoke a key.
pub(crate) struct AnyCaller {
    pub(crate) key_id: KeyId,
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

/// Whoever may read what happened in a usable project: its keys, and its members.
pub(crate) struct Reader {
    pub(crate) project_id: ProjectId,
}

/// A member of the project, whatever their role. Nobody with a key: these addresses are for sessions of the dashboard.
pub(crate) struct Member(pub(crate) Arc<Desk>);

/// A member whose role goes as far as keys. The desk asks again; here it is asked before anybody looks at the body.
pub(crate) struct KeyMaker(pub(crate) Arc<Desk>);

/// Takes a session of the dashboard where no key is sent. Whoever has neither is told about keys.
pub(crate) async fn by_key_or_session(State(app): State<App>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let has_session = dashboard::session::token(&app.shared.place, headers).is_some();
    match has_session && !headers.contains_key(header::AUTHORIZATION) {
        true => session::attend(app, request, next).await,
        false => by_key(State(app), request, next).await,
    }
}

/// Checks key, origin and rate; then lets the request through and writes on the answer what was found.
pub(crate) async fn by_key(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let owner = match key_owner(&app, request.headers(), request.extensions()).await {
        Ok(owner) => owner,
        Err(refusal) => return refusal.into_response(),
    };
    let logged = LoggedCaller { project_id: Some(owner.project.id), who: LoggedAs::Key(owner.key_id) };
    let standing = app.shared.limits.request(Limited::Key(owner.key_id));
    let (origin, mut response) = match cors::allowed_origin(&app, owner.project.id, request.headers()).await {
        Err(refusal) => (None, refusal.into_response()),
        Ok(origin) => match standing.and_then(|standing| standing.retry_after) {
            Some(retry_after) => (origin, ApiError::RateLimited { retry_after }.into_response()),
            None => {
                request.extensions_mut().insert(Authenticated::Key(owner));
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

/// The refusal of somebody who is not known, which is counted by where they come from.
fn unknown_caller(app: &App, headers: &HeaderMap, extensions: &Extensions, reason: &'static str) -> ApiError {
    let address = client::address(extensions, headers, &app.shared.trusted_proxies);
    match app.shared.limits.failed_login(client::limited_as(address)) {
        Some(retry_after) => ApiError::RateLimited { retry_after },
        None => ApiError::Unauthorized(reason),
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

fn authenticated(parts: &Parts) -> Result<&Authenticated, ApiError> {
    parts.extensions.get::<Authenticated>().ok_or(ApiError::Unauthorized("no API key was checked"))
}

/// The live key that was sent. Routes that ask for one never get a session.
fn key(parts: &Parts) -> Result<&KeyOwner, ApiError> {
    match authenticated(parts)? {
        Authenticated::Key(owner) => Ok(owner),
        Authenticated::Session(_) => Err(ApiError::Unauthorized("this address needs an API key")),
    }
}

fn desk(parts: &Parts) -> Result<&Arc<Desk>, ApiError> {
    match authenticated(parts)? {
        Authenticated::Key(_) => Err(ApiError::Forbidden("this address is for the dashboard, not for API keys")),
        Authenticated::Session(desk) => Ok(desk),
    }
}

fn check_usable(project: &Project) -> Result<(), ApiError> {
    if project.is_usable() { Ok(()) } else { Err(ApiError::ProjectUnavailable) }
}

impl FromRequestParts<App> for AnyCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<AnyCaller, ApiError> {
        let KeyOwner { key_id, project } = key(parts)?.clone();
        Ok(AnyCaller { key_id, project })
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Caller, ApiError> {
        let project = Arc::clone(&key(parts)?.project);
        check_usable(&project)?;
        Ok(Caller { project })
    }
}

impl FromRequestParts<App> for SandboxCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<SandboxCaller, ApiError> {
        let project = Arc::clone(&key(parts)?.project);
        if project.environment != Environment::Sandbox {
            return Err(ApiError::Forbidden("only a sandbox key may simulate payments"));
        }
        check_usable(&project)?;
        Ok(SandboxCaller { project })
    }
}

impl FromRequestParts<App> for Reader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Reader, ApiError> {
        let project: &Project = match authenticated(parts)? {
            Authenticated::Key(owner) => &owner.project,
            Authenticated::Session(desk) if desk.may(Act::Look) => desk.project(),
            Authenticated::Session(_) => return Err(engine::Error::RoleForbids.into()),
        };
        check_usable(project)?;
        Ok(Reader { project_id: project.id })
    }
}

impl FromRequestParts<App> for Member {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Member, ApiError> {
        desk(parts).map(|desk| Member(Arc::clone(desk)))
    }
}

impl FromRequestParts<App> for KeyMaker {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<KeyMaker, ApiError> {
        let desk = desk(parts)?;
        if desk.may(Act::ManageKeys) { Ok(KeyMaker(Arc::clone(desk))) } else { Err(engine::Error::RoleForbids.into()) }
    }
}
