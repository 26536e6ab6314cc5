//! Invitations.

use domain::{
    access::Role,
    id::ProjectId,
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

    /// A project's invitations that can still be accepted, newest first.
    pub async fn invites(&self, id: ProjectId, now: Timestamp) -> Result<Vec<Invite>, StoreError> {
        let sql = "SELECT id, project_id, email, role, created_at, expires_at, created_by FROM invites \
                   WHERE project_id = $1 AND used_at IS NULL AND expires_at > $2 ORDER BY id DESC";
        self.many(Query::new(sql, [Value::shown(id), now.into()]), invite).await
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
