//! A project's desk: everything that a signed-in member can see and do in one project.
//!
//! A desk needs a live session and a membership, every action checks the member's role first, and nothing reaches
//! another project. So pages need not check any of that themselves.

mod customers;
mod letters;
mod link_names;
mod members;
mod money;
mod notices;
mod reads;
mod refunds;
mod search;
mod webhooks;

use std::{collections::HashMap, sync::Arc};

use domain::{
    access::{Act, Role},
    api_key::{ApiKey, KeySecret, KeyState, Overlap},
    audit::Deed,
    fee::FeeSchedule,
    id::{KeyId, LinkId, ProjectId, SessionId, UserId},
    idempotency::{Endpoint, Idempotency},
    key_rights::{KeyRight, KeyRights},
    link::Link,
    link_edit::{EditRefusal, LinkTerms},
    method::Method,
    orders::LinkRequest,
    project::{Environment, Project},
    time::Timestamp,
    user::User,
};
use store::{Change, CommitError, FactorWrite, Guard, PeopleWrite, Write};

use crate::{
    Created, Engine, Error, MethodStanding, NewKey, NewProject, ProjectUpdate, RotatedKey, Visit,
    forms::{SentForm, is_form_used},
    fresh_proof::Prover,
};

pub use customers::CustomerFile;
pub use money::DECISIONS_MOST;
pub use reads::{Day, Home, PaymentFile, Sent};
pub use refunds::{
    Approval, ListedRefund, NamedParty, OpenClaim, ReadyTransfers, RefundFile, RefundOutlook, RefundSum,
    RefundsWaiting, Sending,
};
pub use search::{FoundCustomer, Jump, SearchResults};

/// Projects that one user may own.
const PROJECTS_MOST: i64 = 50;

/// A member at a project's desk.
#[derive(Clone)]
pub struct Desk {
    /// Used by this member, for the audit log.
    engine: Engine,
    user: User,
    session_id: SessionId,
    prover: Prover,
    role: Role,
    project: Arc<Project>,
}

/// A key as it is listed.
#[derive(Clone, Debug)]
pub struct KeyShown {
    pub key: ApiKey,
    /// Exact to the minute.
    pub last_used_at: Option<Timestamp>,
    pub state: KeyState,
    /// Whether nobody has used it for so long that it is probably not needed any more.
    pub is_unused: bool,
}

impl Engine {
    /// The desk of a project, for its members whose role may look at it; for users who are no members the project does not
    /// exist.
    pub async fn desk(&self, visit: &Visit, project_id: ProjectId) -> Result<Desk, Error> {
        let membership = self.store.membership(visit.user.id, project_id).await?.ok_or(Error::NotFound("project"))?;
        if !membership.role.may(Act::Look) {
            return Err(Error::RoleForbids);
        }
        self.check_factor(visit, membership.needs_factor)?;
        let project = self.project_at(project_id, membership.project_version).await?;
        Ok(Desk {
            engine: self.by(visit.actor()),
            user: visit.user.clone(),
            session_id: visit.session.id,
            prover: visit.prover(),
            role: membership.role,
            project,
        })
    }

    /// Whether a user may create projects: operators and owners of a project may.
    pub async fn may_create_project(&self, visit: &Visit) -> Result<bool, Error> {
        Ok(visit.user.is_operator || self.store.owned_projects(visit.user.id).await? > 0)
    }

    /// Creates a project that the signed-in user owns. A production project waits for an operator's approval. `form`
    /// identifies one filled-in form: sent twice, it creates one project.
    pub async fn create_owned_project(
        &self,
        visit: &Visit,
        name: String,
        environment: Environment,
        form: Option<&str>,
    ) -> Result<Project, Error> {
        let form = self.sent_form(visit.user.id, "project", form, &[&name, environment.word()]);
        if let Some(created) = self.project_of_form(&form).await? {
            return Ok(created);
        }
        self.check_factor(visit, false)?;
        let owned = self.store.owned_projects(visit.user.id).await?;
        if owned == 0 && !visit.user.is_operator {
            return Err(Error::RoleForbids);
        }
        if owned >= PROJECTS_MOST {
            return Err(Error::TooMany { what: "projects", most: PROJECTS_MOST });
        }
        let new = NewProject { name, environment, merchant_name: None };
        let besides = |project: &Project| {
            let sent = form.sent(project.id, project.created_at).map(Write::from);
            Ok(sent.into_iter().chain([first_owner(project, visit.user.id).into()]).collect::<Vec<Write>>())
        };
        match self.by(visit.actor()).create_project_with(new, besides).await {
            Ok((project, _)) => Ok(project),
            Err(error) if is_form_used(&error) => self.project_of_form(&form).await?.ok_or(Error::FormUsed),
            Err(error) => Err(error),
        }
    }
}

/// The membership of a new project's owner.
pub(crate) fn first_owner(project: &Project, user_id: UserId) -> PeopleWrite {
    PeopleWrite::MemberAdded { project_id: project.id, user_id, role: Role::Owner, at: project.created_at }
}

/// The error for a member whose role was taken away while they acted.
fn role_lost(error: Error) -> Error {
    match error {
        Error::UnexpectedConflict(CommitError::Conflict(Guard::RoleHeld)) => Error::RoleForbids,
        other => other,
    }
}

impl Desk {
    pub fn project(&self) -> &Project {
        &self.project
    }

    pub fn role(&self) -> Role {
        self.role
    }

    pub fn user(&self) -> &User {
        &self.user
    }

    pub fn may(&self, act: Act) -> bool {
        self.role.may(act)
    }

    pub fn fees(&self) -> FeeSchedule {
        self.engine.fees(&self.project)
    }

    /// Whether the methods of this project can take real money, if it is one for production: those that it offers, or
    /// that an account is assigned to. A sandbox has none.
    pub async fn method_standings(&self) -> Result<Vec<(Method, MethodStanding)>, Error> {
        match self.project.environment {
            Environment::Production => self.engine.method_standings(&self.project).await,
            Environment::Sandbox => Ok(Vec::new()),
        }
    }

    fn id(&self) -> ProjectId {
        self.project.id
    }

    fn check(&self, act: Act) -> Result<(), Error> {
        if self.may(act) { Ok(()) } else { Err(Error::RoleForbids) }
    }

    /// An error where the member has to prove first that they are there, before they do what weighs much.
    pub async fn fresh_proof(&self) -> Result<(), Error> {
        self.engine.check_proof(self.prover).await
    }

    /// An unusable project can do as little here as through its API keys.
    fn check_usable(&self) -> Result<(), Error> {
        if self.project.is_usable() { Ok(()) } else { Err(Error::ProjectUnusable) }
    }

    pub async fn keys(&self) -> Result<Vec<KeyShown>, Error> {
        let keys = self.engine.store.keys(self.id()).await?;
        let uses: HashMap<KeyId, Timestamp> = self.engine.store.key_uses(self.id()).await?.into_iter().collect();
        let now = self.engine.now();
        let shown = |key: ApiKey| {
            let last_used_at = uses.get(&key.id).copied();
            KeyShown { last_used_at, state: key.state_at(now), is_unused: key.is_unused(last_used_at, now), key }
        };
        Ok(keys.into_iter().rev().map(shown).collect())
    }

    /// Whether the member may create keys with this right.
    pub fn may_give(&self, right: KeyRight) -> bool {
        self.role.may_give(right)
    }

    /// An error where the member may not create keys with these rights.
    pub fn check_giving(&self, rights: KeyRights) -> Result<(), Error> {
        if rights.iter().all(|right| self.may_give(right)) { Ok(()) } else { Err(Error::RightNotGiven) }
    }

    /// The same, where a right over money wants a fresh proof too.
    async fn check_giving_now(&self, rights: KeyRights) -> Result<(), Error> {
        self.check_giving(rights)?;
        if rights.are_over_money() { self.fresh_proof().await } else { Ok(()) }
    }

    /// Creates a key. `form` identifies one filled-in form: sent twice, it creates one key, and answers with it again. A
    /// member who has become a developer does not see the secret of a key over money again.
    pub async fn create_key(&self, new: NewKey, form: Option<&str>) -> Result<(ApiKey, KeySecret), Error> {
        self.check(Act::ManageKeys)?;
        self.check_giving_now(new.rights).await?;
        let (rights, networks) = (new.rights.words().join(","), new.networks.words().join(","));
        let form = self.sent_form("key", form, &[&new.name, &rights, &networks]);
        if self.engine.created_by_form(&form).await?.is_some() {
            return self.key_of_form(&form).await;
        }
        let besides = |key: &ApiKey| {
            let sent = form.sent(key.id, key.created_at).map(Write::from);
            sent.into_iter().chain([self.role_held()]).collect()
        };
        match self.engine.create_key_with(self.id(), new, form.seed(), besides).await {
            Err(error) if is_form_used(&error) => self.key_of_form(&form).await,
            created => created.map_err(role_lost),
        }
    }

    /// Replaces a key by a new one with its name, rights and networks; the old one goes on for the overlap. `form` identifies
    /// one filled-in form: sent twice, it creates one key, and answers with it again.
    pub async fn rotate_key(&self, id: KeyId, overlap: Overlap, form: Option<&str>) -> Result<RotatedKey, Error> {
        self.check(Act::ManageKeys)?;
        let old = self.key(id).await?;
        self.check_giving_now(old.rights).await?;
        let form = self.sent_form("rotated key", form, &[&id.to_string(), &overlap.hours().to_string()]);
        if self.engine.created_by_form(&form).await?.is_some() {
            return self.engine.rotated_key_of_seed(&old, form.seed()).await;
        }
        let besides = |key: &ApiKey| {
            let sent = form.sent(key.id, key.created_at).map(Write::from);
            sent.into_iter().chain([self.role_held()]).collect()
        };
        match self.engine.rotate_key_with(old, overlap, form.seed(), besides).await {
            Err(error) if is_form_used(&error) => {
                let old = self.key(id).await?;
                self.engine.rotated_key_of_seed(&old, form.seed()).await
            }
            // The same form, sent at the same time, may have replaced it.
            Err(Error::KeyReplaced) if self.engine.created_by_form(&form).await?.is_some() => {
                let old = self.key(id).await?;
                self.engine.rotated_key_of_seed(&old, form.seed()).await
            }
            rotated => rotated.map_err(role_lost),
        }
    }

    /// The key that a form has created, unless it is revoked.
    async fn key_of_form(&self, form: &SentForm) -> Result<(ApiKey, KeySecret), Error> {
        let key = self.engine.key_of_seed(self.project.environment, form.seed()).await?;
        key.ok_or(Error::FormUsed)
    }

    fn sent_form(&self, kind: &str, id: Option<&str>, fields: &[&str]) -> SentForm {
        let kind = format!("{kind} of {}", self.id());
        self.engine.sent_form(self.user.id, &kind, id, fields)
    }

    /// What a change that outlives the membership begins with: it is not committed once the member has lost their role.
    fn role_held(&self) -> Write {
        PeopleWrite::RoleHeld { project_id: self.id(), user_id: self.user.id, role: self.role }.into()
    }

    pub async fn key(&self, id: KeyId) -> Result<ApiKey, Error> {
        self.engine.key(id, Some(self.id())).await
    }

    pub async fn revoke_key(&self, id: KeyId) -> Result<ApiKey, Error> {
        self.check(Act::ManageKeys)?;
        self.engine.revoke_key(id, Some(self.id())).await
    }

    /// Creates a link. `form` identifies one filled-in form: sent twice, it creates one link.
    pub async fn create_link(&self, form: &str, request: LinkRequest) -> Result<Link, Error> {
        self.check(Act::ManageLinks)?;
        self.check_usable()?;
        // API clients cannot send a key with a space in it, so a form never collides with a request of the API.
        let key = format!("form {form}");
        let idempotency = Idempotency { project_id: self.id(), endpoint: Endpoint::Links, key, request: [0; 16] };
        match self.engine.create_link(&self.project, Some(idempotency), request).await? {
            Created::New(link) | Created::Replayed(link) => Ok(link),
        }
    }

    /// Why the member cannot change this link now; none if they can.
    pub async fn link_edit_refusal(&self, link: &Link) -> Result<Option<EditRefusal>, Error> {
        self.check(Act::ManageLinks)?;
        let is_paid = self.engine.link_is_paid(link).await?;
        Ok(link.edit_refusal(self.engine.now(), &self.project, is_paid))
    }

    /// Changes a link that is active and unpaid. `from` is what the member has seen of it.
    pub async fn edit_link(
        &self,
        id: LinkId,
        from: &LinkTerms,
        to: LinkTerms,
    ) -> Result<Result<(), EditRefusal>, Error> {
        self.check(Act::ManageLinks)?;
        self.engine.edit_link(&self.project, id, from, to).await
    }

    pub async fn cancel_link(&self, id: LinkId) -> Result<Link, Error> {
        self.check(Act::ManageLinks)?;
        self.engine.cancel_link(&self.project, id).await
    }

    /// Whether every member of the project needs a second factor.
    pub async fn requires_factor(&self) -> Result<bool, Error> {
        self.engine.requires_factor(self.id()).await
    }

    /// Demands a second factor of every member, or does so no more. Only an owner who has one may demand it.
    pub async fn require_factor(&self, required: bool) -> Result<(), Error> {
        self.check(Act::ManageMembers)?;
        self.fresh_proof().await?;
        let deed = if required { Deed::FactorRequired } else { Deed::FactorNotRequired };
        let write = FactorWrite::Required { project_id: self.id(), required, by: self.user.id, at: self.engine.now() };
        let change = Change::from(self.role_held()).with(write).with(self.engine.audit(
            Some(self.id()),
            deed,
            &self.project.name,
            "",
        ));
        match self.engine.store.commit(change).await {
            Err(CommitError::Conflict(Guard::FactorPresent)) => Err(Error::FactorMissing),
            Err(error) => Err(role_lost(error.into())),
            Ok(()) => Ok(()),
        }
    }

    /// Changes what customers and the API see. Only operators may activate or approve a project.
    pub async fn configure(&self, update: ProjectUpdate) -> Result<Project, Error> {
        self.check(Act::Configure)?;
        if update.weighs_much() {
            self.fresh_proof().await?;
        }
        let update = ProjectUpdate { active: None, approved: None, fees: None, webhook_url: None, ..update };
        self.engine.update_project(self.id(), update).await
    }
}
