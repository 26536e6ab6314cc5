//! A project's members and invitations.

use domain::{
    access::{Act, Role},
    api_key::ApiKey,
    audit::Deed,
    id::{InviteId, UserId},
    key_rights::KeyRight,
    language::Language,
    user::{Email, INVITE_LIFETIME, Invite, Token},
};
use store::{Change, CommitError, Guard, KeyWrite, Member, PeopleWrite, SessionWrite, Write};

use super::{Desk, role_lost};
use crate::{
    DECIDE_MOST, Error,
    forms::{SentForm, is_form_used},
};

/// Open invitations that one project may have.
const INVITES_MOST: i64 = 50;

impl Desk {
    pub async fn members(&self) -> Result<Vec<Member>, Error> {
        Ok(self.engine.store.members(self.id()).await?)
    }

    pub async fn invites(&self) -> Result<Vec<Invite>, Error> {
        Ok(self.engine.store.invites(self.id(), self.engine.now()).await?)
    }

    /// Invites somebody, by letter in that language; the returned token is shown once. `form` identifies one filled-in form: sent
    /// twice, it invites once, and answers with the same invitation.
    pub async fn invite(
        &self,
        email: &str,
        role: Role,
        language: Language,
        form: Option<&str>,
    ) -> Result<(Invite, Token), Error> {
        self.check(Act::ManageMembers)?;
        self.fresh_proof().await?;
        let email = Email::parse(email)?;
        let form = self.sent_form("invitation", form, &[email.as_str(), role.word()]);
        if self.engine.created_by_form(&form).await?.is_some() {
            return self.invite_of_form(&form).await;
        }
        if self.members().await?.iter().any(|member| member.user.email == email) {
            return Err(Error::Taken("that membership"));
        }
        if i64::try_from(self.invites().await?.len()).is_ok_and(|open| open >= INVITES_MOST) {
            return Err(Error::TooMany { what: "invitations", most: INVITES_MOST });
        }
        let (token, now) = (form.token(), self.engine.now());
        let invite = Invite {
            id: self.engine.mint(now),
            project_id: self.id(),
            email,
            role,
            created_at: now,
            expires_at: now.plus(INVITE_LIFETIME),
            created_by: Some(self.user.id),
        };
        let change = Change::default()
            .with_all(form.sent(invite.id, now))
            .with(self.role_held())
            .with(PeopleWrite::Invited { invite: invite.clone(), hash: token.hash() })
            .with(self.engine.audit(Some(self.id()), Deed::MemberInvited, &invite.email, role.word()))
            .with_all(self.engine.invitation_letter(&self.project, &self.user, language, &invite, &token)?);
        match self.engine.store.commit(change).await.map_err(Error::from) {
            Ok(()) => Ok((invite, token)),
            Err(error) if is_form_used(&error) => self.invite_of_form(&form).await,
            Err(error) => Err(role_lost(error)),
        }
    }

    /// The invitation that a form has created, while it is open.
    async fn invite_of_form(&self, form: &SentForm) -> Result<(Invite, Token), Error> {
        let token = form.token();
        let invite = self.engine.store.invite(token.hash()).await?;
        Ok((invite.ok_or(Error::FormUsed)?, token))
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

    /// Changes a member's role. A member who is no owner any more knows the keys over money that they have created; those
    /// are revoked in the same commit, if `with_keys` says so.
    pub async fn change_role(&self, user_id: UserId, role: Role, with_keys: bool) -> Result<(), Error> {
        self.check(Act::ManageMembers)?;
        self.fresh_proof().await?;
        let member = self.member(user_id).await?;
        let project_id = self.id();
        for _ in 0..DECIDE_MOST {
            // By an invitation to another address of theirs they would have the old role again.
            let voided = (!role.may(Act::ManageMembers))
                .then_some(PeopleWrite::InvitesVoided { project_id, created_by: user_id });
            let mut change = Change::from(self.role_held())
                .with(PeopleWrite::RoleChanged { project_id, user_id, role })
                .with_all(voided)
                .with(self.engine.audit(Some(project_id), Deed::RoleChanged, &member.user.email, role.word()));
            if with_keys && !matches!(role, Role::Owner) {
                let keys = self.keys_over_money_of(user_id).await?;
                let over_money = KeyRight::ALL.into_iter().filter(|right| right.is_over_money());
                change = change.with_all(self.revocations(&keys)).with_all(
                    over_money.map(|right| KeyWrite::AllRevokedWith { project_id, created_by: user_id, right }),
                );
            }
            match self.engine.store.commit(change).await {
                Ok(()) => return Ok(()),
                Err(error) if is_about_keys(&error) => {}
                Err(error) => return Err(last_owner_stays(error)),
            }
        }
        Err(Error::Contended)
    }

    /// Everything that revoking these keys now writes.
    fn revocations(&self, keys: &[ApiKey]) -> Vec<Write> {
        let now = self.engine.now();
        keys.iter().flat_map(|key| self.engine.revocation(key, now)).collect()
    }

    /// The live keys over money that a member has created.
    pub async fn keys_over_money_of(&self, user_id: UserId) -> Result<Vec<ApiKey>, Error> {
        let (keys, _) = self.keys_created_by(user_id).await?;
        Ok(keys.into_iter().filter(|key| key.rights.are_over_money()).collect())
    }

    /// The live keys that a member has created, and how many live keys have no known creator.
    pub async fn keys_created_by(&self, user_id: UserId) -> Result<(Vec<ApiKey>, usize), Error> {
        let live = self.engine.store.keys(self.id()).await?.into_iter().filter(|key| key.revoked_at.is_none());
        let (known, unknown): (Vec<ApiKey>, Vec<ApiKey>) = live.partition(|key| key.created_by.is_some());
        Ok((known.into_iter().filter(|key| key.created_by == Some(user_id)).collect(), unknown.len()))
    }

    /// Removes a member, and all that they could return by: their sessions, the invitations that they have created, and
    /// the keys that they have created, if `with_keys` says so. Who leaves keeps the session in which they do.
    pub async fn remove_member(&self, user_id: UserId, with_keys: bool) -> Result<(), Error> {
        self.check(Act::ManageMembers)?;
        self.fresh_proof().await?;
        let member = self.member(user_id).await?;
        for _ in 0..DECIDE_MOST {
            let project_id = self.id();
            let but = (user_id == self.user.id).then_some(self.session_id);
            let mut change = Change::from(self.role_held())
                .with(PeopleWrite::MemberRemoved { project_id, user_id })
                .with(PeopleWrite::InvitesVoided { project_id, created_by: user_id })
                .with(SessionWrite::AllEnded { user_id, but })
                .with(self.engine.audit(Some(project_id), Deed::MemberRemoved, &member.user.email, ""));
            if with_keys {
                let (keys, _) = self.keys_created_by(user_id).await?;
                change = change
                    .with_all(self.revocations(&keys))
                    .with(KeyWrite::AllRevokedOf { project_id, created_by: user_id });
            }
            match self.engine.store.commit(change).await {
                Ok(()) => return Ok(()),
                Err(error) if is_about_keys(&error) => {}
                Err(error) => return Err(last_owner_stays(error)),
            }
        }
        Err(Error::Contended)
    }
}

/// Whether a key that was to be revoked was created or revoked meanwhile.
fn is_about_keys(error: &CommitError) -> bool {
    matches!(error, CommitError::Conflict(Guard::KeyNotRevoked | Guard::KeysRevoked))
}

fn last_owner_stays(error: CommitError) -> Error {
    match error {
        CommitError::Conflict(Guard::OwnerRemains) => Error::LastOwner,
        other => role_lost(other.into()),
    }
}
