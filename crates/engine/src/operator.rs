//! What whoever runs the installation can see and do: how all projects fare, and which of them may take money.

use domain::{
    access::Role,
    audit::Deed,
    id::ProjectId,
    project::{Environment, Project},
    user::{Email, INVITE_LIFETIME, Invite, Token, User},
};
use store::{Listed, ProjectHealth, Window, Write};

use crate::{Audited, Engine, Error, NewProject, ProjectUpdate, Visit, people::new_token};

/// Somebody who runs the installation.
#[derive(Clone)]
pub struct Operator {
    /// In this person's hands.
    engine: Engine,
    user: User,
}

impl Engine {
    /// The operator's desk; for everybody else there is none.
    pub fn operator(&self, visit: &Visit) -> Result<Operator, Error> {
        match visit.user.is_operator {
            true => Ok(Operator { engine: self.by(visit.actor()), user: visit.user.clone() }),
            false => Err(Error::NotFound("page")),
        }
    }
}

impl Operator {
    /// Every project, and how it fares.
    pub async fn projects(&self) -> Result<Vec<ProjectHealth>, Error> {
        Ok(self.engine.store.project_health().await?)
    }

    pub async fn project(&self, id: ProjectId) -> Result<Project, Error> {
        self.engine.project(id).await
    }

    pub async fn users(&self) -> Result<Vec<User>, Error> {
        self.engine.users().await
    }

    /// Says whether a production project may take money.
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

    /// Makes a project for `owner`. Operators own it at once; anybody else takes up the invitation that comes with it.
    pub async fn create_project(
        &self,
        name: String,
        environment: Environment,
        owner: &str,
    ) -> Result<(Project, Option<Token>), Error> {
        let owner = Email::parse(owner)?;
        let new = NewProject { name, environment, merchant_name: None };
        if owner == self.user.email {
            let user_id = self.user.id;
            let membership = |project: &Project| {
                vec![Write::Member { project_id: project.id, user_id, role: Role::Owner, at: project.created_at }]
            };
            return Ok((self.engine.found_project(new, membership).await?.0, None));
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
            vec![Write::Invite { invite, hash: token.hash() }, line]
        };
        let (project, _) = self.engine.found_project(new, invitation).await?;
        Ok((project, Some(token)))
    }

    /// Everything that was written down, of all projects and of none.
    pub async fn audit(&self, window: Window) -> Result<Listed<Audited>, Error> {
        self.engine.audited(None, window).await
    }
}
