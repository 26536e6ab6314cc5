//! Who called, as handlers ask for it: each extractor here names what its endpoint needs of a caller.

use std::sync::Arc;

use axum::{extract::FromRequestParts, http::request::Parts};
use domain::{
    access::Act,
    id::{KeyId, ProjectId},
    project::{Environment, Project},
};
use engine::{Desk, KeyOwner};
use web::App;

use crate::error::ApiError;

/// Who called, kept in the request's extensions once that is known.
#[derive(Clone)]
pub(super) enum Authenticated {
    /// A live key.
    Key(KeyOwner),
    /// A user who is signed in, at the desk of the project that the request names.
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

/// A key or a member that may read what happened in a usable project.
pub(crate) struct Reader {
    pub(crate) project_id: ProjectId,
}

/// A member of the project, with any role. Keys are refused: these addresses are for sessions of the dashboard.
pub(crate) struct Member(pub(crate) Arc<Desk>);

/// A member whose role allows keys. The desk asks again; here it is asked before the body is read.
pub(crate) struct KeyMaker(pub(crate) Arc<Desk>);

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
