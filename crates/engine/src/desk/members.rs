//! A project's members and invitations.

use domain::{
    access::{Act, Role},
    audit::Deed,
    id::{InviteId, UserId},
    user::{Email, INVITE_LIFETIME, Invite, Token},
};
use store::{Change, CommitError, Guard, Member, PeopleWrite};

use super::Desk;
use crate::{Error, people::new_token};

/// Open invitations that one project may have.
const INVITES_MOST: i64 = 50;

impl Desk {
    pub async fn members(&self) -> Result<Vec<Member>, Error> {
        Ok(self.engine.store.members(self.id()).await?)
    }

    pub async fn invites(&self) -> Result<Vec<Invite>, Error> {
        Ok(self.engine.store.invites(self.id(), self.engine.now()).await?)
    }

    /// Invites somebody; the returned token is shown once.
    pub async fn invite(&self, email: &str, role: Role) -> Result<(Invite, Token), Error> {
        self.check(Act::ManageMembers)?;
        let email = Email::parse(email)?;
        if self.members().await?.iter().any(|member| member.user.email == email) {
            return Err(Error::Taken("that membership"));
        }
        if i64::try_from(self.invites().await?.len()).is_ok_and(|open| open >= INVITES_MOST) {
            return Err(Error::TooMany { what: "invitations", most: INVITES_MOST });
        }
        let (token, now) = (new_token(), self.engine.now());
        let invite = Invite {
            id: self.engine.mint(now),
            project_id: self.id(),
            email,
            role,
            created_at: now,
            expires_at: now.plus(INVITE_LIFETIME),
        };
        let line = self.engine.audit(Some(self.id()), Deed::MemberInvited, &invite.email, role.word());
        let change = Change::from(PeopleWrite::Invited { invite: invite.clone(), hash: token.hash() }).with(line);
        self.engine.store.commit(change).await?;
        Ok((invite, token))
    }

    pub async fn withdraw_invite(&self, id: InviteId) -> Result<(), Error> {
        self.check(Act::ManageMembers)?;
        let change = Change::from(PeopleWrite::InviteWithdrawn { id, project_id: self.id() }).with(self.engine.audit(
            Some(self.id()),
            Deed::InviteWithdrawn,
            id,
            "",
        ));
        match self.engine.store.commit(change).await {
            Ok(()) => Ok(()),
            Err(CommitError::Conflict(Guard::InviteOpen)) => Err(Error::NotFound("invitation")),
            Err(error) => Err(error.into()),
        }
    }

    pub async fn member(&self, user_id: UserId) -> Result<Member, Error> {
        let member = self.members().await?.into_iter().find(|member| member.user.id == user_id);
        member.ok_or(Error::NotFound("member"))
    }

    pub async fn change_role(&self, user_id: UserId, role: Role) -> Result<(), Error> {
        self.check(Act::ManageMembers)?;
        let member = self.member(user_id).await?;
        let change = Change::from(PeopleWrite::RoleChanged { project_id: self.id(), user_id, role })
            .with(self.engine.audit(Some(self.id()), Deed::RoleChanged, &member.user.email, role.word()));
        self.unless_last_owner(change).await
    }

    pub async fn remove_member(&self, user_id: UserId) -> Result<(), Error> {
        self.check(Act::ManageMembers)?;
        let member = self.member(user_id).await?;
        let change = Change::from(PeopleWrite::MemberRemoved { project_id: self.id(), user_id })
            .with(self.engine.audit(Some(self.id()), Deed::MemberRemoved, &member.user.email, ""));
        self.unless_last_owner(change).await
    }

    async fn unless_last_owner(&self, change: Change) -> Result<(), Error> {
        match self.engine.store.commit(change).await {
            Ok(()) => Ok(()),
            Err(CommitError::Conflict(Guard::OwnerRemains)) => Err(Error::LastOwner),
            Err(error) => Err(error.into()),
        }
    }
}
