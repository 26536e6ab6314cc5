//! Sessions.

use domain::{
    id::UserId,
    user::{Session, TokenHash, User},
};

use super::users::user;
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

impl Store {
    /// The session of a token and its user, even when the session has timed out. Every page reads it, so that ending a
    /// session elsewhere takes effect at once.
    pub async fn session(&self, hash: TokenHash) -> Result<Option<(Session, User)>, StoreError> {
        let sql = "SELECT s.id, s.user_id, s.created_at, s.seen_at, s.address, s.browser, \
                   u.id, u.email, u.is_operator, u.created_at, u.deactivated_at, u.removed_at FROM sessions s JOIN users u ON u.id = s.user_id \
                   WHERE s.hash = $1";
        let found = |columns: &mut Columns<'_>| Ok((session(columns)?, user(columns)?));
        self.one(Query::new(sql, [hash.0.to_vec().into()]), found).await
    }

    /// A user's sessions, newest first.
    pub async fn sessions(&self, id: UserId) -> Result<Vec<Session>, StoreError> {
        let sql = "SELECT id, user_id, created_at, seen_at, address, browser FROM sessions WHERE user_id = $1 \
                   ORDER BY created_at DESC, id DESC";
        self.many(Query::new(sql, [Value::stored(id)]), session).await
    }
}

fn session(columns: &mut Columns<'_>) -> Result<Session, StoreError> {
    Ok(Session {
        id: columns.parsed()?,
        user_id: columns.parsed()?,
        created_at: columns.timestamp()?,
        seen_at: columns.timestamp()?,
        address: columns.text()?,
        browser: columns.text()?,
    })
}
