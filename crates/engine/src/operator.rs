//! What an operator can see and do: the health of all projects, and which of them may take payments.

mod banks;
mod refunds;
mod users;

use domain::{
    access::Role,
    audit::Deed,
    id::{LetterId, ProjectId},
    language::Language,
    project::{Environment, Project},
    user::{Email, INVITE_LIFETIME, Invite, Token, User},
};
use store::{AuditFilter, LetterFilter, Listed, PeopleWrite, ProjectHealth, Window, Write};

use crate::{
    Audited, Engine, Error, NewProject, ProjectUpdate, ShownLetter, Visit, desk::first_owner, forms::is_form_used,
    fresh_proof::Prover,
};

pub use refunds::WaitingRefund;

/// An operator, signed in.
#[derive(Clone)]
pub struct Operator {
    /// Used by this operator, for the audit log.
    engine: Engine,
    user: User,
    prover: Prover,
}

impl Engine {
    /// The operator's pages; for all other users they do not exist.
    pub fn operator(&self, visit: &Visit) -> Result<Operator, Error> {
        if !visit.user.is_operator {
            return Err(Error::NotFound("page"));
        }
        self.check_factor(visit, false)?;
        Ok(Operator { engine: self.by(visit.actor()), user: visit.user.clone(), prover: visit.prover() })
    }
}

impl Operator {
    /// An error where the operator has to prove first that they are there, before they do what weighs much.
    pub async fn fresh_proof(&self) -> Result<(), Error> {
        self.engine.check_proof(self.prover).await
    }

    /// One page of the health of all projects, or of those that wait for an approval.
    pub async fn projects(&self, only_waiting: bool, window: Window) -> Result<Listed<ProjectHealth>, Error> {
        Ok(self.engine.store.project_healths(only_waiting, window).await?)
    }

    /// How many projects there are, or how many wait for an approval.
    pub async fn count_projects(&self, only_waiting: bool) -> Result<i64, Error> {
        Ok(self.engine.store.count_projects(only_waiting).await?)
    }

    pub async fn project_health(&self, id: ProjectId) -> Result<ProjectHealth, Error> {
        self.engine.store.project_health(id).await?.ok_or(Error::NotFound("project"))
    }

    pub async fn project(&self, id: ProjectId) -> Result<Project, Error> {
        self.engine.project(id).await
    }

    /// Letters of the whole installation, newest first.
    pub async fn letters(&self, filter: &LetterFilter, window: Window) -> Result<Listed<ShownLetter>, Error> {
        self.engine.letters(filter, window).await
    }

    /// Queues a letter once more that has ended.
    pub async fn send_letter_again(&self, id: LetterId) -> Result<(), Error> {
        self.engine.send_letter_again(id).await
    }

    /// The host that notices for operators go to; none where no URL is set.
    pub fn notices_go_to(&self) -> Option<String> {
        self.engine.operator_notices_go_to()
    }

    /// Queues a notice for operators that says nothing but that notices arrive.
    pub async fn test_notice(&self) -> Result<(), Error> {
        self.engine.test_operator_notice().await
    }

    /// Approves a production project, so that it may take payments, or withdraws the approval.
    pub async fn approve(&self, id: ProjectId, approved: bool) -> Result<Project, Error> {
        if self.engine.project(id).await?.environment != Environment::Production {
            return Err(Error::NotProduction);
        }
        self.fresh_proof().await?;
        let update = ProjectUpdate { approved: Some(approved), ..ProjectUpdate::default() };
        self.engine.update_project(id, update).await
    }

    pub async fn activate(&self, id: ProjectId, active: bool) -> Result<Project, Error> {
        self.fresh_proof().await?;
        let update = ProjectUpdate { active: Some(active), ..ProjectUpdate::default() };
        self.engine.update_project(id, update).await
    }

    /// Creates a project for `owner`. If that is the operator, they own it at once; anybody else gets an invitation,
    /// by letter in that language. `form` identifies one filled-in form: sent twice, it creates one project.
    pub async fn create_project(
        &self,
        name: String,
        environment: Environment,
        owner: &str,
        language: Language,
        form: Option<&str>,
    ) -> Result<(Project, Option<Token>), Error> {
        let owner = Email::parse(owner)?;
        self.fresh_proof().await?;
        let fields = [name.as_str(), environment.word(), owner.as_str()];
        let form = self.engine.sent_form(self.user.id, "project of another", form, &fields);
        let is_own = owner == self.user.email;
        let token = (!is_own).then(|| form.token());
        if let Some(created) = self.engine.project_of_form(&form).await? {
            return Ok((created, token));
        }
        let besides = |project: &Project| {
            let sent = form.sent(project.id, project.created_at).map(Write::from);
            let owned = match &token {
                None => vec![first_owner(project, self.user.id).into()],
                Some(token) => self.invitation(project, &owner, language, token)?,
            };
            Ok(sent.into_iter().chain(owned).collect::<Vec<Write>>())
        };
        let new = NewProject { name, environment, merchant_name: None };
        match self.engine.create_project_with(new, besides).await {
            Ok((project, _)) => Ok((project, token)),
            Err(error) if is_form_used(&error) => {
                Ok((self.engine.project_of_form(&form).await?.ok_or(Error::FormUsed)?, token))
            }
            Err(error) => Err(error),
        }
    }

    /// Invites the owner of a new project.
    fn invitation(
        &self,
        project: &Project,
        owner: &Email,
        language: Language,
        token: &Token,
    ) -> Result<Vec<Write>, Error> {
        let now = self.engine.now();
        let invite = Invite {
            id: self.engine.mint(now),
            project_id: project.id,
            email: owner.clone(),
            role: Role::Owner,
            created_at: now,
            expires_at: now.plus(INVITE_LIFETIME),
            created_by: Some(self.user.id),
        };
        let line = self.engine.audit(Some(project.id), Deed::MemberInvited, owner, Role::Owner.word());
        let letter = self.engine.invitation_letter(project, &self.user, language, &invite, token)?;
        Ok([PeopleWrite::Invited { invite, hash: token.hash() }.into(), line].into_iter().chain(letter).collect())
    }

    /// The whole audit log: of all projects, and of the installation.
    pub async fn audit(&self, window: Window) -> Result<Listed<Audited>, Error> {
        self.engine.audited(None, &AuditFilter::default(), window).await
    }
}
