//! Accepting invitations. An invitation is a link that makes the person it names a member, once.

use domain::{
    audit::{Actor, Deed},
    id::ProjectId,
    project::Project,
    rules::Invalid,
    user::{Invite, Token, User, UserState, check_password},
};
use secrecy::{ExposeSecret, SecretString};
use store::{Change, CommitError, Guard, PeopleWrite};

use crate::{Engine, Error, NewSession, SignIn, Visit, Whereabouts};

/// What the page of an invitation shows.
#[derive(Clone, Debug)]
pub struct Invitation {
    pub invite: Invite,
    pub project: Project,
    /// Whether the invited person already has an account.
    pub has_account: bool,
}

impl Engine {
    /// An invitation that can still be accepted. Reading it changes nothing.
    pub async fn invitation(&self, token: &Token) -> Result<Invitation, Error> {
        let now = self.now();
        let invite = self.store.invite(token.hash()).await?.filter(|invite| invite.is_open_at(now));
        let invite = invite.ok_or(Error::NotFound("invitation"))?;
        let project = self.project(invite.project_id).await?;
        let has_account = self.store.user_by_email(&invite.email).await?.is_some();
        Ok(Invitation { invite, project, has_account })
    }

    /// Accepts an invitation with a new account, and signs the new user in.
    pub async fn join_with_new_account(
        &self,
        token: &Token,
        password: SecretString,
        from: &Whereabouts,
    ) -> Result<NewSession, Error> {
        let Invitation { invite, has_account, .. } = self.invitation(token).await?;
        if has_account {
            return Err(Error::Taken("that address"));
        }
        check_password(password.expose_secret())?;
        let password = self.hasher.hash(password).await?;
        let now = self.now();
        let user = User {
            id: self.mint(now),
            email: invite.email.clone(),
            is_operator: false,
            state: UserState::Active,
            created_at: now,
        };
        let actor = self.by(Actor::User { id: user.id, address: from.address.clone() });
        let change = Change::from(PeopleWrite::UserCreated { user: user.clone(), password: password.clone() })
            .with(actor.audit(None, Deed::UserCreated, &user.email, ""));
        let change = actor.with_membership(change, &invite, &user);
        self.begin_session(change, &user, &password, from, false).await.map_err(not_accepted)
    }

    /// Accepts an invitation for the user who is signed in.
    pub async fn join(&self, visit: &Visit, token: &Token) -> Result<Project, Error> {
        let Invitation { invite, project, .. } = self.invitation(token).await?;
        if invite.email != visit.user.email {
            return Err(Invalid::new("email", "is not the one that was invited").into());
        }
        let change = self.by(visit.actor()).with_membership(Change::default(), &invite, &visit.user);
        self.store.commit(change).await.map_err(|error| not_accepted(error.into()))?;
        Ok(project)
    }

    /// The project of an invitation that the user who is signed in has accepted before, while they are a member: its
    /// form was sent twice.
    pub async fn joined_before(&self, visit: &Visit, token: &Token) -> Result<Option<ProjectId>, Error> {
        let used = self.store.invite_used_by(token.hash(), self.now()).await?;
        Ok(used.filter(|(_, user_id, _)| *user_id == visit.user.id).map(|(project_id, ..)| project_id))
    }

    /// Signs in the user who has accepted an invitation with a new account, whose form was sent twice. None where the
    /// password is not theirs.
    pub async fn join_again(
        &self,
        token: &Token,
        password: SecretString,
        from: &Whereabouts,
    ) -> Result<Option<(ProjectId, NewSession)>, Error> {
        let used = self.store.invite_used_by(token.hash(), self.now()).await?;
        let Some((project_id, _, email)) = used else { return Ok(None) };
        match self.sign_in(email.as_str(), password, from).await? {
            SignIn::Done(session) => Ok(Some((project_id, session))),
            // Who has added a second factor since signs in as everybody else does.
            SignIn::Refused | SignIn::CodeNeeded { .. } | SignIn::Wait { .. } => Ok(None),
        }
    }

    fn with_membership(&self, change: Change, invite: &Invite, user: &User) -> Change {
        let Invite { id, project_id, role, .. } = *invite;
        let at = self.now();
        change
            .with(PeopleWrite::InviteUsed { id, user_id: user.id, at })
            .with(PeopleWrite::MemberAdded { project_id, user_id: user.id, role, at })
            .with(self.audit(Some(project_id), Deed::MemberJoined, &user.email, role.word()))
    }
}

/// The error for a guest whose invitation could not be accepted.
fn not_accepted(error: Error) -> Error {
    match error {
        Error::UnexpectedConflict(CommitError::Conflict(Guard::InviteOpen)) => Error::NotFound("invitation"),
        Error::UnexpectedConflict(CommitError::Conflict(Guard::EmailFree)) => Error::Taken("that address"),
        Error::UnexpectedConflict(CommitError::Conflict(Guard::UserPresent)) => Error::NotFound("user"),
        Error::UnexpectedConflict(CommitError::Conflict(Guard::NotMember)) => Error::Taken("that membership"),
        other => other,
    }
}
