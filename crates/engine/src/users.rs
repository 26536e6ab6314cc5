//! Users who are deactivated, activated again and removed, by an operator or by a command on the machine itself.
//!
//! A user who is deactivated or removed cannot sign in; their sessions end with the commit, and so do the invitations that
//! they have created. An operator always remains, and an active owner in each project.

use domain::{api_key::ApiKey, audit::Deed, id::UserId, project::Project, user::User};
use store::{Change, CommitError, Guard, KeyWrite, PeopleWrite, SessionWrite, Write};

use crate::{DECIDE_MOST, Engine, Error};

impl Engine {
    /// The live keys of all projects that a user has created. They know these keys, so an operator is asked about them.
    pub async fn keys_created_by(&self, user_id: UserId) -> Result<Vec<ApiKey>, Error> {
        Ok(self.store.keys_created_by(user_id).await?)
    }

    /// The projects that would have no active owner without this user.
    pub async fn projects_owned_alone(&self, user_id: UserId) -> Result<Vec<Project>, Error> {
        Ok(self.store.projects_owned_alone(user_id).await?)
    }

    /// Keeps a user from signing in, and ends their sessions. `by`: the operator who asks for it, who must still be one.
    /// Doing it again changes nothing.
    pub async fn deactivate_user(&self, user: &User, by: Option<UserId>, with_keys: bool) -> Result<(), Error> {
        for _ in 0..DECIDE_MOST {
            let (user_id, at) = (user.id, self.now());
            let change = Change::from(PeopleWrite::UserDeactivated { user_id, by, at })
                .with_all(self.endings(user_id))
                .with_all(self.revocations_of(user_id, with_keys).await?)
                .with(self.audit(None, Deed::UserDeactivated, &user.email, ""));
            match self.store.commit(change).await {
                Ok(()) => return Ok(()),
                Err(error) if is_about_keys(&error) => {}
                // Somebody else was quicker.
                Err(CommitError::Conflict(Guard::UserActive)) => return self.confirm_state(user_id, false).await,
                Err(error) => return Err(self.why_they_stay(user_id, error).await),
            }
        }
        Err(Error::Contended)
    }

    /// Lets a deactivated user sign in again. Their keys and invitations do not come back. Doing it again changes nothing.
    pub async fn activate_user(&self, user: &User, by: Option<UserId>) -> Result<(), Error> {
        let change = Change::from(PeopleWrite::UserActivated { user_id: user.id, by }).with(self.audit(
            None,
            Deed::UserActivated,
            &user.email,
            "",
        ));
        match self.store.commit(change).await {
            Ok(()) => Ok(()),
            Err(CommitError::Conflict(Guard::UserInactive)) => self.confirm_state(user.id, true).await,
            Err(error) => Err(self.why_they_stay(user.id, error).await),
        }
    }

    /// Removes a user and what is personal about them. The audit log goes on to name them by their id.
    pub async fn remove_user(&self, user: &User, by: Option<UserId>, with_keys: bool) -> Result<(), Error> {
        for _ in 0..DECIDE_MOST {
            let (user_id, at) = (user.id, self.now());
            let left = self.store.memberships(user_id).await?;
            let left = left.iter().map(|(project, _)| self.audit(Some(project.id), Deed::MemberRemoved, user_id, ""));
            let left: Vec<Write> = left.collect();
            let change = Change::from(PeopleWrite::UserRemoved { user_id, email: user.email.clone(), by, at })
                .with_all(self.revocations_of(user_id, with_keys).await?)
                .with_all(left)
                .with(self.audit(None, Deed::UserRemoved, user_id, ""));
            match self.store.commit(change).await {
                Ok(()) => return Ok(()),
                Err(error) if is_about_keys(&error) => {}
                Err(error) => return Err(self.why_they_stay(user_id, error).await),
            }
        }
        Err(Error::Contended)
    }

    /// A user who is not removed.
    pub(crate) async fn present_user(&self, id: UserId) -> Result<User, Error> {
        self.store.user(id).await?.filter(|user| !user.is_removed()).ok_or(Error::NotFound("user"))
    }

    /// What ends with the user's access.
    fn endings(&self, user_id: UserId) -> [Write; 2] {
        [
            SessionWrite::AllEnded { user_id, but: None }.into(),
            PeopleWrite::AllInvitesVoided { created_by: user_id }.into(),
        ]
    }

    /// Everything that revoking the user's keys writes, if they are to be revoked.
    async fn revocations_of(&self, user_id: UserId, with_keys: bool) -> Result<Vec<Write>, Error> {
        if !with_keys {
            return Ok(Vec::new());
        }
        let now = self.now();
        let keys = self.keys_created_by(user_id).await?;
        let none_left = KeyWrite::AllRevokedBy { created_by: user_id }.into();
        Ok(keys.iter().flat_map(|key| self.revocation(key, now)).chain([none_left]).collect())
    }

    /// The answer for somebody who wanted what is so already, once that is durable; an error where it is not so.
    async fn confirm_state(&self, id: UserId, is_active: bool) -> Result<(), Error> {
        self.store.confirm().await?;
        match self.present_user(id).await?.is_active() == is_active {
            true => Ok(()),
            false => Err(Error::Contended),
        }
    }

    async fn why_they_stay(&self, user_id: UserId, error: CommitError) -> Error {
        match error {
            CommitError::Conflict(Guard::OperatorRemains) => Error::LastOperator,
            // The pages of operators do not exist for somebody who is no operator any more.
            CommitError::Conflict(Guard::OperatorHeld) => Error::NotFound("page"),
            CommitError::Conflict(Guard::UserPresent) => Error::NotFound("user"),
            CommitError::Conflict(Guard::OwnerRemains) => match self.projects_owned_alone(user_id).await {
                Ok(projects) => Error::OnlyOwner { projects: projects.into_iter().map(|of| of.name).collect() },
                Err(error) => error,
            },
            error => error.into(),
        }
    }
}

/// Whether a key that was to be revoked was created or revoked meanwhile.
fn is_about_keys(error: &CommitError) -> bool {
    matches!(error, CommitError::Conflict(Guard::KeyNotRevoked | Guard::KeysRevoked))
}
