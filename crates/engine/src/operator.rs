//! What an operator can see and do: the health of all projects, and which of them may take payments.

use domain::{
    access::Role,
    audit::Deed,
    id::ProjectId,
    project::{Environment, Project},
    user::{Email, INVITE_LIFETIME, Invite, Token, User},
};
use store::{Listed, PeopleWrite, ProjectHealth, Window};

use crate::{Audited, Engine, Error, NewProject, ProjectUpdate, Visit, desk::first_owner, people::new_token};

/// An operator, signed in.
#[derive(Clone)]
pub struct Operator {
    /// Used by this operator, for the audit log.
    engine: Engine,
    user: User,
}

impl Engine {
    /// The operator's pages; for all other users they do not exist.
    pub fn operator(&self, visit: &Visit) -> Result<Operator, Error> {
        match visit.user.is_operator {
            true => Ok(Operator { engine: self.by(visit.actor()), user: visit.user.clone() }),
            false => Err(Error::NotFound("page")),
        }
    }
}

impl Operator {
    /// The health of every project.
    pub async fn projects(&self) -> Result<Vec<ProjectHealth>, Error> {
        Ok(self.engine.store.project_health().await?)
    }

    pub async fn project(&self, id: ProjectId) -> Result<Project, Error> {
        self.engine.project(id).await
    }

    pub async fn users(&self) -> Result<Vec<User>, Error> {
        self.engine.users().await
    }

    /// Approves a production project, so that it may take payments, or withdraws the approval.
    pub async fn approve(&self, id: ProjectId, approved: bool) -> Result<Project, Error> {
        if self.engine.project(id).await?.environment != Environment::Production {
            return Err(Error::NotProduction);
        }
        let update = ProjectUpdate { approved: Some(approved), ..ProjectUpdate::default() };
        self.engine.update_project(id, update).await
    }

    pub async fn activate(&self, id: ProjectId, active: bool) -> Result<Project, Error> {
        let update = ProjectUpdate { active: Some(active), ..ProjectUpdate::default() };
        self.engine.update_project(id, update).await
    }

    /// Creates a project for `owner`. If that is the operator, they own it at once; anybody else gets an invitation.
    pub async fn create_project(
        &self,
        name: String,
        environment: Environment,
        owner: &str,
    ) -> Result<(Project, Option<Token>), Error> {
        let owner = Email::parse(owner)?;
        let new = NewProject { name, environment, merchant_name: None };
        if owner == self.user.email {
            let owner = |project: &Project| vec![first_owner(project, self.user.id)];
            return Ok((self.engine.create_project_with(new, owner).await?.0, None));
        }
        let (token, now) = (new_token(), self.engine.now());
        let invitation = |project: &Project| {
            let invite = Invite {
                id: self.engine.mint(now),
                project_id: project.id,
                email: owner.clone(),
                role: Role::Owner,
                created_at: now,
                expires_at: now.plus(INVITE_LIFETIME),
            };
            let line = self.engine.audit(Some(project.id), Deed::MemberInvited, &owner, Role::Owner.word());
            vec![PeopleWrite::Invited { invite, hash: token.hash() }.into(), line]
        };
        let (project, _) = self.engine.create_project_with(new, invitation).await?;
        Ok((project, Some(token)))
    }

    /// The whole audit log: of all projects, and of the installation.
    pub async fn audit(&self, window: Window) -> Result<Listed<Audited>, Error> {
        self.engine.audited(None, window).await
    }
}
