//! Invitations.

use domain::{
    access::Role,
    id::{ProjectId, UserId},
    time::Timestamp,
    user::{Email, Invite, TokenHash},
};

use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

impl Store {
    /// An unused invitation, whether or not it has expired.
    pub async fn invite(&self, hash: TokenHash) -> Result<Option<Invite>, StoreError> {
        let sql = "SELECT id, project_id, email, role, created_at, expires_at, created_by FROM invites \
                   WHERE hash = $1 AND used_at IS NULL";
        self.one(Query::new(sql, [hash.0.to_vec().into()]), invite).await
    }

    /// Who has used an invitation, and for which project; none where they are no longer a member, or where the invitation
    /// would have expired by now.
    pub async fn invite_used_by(
        &self,
        hash: TokenHash,
        now: Timestamp,
    ) -> Result<Option<(ProjectId, UserId, Email)>, StoreError> {
        let sql = "SELECT i.project_id, u.id, u.email FROM invites i JOIN users u ON u.id = i.used_by \
                   JOIN members m ON m.project_id = i.project_id AND m.user_id = i.used_by \
                   WHERE i.hash = $1 AND i.expires_at > $2";
        self.one(Query::new(sql, [hash.0.to_vec().into(), now.into()]), |columns| {
            Ok((columns.parsed()?, columns.parsed()?, columns.word(|text| Email::recognise(text).ok())?))
        })
        .await
    }

    /// A project's invitations that can still be accepted, newest first.
    pub async fn invites(&self, id: ProjectId, now: Timestamp) -> Result<Vec<Invite>, StoreError> {
        let sql = "SELECT id, project_id, email, role, created_at, expires_at, created_by FROM invites \
                   WHERE project_id = $1 AND used_at IS NULL AND expires_at > $2 ORDER BY id DESC";
        self.many(Query::new(sql, [Value::stored(id), now.into()]), invite).await
    }
}

fn invite(columns: &mut Columns<'_>) -> Result<Invite, StoreError> {
    Ok(Invite {
        id: columns.parsed()?,
        project_id: columns.parsed()?,
        email: columns.word(|text| Email::recognise(text).ok())?,
        role: columns.word(Role::parse)?,
        created_at: columns.timestamp()?,
        expires_at: columns.timestamp()?,
        created_by: columns.optional_parsed()?,
    })
}
