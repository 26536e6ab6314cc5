//! Users: creating them, signing in, and their sessions.
//!
//! A failed attempt to sign in gets the same answer after the same time, whether or not there is such a user.

use std::time::Duration;

use domain::{
    access::Role,
    audit::{Actor, Deed},
    hex::hex,
    id::{ProjectId, SessionId, UserId},
    project::Project,
    rules::Invalid,
    time::Timestamp,
    user::{Email, SESSION_LONGEST, Session, Token, User, check_password},
};
use rand::Rng;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use store::{Change, CommitError, Guard, PeopleWrite, SessionWrite, Write};

use crate::{Engine, Error, passwords};

/// How exactly the last use of a session is known; not every page is worth a write.
const SEEN_EVERY: Duration = Duration::from_mins(1);
/// Old sessions that are deleted whenever somebody signs in.
const DELETED_AT_ONCE: i64 = 100;
const BROWSER_CHARACTERS: usize = 255;

/// Where a request comes from, as far as we store it.
#[derive(Clone, Debug)]
pub struct Whereabouts {
    pub address: String,
    /// What failed attempts are counted by: the address, or its network where one person has many addresses.
    pub counted_as: String,
    pub browser: String,
}

/// A request of a signed-in user.
#[derive(Clone)]
pub struct Visit {
    pub session: Session,
    pub user: User,
    pub(crate) address: String,
    form_token: String,
}

/// The outcome of an attempt to sign in.
pub enum SignIn {
    Done(Token),
    /// No such user or a wrong password; the caller does not learn which.
    Refused,
    /// Too many attempts have failed; the password was not checked.
    Wait {
        until: Timestamp,
    },
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
        let password = passwords::hash(new.password).await?;
        let now = self.now();
        let user = User { id: self.mint(now), email, is_operator: new.is_operator, created_at: now };
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
        Ok(self.users().await?.iter().any(|user| user.is_operator))
    }

    pub async fn users(&self) -> Result<Vec<User>, Error> {
        Ok(self.store.users().await?)
    }

    pub async fn user_by_email(&self, email: &str) -> Result<User, Error> {
        let found = self.store.user_by_email(&Email::parse(email)?).await?;
        found.map(|(user, _)| user).ok_or(Error::NotFound("user"))
    }

    /// Whether that is the user's password; only commands on the machine itself ask this.
    pub async fn has_password(&self, user: &User, password: SecretString) -> Result<bool, Error> {
        Ok(passwords::matches(password, self.store.password_of(user.id).await?).await?)
    }

    /// Sets a user's password and ends all their sessions.
    pub async fn reset_password(&self, user: &User, password: SecretString) -> Result<(), Error> {
        self.set_password(Change::default(), user, password, None).await
    }

    /// Commits `change` together with a new password, and ends all sessions of the user `but` one.
    async fn set_password(
        &self,
        change: Change,
        user: &User,
        password: SecretString,
        but: Option<SessionId>,
    ) -> Result<(), Error> {
        check_password(password.expose_secret())?;
        let password = passwords::hash(password).await?;
        let change = change
            .with(PeopleWrite::PasswordChanged { user_id: user.id, password })
            .with(SessionWrite::AllEnded { user_id: user.id, but })
            .with(self.audit(None, Deed::PasswordChanged, &user.email, ""));
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

    /// Signs a user in. The attempt is counted before the password is checked, so that many attempts at once are
    /// throttled like one after another.
    pub async fn sign_in(&self, email: &str, password: SecretString, from: &Whereabouts) -> Result<SignIn, Error> {
        let (parsed, now) = (Email::parse(email).ok(), self.now());
        let account = subject("account", parsed.as_ref().map_or(email, Email::as_str));
        let address = subject("address", &from.counted_as);
        let subjects = [account.clone(), address.clone()];
        let tried = subjects.iter().map(|subject| SessionWrite::Tried { subject: subject.clone(), at: now });
        match self.store.commit(Change::default().with_all(tried)).await {
            Ok(()) => {}
            Err(CommitError::Conflict(Guard::SignInAllowed)) => {
                let until = self.store.sign_in_blocked_until(&subjects).await?;
                return Ok(SignIn::Wait { until: until.unwrap_or(now) });
            }
            Err(error) => return Err(error.into()),
        }
        let found = match &parsed {
            Some(email) => self.store.user_by_email(email).await?,
            None => None,
        };
        let kept = found.as_ref().map(|(_, kept)| kept.clone());
        let fits = passwords::matches(password, kept).await?;
        if let Some((user, password)) = found.filter(|_| fits) {
            let change = Change::from(SessionWrite::Succeeded { account, address: Some(address), at: now })
                .with(PeopleWrite::PasswordUnchanged { user_id: user.id, password });
            match self.begin_session(change, &user, from).await {
                // The password was changed while it was checked.
                Err(Error::UnexpectedConflict(CommitError::Conflict(Guard::PasswordUnchanged))) => {}
                begun => return begun.map(SignIn::Done),
            }
        }
        let stranger = self.by(Actor::Stranger { address: from.address.clone() });
        // Text that is not an e-mail address may be a password typed into the wrong field, so it is not logged.
        let named = parsed.as_ref().map(Email::as_str).unwrap_or_default();
        self.store.commit(stranger.audit(None, Deed::SignInRefused, named, "").into()).await?;
        Ok(SignIn::Refused)
    }

    /// Commits `change` together with a new session of `user`.
    pub(crate) async fn begin_session(&self, change: Change, user: &User, from: &Whereabouts) -> Result<Token, Error> {
        let (token, now) = (new_token(), self.now());
        let session = Session {
            id: self.mint(now),
            user_id: user.id,
            created_at: now,
            seen_at: now,
            address: from.address.clone(),
            browser: from
                .browser
                .chars()
                .filter(|character| !character.is_control())
                .take(BROWSER_CHARACTERS)
                .collect(),
        };
        let actor = self.by(Actor::User { id: user.id, address: from.address.clone() });
        let change = change
            .with(SessionWrite::Begun { session, hash: token.hash() })
            .with(actor.audit(None, Deed::SignedIn, &user.email, ""))
            .with(SessionWrite::OldDeleted { created_before: now.minus(SESSION_LONGEST), most: DELETED_AT_ONCE });
        self.store.commit(change).await?;
        Ok(token)
    }

    /// The signed-in user of this token. `is_active`: whether the user did something, rather than a page that polls by
    /// itself.
    pub async fn visit(&self, token: &Token, address: String, is_active: bool) -> Result<Option<Visit>, Error> {
        let now = self.now();
        let found = self.store.session(token.hash()).await?;
        let Some((session, user)) = found.filter(|(session, _)| session.is_live_at(now)) else { return Ok(None) };
        if is_active && now >= session.seen_at.plus(SEEN_EVERY) {
            self.store.commit(SessionWrite::Seen { id: session.id, at: now }.into()).await?;
        }
        Ok(Some(Visit { session, user, address, form_token: token.form_token() }))
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

    /// Changes the password of a user who knows the old one, and ends their other sessions.
    pub async fn change_password(&self, visit: &Visit, old: SecretString, new: SecretString) -> Result<(), Error> {
        let (account, now) = (subject("account", visit.user.email.as_str()), self.now());
        let tried = SessionWrite::Tried { subject: account.clone(), at: now };
        match self.store.commit(tried.into()).await {
            Ok(()) => {}
            Err(CommitError::Conflict(Guard::SignInAllowed)) => {
                let until = self.store.sign_in_blocked_until(&[account.clone(), account]).await?;
                return Err(Error::TryLater { until: until.unwrap_or(now) });
            }
            Err(error) => return Err(error.into()),
        }
        let wrong = || Error::from(Invalid::new("old_password", "is not the password"));
        let kept = self.store.password_of(visit.user.id).await?;
        if !passwords::matches(old, kept.clone()).await? {
            return Err(wrong());
        }
        let stands = kept.map(|password| PeopleWrite::PasswordUnchanged { user_id: visit.user.id, password });
        let change = Change::from(SessionWrite::Succeeded { account, address: None, at: now }).with_all(stands);
        match self.by(visit.actor()).set_password(change, &visit.user, new, Some(visit.session.id)).await {
            // The password was changed while it was checked.
            Err(Error::UnexpectedConflict(CommitError::Conflict(Guard::PasswordUnchanged))) => Err(wrong()),
            changed => changed,
        }
    }
}

pub(crate) fn new_token() -> Token {
    let mut random = [0; 32];
    rand::rng().fill_bytes(&mut random);
    Token::of(random)
}

/// The key by which attempts are counted. It is hashed, so that the table contains neither addresses nor passwords that
/// were typed into the wrong field.
fn subject(kind: &str, name: &str) -> String {
    format!("{kind}:{}", hex(&Sha256::digest(name.as_bytes())))
}
