//! Extractors for authenticated callers. Which one a handler takes says what the endpoint demands of its caller; every other
//! caller is refused before the handler runs.

use std::sync::Arc;

use axum::{extract::FromRequestParts, http::request::Parts};
use domain::{
    access::Act,
    id::{KeyId, ProjectId},
    key_rights::{KeyRight, KeyRights},
    project::{Environment, Project},
};
use engine::{Desk, KeyOwner};
use web::App;

use crate::error::ApiError;

/// The authenticated caller, in the request's extensions.
#[derive(Clone)]
pub(super) enum Authenticated {
    /// A valid API key.
    Key(KeyOwner),
    /// A signed-in user, as the desk of the project that the request names.
    Session(Arc<Desk>),
}

/// A caller with an API key, even if the project is not usable: enough to revoke a key.
pub(crate) struct KeyRevoker {
    pub(crate) key_id: KeyId,
    pub(crate) project: Arc<Project>,
    rights: KeyRights,
}

impl KeyRevoker {
    /// A key may always revoke itself; others it may revoke only with the right over payments.
    pub(crate) fn check(&self, revoked: Option<KeyId>) -> Result<(), ApiError> {
        if revoked == Some(self.key_id) { Ok(()) } else { check_right(self.rights, KeyRight::Payments) }
    }
}

/// A caller with an API key of a usable project. It may only read.
pub(crate) struct Caller {
    pub(crate) project: Arc<Project>,
}

/// A caller with an API key of a usable project that has the right over payments.
pub(crate) struct PaymentsCaller {
    pub(crate) project: Arc<Project>,
}

/// A caller with an API key of a usable project that has the right over refunds.
pub(crate) struct RefundsCaller(pub(crate) KeyOwner);

/// The same of a sandbox project.
pub(crate) struct RefundSimulator(pub(crate) KeyOwner);

/// A caller with an API key of a usable sandbox project that has the right over payments.
pub(crate) struct SandboxCaller {
    pub(crate) project: Arc<Project>,
}

/// An API key or a member that may read the events and receipts of a usable project.
pub(crate) struct Reader {
    pub(crate) project_id: ProjectId,
}

/// An API key or a member that may read the refunds of a usable project.
pub(crate) struct RefundReader {
    pub(crate) project_id: ProjectId,
    /// Whether the reader may give money back, and so may send customers to the pages where they claim it. A member has to have proved
    /// lately that they are there.
    pub(crate) sees_claims: bool,
}

/// A signed-in member of the project, in any role. API keys are refused.
pub(crate) struct Member(pub(crate) Arc<Desk>);

/// A signed-in member whose role may manage keys. The desk checks the role too; here it is checked before the body is read.
pub(crate) struct KeyManager(pub(crate) Arc<Desk>);

/// A signed-in member whose role may take the audit log out of the dashboard. API keys are refused.
pub(crate) struct AuditReader(pub(crate) Arc<Desk>);

/// An API key or a member that may decide about held money of a usable project. The desk checks the role too; here it is
/// checked before the body is read.
pub(crate) enum MoneyDecider {
    Key(KeyOwner),
    Member(Arc<Desk>),
}

impl MoneyDecider {
    /// Held money that is sent back is a refund too. Who may decide about held money as a member may make refunds.
    pub(crate) fn check_may_refund(&self) -> Result<(), ApiError> {
        match self {
            MoneyDecider::Key(owner) => check_right(owner.rights, KeyRight::Refunds),
            MoneyDecider::Member(desk) if desk.may(Act::Refund) => Ok(()),
            MoneyDecider::Member(_) => Err(engine::Error::RoleForbids.into()),
        }
    }
}

fn authenticated(parts: &Parts) -> Result<&Authenticated, ApiError> {
    parts.extensions.get::<Authenticated>().ok_or(ApiError::Unauthorized("no API key was checked"))
}

/// The valid key of the request.
fn key(parts: &Parts) -> Result<&KeyOwner, ApiError> {
    match authenticated(parts)? {
        Authenticated::Key(owner) => Ok(owner),
        Authenticated::Session(_) => Err(ApiError::Unauthorized("this endpoint needs an API key")),
    }
}

fn desk(parts: &Parts) -> Result<&Arc<Desk>, ApiError> {
    match authenticated(parts)? {
        Authenticated::Key(_) => {
            Err(ApiError::Forbidden("this endpoint is for users of the dashboard, not for API keys"))
        }
        Authenticated::Session(desk) => Ok(desk),
    }
}

fn check_right(rights: KeyRights, right: KeyRight) -> Result<(), ApiError> {
    if rights.has(right) { Ok(()) } else { Err(ApiError::RightMissing(right)) }
}

fn check_usable(project: &Project) -> Result<(), ApiError> {
    if project.is_usable() { Ok(()) } else { Err(ApiError::ProjectUnavailable) }
}

impl FromRequestParts<App> for KeyRevoker {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<KeyRevoker, ApiError> {
        let KeyOwner { key_id, project, rights, .. } = key(parts)?;
        Ok(KeyRevoker { key_id: *key_id, project: Arc::clone(project), rights: *rights })
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

impl FromRequestParts<App> for PaymentsCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<PaymentsCaller, ApiError> {
        let owner = key(parts)?;
        check_right(owner.rights, KeyRight::Payments)?;
        check_usable(&owner.project)?;
        Ok(PaymentsCaller { project: Arc::clone(&owner.project) })
    }
}

impl FromRequestParts<App> for SandboxCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<SandboxCaller, ApiError> {
        let owner = key(parts)?;
        check_right(owner.rights, KeyRight::Payments)?;
        let project = Arc::clone(&owner.project);
        check_sandbox(&project, "only a sandbox key may simulate payments")?;
        check_usable(&project)?;
        Ok(SandboxCaller { project })
    }
}

fn check_sandbox(project: &Project, refusal: &'static str) -> Result<(), ApiError> {
    if project.environment == Environment::Sandbox { Ok(()) } else { Err(ApiError::Forbidden(refusal)) }
}

impl FromRequestParts<App> for RefundsCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<RefundsCaller, ApiError> {
        let owner = key(parts)?;
        check_right(owner.rights, KeyRight::Refunds)?;
        check_usable(&owner.project)?;
        Ok(RefundsCaller(owner.clone()))
    }
}

impl FromRequestParts<App> for RefundSimulator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<RefundSimulator, ApiError> {
        let owner = key(parts)?;
        check_right(owner.rights, KeyRight::Refunds)?;
        check_sandbox(&owner.project, "only a sandbox key may simulate refunds")?;
        check_usable(&owner.project)?;
        Ok(RefundSimulator(owner.clone()))
    }
}

impl FromRequestParts<App> for RefundReader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<RefundReader, ApiError> {
        let (project, sees_claims): (&Project, bool) = match authenticated(parts)? {
            Authenticated::Key(owner) => (&owner.project, owner.rights.has(KeyRight::Refunds)),
            Authenticated::Session(desk) if desk.may(Act::Look) => (desk.project(), desk.sees_claims().await?),
            Authenticated::Session(_) => return Err(engine::Error::RoleForbids.into()),
        };
        check_usable(project)?;
        Ok(RefundReader { project_id: project.id, sees_claims })
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

impl FromRequestParts<App> for KeyManager {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<KeyManager, ApiError> {
        let desk = desk(parts)?;
        if desk.may(Act::ManageKeys) {
            Ok(KeyManager(Arc::clone(desk)))
        } else {
            Err(engine::Error::RoleForbids.into())
        }
    }
}

impl FromRequestParts<App> for AuditReader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<AuditReader, ApiError> {
        let desk = desk(parts)?;
        if desk.may(Act::ExportAudit) {
            Ok(AuditReader(Arc::clone(desk)))
        } else {
            Err(engine::Error::RoleForbids.into())
        }
    }
}

impl FromRequestParts<App> for MoneyDecider {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<MoneyDecider, ApiError> {
        let (project, decider): (&Project, MoneyDecider) = match authenticated(parts)? {
            Authenticated::Key(owner) => {
                check_right(owner.rights, KeyRight::HeldMoney)?;
                (&owner.project, MoneyDecider::Key(owner.clone()))
            }
            Authenticated::Session(desk) if desk.may(Act::DecideReceipts) => {
                (desk.project(), MoneyDecider::Member(Arc::clone(desk)))
            }
            Authenticated::Session(_) => return Err(engine::Error::RoleForbids.into()),
        };
        check_usable(project)?;
        Ok(decider)
    }
}
