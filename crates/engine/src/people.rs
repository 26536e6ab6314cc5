//! Users: creating them, their passwords and their sessions.

use std::time::Duration;

use domain::{
    access::Role,
    audit::{Actor, Deed},
    id::{ProjectId, SessionId, UserId},
    project::Project,
    second_factor::SecondFactor,
    user::{Email, Session, Token, User, UserState, check_password},
};
use letters::PasswordChange;
use secrecy::{ExposeSecret, SecretString};
use store::{Change, CommitError, Guard, OpenSession, PeopleWrite, SessionWrite, Write};

use crate::{Engine, Error, forms::random_seed};

/// How exactly the last use of a session is known; not every page is worth a write.
const SEEN_EVERY: Duration = Duration::from_mins(1);

/// A request of a signed-in user.
#[derive(Clone)]
pub struct Visit {
    pub session: Session,
    pub user: User,
    /// The user's second factor, if they have one that counts.
    pub factor: Option<SecondFactor>,
    pub(crate) address: String,
    form_token: String,
}

/// A user to create.
pub struct NewUser {
    pub email: String,
    pub password: SecretString,
    pub is_operator: bool,
}

impl Visit {
    /// The token that every form of the session carries against cross-site requests.
    pub fn form_token(&self) -> &str {
        &self.form_token
    }

    pub(crate) fn actor(&self) -> Actor {
        Actor::User { id: self.user.id, address: self.address.clone() }
    }
}

impl Engine {
    /// Creates a user.
    pub async fn create_user(&self, new: NewUser) -> Result<User, Error> {
        self.make_user(new, |_| Vec::new()).await
    }

    /// Creates a user and makes them a member in the same commit.
    pub async fn create_member(&self, new: NewUser, project_id: ProjectId, role: Role) -> Result<User, Error> {
        let project_id = self.project(project_id).await?.id;
        let membership = |user: &User| {
            let joined = self.audit(Some(project_id), Deed::MemberJoined, &user.email, role.word());
            vec![PeopleWrite::MemberAdded { project_id, user_id: user.id, role, at: user.created_at }.into(), joined]
        };
        self.make_user(new, membership).await
    }

    async fn make_user(&self, new: NewUser, besides: impl FnOnce(&User) -> Vec<Write>) -> Result<User, Error> {
        let email = Email::parse(&new.email)?;
        check_password(new.password.expose_secret())?;
        let password = self.hasher.hash(new.password).await?;
        let now = self.now();
        let state = UserState::Active;
        let user = User { id: self.mint(now), email, is_operator: new.is_operator, state, created_at: now };
        let kind = if user.is_operator { "operator" } else { "" };
        let change = Change::from(PeopleWrite::UserCreated { user: user.clone(), password })
            .with(self.audit(None, Deed::UserCreated, &user.email, kind))
            .with_all(besides(&user));
        match self.store.commit(change).await {
            Ok(()) => Ok(user),
            Err(CommitError::Conflict(Guard::EmailFree)) => Err(Error::Taken("that address")),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether any user is an operator.
    pub async fn has_operator(&self) -> Result<bool, Error> {
        Ok(self.store.has_operator().await?)
    }

    pub async fn users(&self) -> Result<Vec<User>, Error> {
        Ok(self.store.users().await?)
    }

    pub async fn user_by_email(&self, email: &str) -> Result<User, Error> {
        let found = self.store.user_by_email(&Email::recognise(email)?).await?;
        found.map(|(user, _)| user).filter(|user| !user.is_removed()).ok_or(Error::NotFound("user"))
    }

    /// Whether that is the user's password; only commands on the machine itself ask this.
    pub async fn has_password(&self, user: &User, password: SecretString) -> Result<bool, Error> {
        let kept = self.store.password_of(user.id).await?;
        Ok(self.hasher.matches(self.hasher.turn().await?, password, kept).await?)
    }

    /// Sets a user's password, ends all their sessions, and lifts every delay after failed attempts to sign in. Whose
    /// failures delay the user is not known, as another user may share their address, so the delays of all are lifted.
    pub async fn reset_password(&self, user: &User, password: SecretString) -> Result<(), Error> {
        self.set_password(SessionWrite::AllForgiven.into(), user, password, None, PasswordChange::CommandLine).await
    }

    /// Commits `change` together with a new password, ends all sessions of the user `but` one, and forgets from which addresses they
    /// signed in: who was in with the old password is a stranger from now on, in whichever browser and at whichever address.
    pub(crate) async fn set_password(
        &self,
        change: Change,
        user: &User,
        password: SecretString,
        but: Option<SessionId>,
        by: PasswordChange,
    ) -> Result<(), Error> {
        check_password(password.expose_secret())?;
        let password = self.hasher.hash(password).await?;
        let deed = match by {
            PasswordChange::OldPassword | PasswordChange::CommandLine => Deed::PasswordChanged,
            PasswordChange::ResetLink => Deed::PasswordReset,
        };
        let change = change
            .with(PeopleWrite::PasswordChanged { user_id: user.id, password })
            .with(SessionWrite::AllEnded { user_id: user.id, but })
            .with(SessionWrite::AddressesForgotten { user_id: user.id })
            .with(self.audit(None, deed, &user.email, ""))
            .with_all(self.password_letter(user, by)?);
        Ok(self.store.commit(change).await?)
    }

    /// Makes a user an operator, or takes that away. It takes effect at their next request.
    pub async fn set_operator(&self, user: &User, is_operator: bool) -> Result<(), Error> {
        if user.is_operator == is_operator {
            return Ok(());
        }
        let deed = if is_operator { Deed::OperatorMade } else { Deed::OperatorUnmade };
        let change = Change::from(PeopleWrite::OperatorSet { user_id: user.id, is_operator });
        Ok(self.store.commit(change.with(self.audit(None, deed, &user.email, ""))).await?)
    }

    /// Makes a user a member without an invitation; only commands on the machine itself do this.
    pub async fn add_member(&self, project_id: ProjectId, user: &User, role: Role) -> Result<(), Error> {
        let project = self.project(project_id).await?;
        let change =
            Change::from(PeopleWrite::MemberAdded { project_id: project.id, user_id: user.id, role, at: self.now() })
                .with(self.audit(Some(project.id), Deed::MemberJoined, &user.email, role.word()));
        match self.store.commit(change).await {
            Ok(()) => Ok(()),
            Err(CommitError::Conflict(Guard::UserPresent)) => Err(Error::NotFound("user")),
            Err(CommitError::Conflict(Guard::NotMember)) => Err(Error::Taken("that membership")),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a project has an owner. A project with members has one: the first member must be an owner, and the last
    /// owner cannot be removed.
    pub async fn has_owner(&self, project_id: ProjectId) -> Result<bool, Error> {
        Ok(self.store.members(project_id).await?.iter().any(|member| member.role == Role::Owner))
    }

    /// The projects that a user is a member of.
    pub async fn projects_of(&self, user_id: UserId) -> Result<Vec<(Project, Role)>, Error> {
        Ok(self.store.memberships(user_id).await?)
    }

    /// The signed-in user of this token. `is_active`: whether the user did something, rather than a page that polls by
    /// itself.
    pub async fn visit(&self, token: &Token, address: String, is_active: bool) -> Result<Option<Visit>, Error> {
        let now = self.now();
        let open = self.store.session(token.hash()).await?;
        let open = open.filter(|open| open.session.is_live_at(now) && open.user.is_active());
        let Some(OpenSession { session, user, factor }) = open else { return Ok(None) };
        if is_active && now >= session.seen_at.plus(SEEN_EVERY) {
            self.store.commit(SessionWrite::Seen { id: session.id, at: now }.into()).await?;
        }
        let factor = factor.filter(|factor| factor.is_live_at(now));
        Ok(Some(Visit { session, user, factor, address, form_token: token.form_token() }))
    }

    pub async fn sign_out(&self, visit: &Visit) -> Result<(), Error> {
        let (id, user_id) = (visit.session.id, visit.user.id);
        let change = Change::from(SessionWrite::Ended { id, user_id }).with(self.by(visit.actor()).audit(
            None,
            Deed::SignedOut,
            &visit.user.email,
            "",
        ));
        match self.store.commit(change).await {
            Ok(()) | Err(CommitError::Conflict(Guard::SessionLive)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// All live sessions of the signed-in user.
    pub async fn sessions(&self, visit: &Visit) -> Result<Vec<Session>, Error> {
        let now = self.now();
        let sessions = self.store.sessions(visit.user.id).await?;
        Ok(sessions.into_iter().filter(|session| session.is_live_at(now)).collect())
    }

    pub async fn end_session(&self, visit: &Visit, id: SessionId) -> Result<(), Error> {
        let change = Change::from(SessionWrite::Ended { id, user_id: visit.user.id })
            .with(self.by(visit.actor()).audit(None, Deed::SessionEnded, id, ""));
        match self.store.commit(change).await {
            Ok(()) => Ok(()),
            Err(CommitError::Conflict(Guard::SessionLive)) => Err(Error::NotFound("session")),
            Err(error) => Err(error.into()),
        }
    }

    pub async fn end_other_sessions(&self, visit: &Visit) -> Result<(), Error> {
        let change = Change::from(SessionWrite::AllEnded { user_id: visit.user.id, but: Some(visit.session.id) })
            .with(self.by(visit.actor()).audit(None, Deed::SessionEnded, "others", ""));
        Ok(self.store.commit(change).await?)
    }
}

pub(crate) fn new_token() -> Token {
    Token::of(random_seed())
}
