//! Sessions.

use domain::{
    id::{SessionId, UserId},
    second_factor::SecondFactor,
    time::Timestamp,
    user::{Session, TokenHash, User},
};

use super::users::user;
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// A session, its user and their second factor, which may count no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSession {
    pub session: Session,
    pub user: User,
    pub factor: Option<SecondFactor>,
}

impl Store {
    /// The session of a token and its user, even when the session has timed out. Every page reads it, so that ending a
    /// session elsewhere takes effect at once.
    pub async fn session(&self, hash: TokenHash) -> Result<Option<OpenSession>, StoreError> {
        let sql = "SELECT s.id, s.user_id, s.created_at, s.seen_at, s.address, s.browser, \
                   COALESCE(s.proved_at, s.created_at), s.by_factor, u.id, u.email, u.is_operator, u.created_at, \
                   u.deactivated_at, u.removed_at, f.added_at, f.lift_at FROM sessions s JOIN users u ON u.id = s.user_id \
                   LEFT JOIN second_factors f ON f.user_id = s.user_id WHERE s.hash = $1";
        let found = |columns: &mut Columns<'_>| {
            let (session, user) = (session(columns)?, user(columns)?);
            let (added_at, lift_at) = (columns.optional_timestamp()?, columns.optional_timestamp()?);
            Ok(OpenSession { session, user, factor: added_at.map(|added_at| SecondFactor { added_at, lift_at }) })
        };
        self.one(Query::new(sql, [hash.0.to_vec().into()]), found).await
    }

    /// When a session last proved that its user is there, and whether by their second factor.
    pub async fn session_proof(&self, id: SessionId) -> Result<Option<(Timestamp, bool)>, StoreError> {
        let sql = "SELECT COALESCE(proved_at, created_at), by_factor FROM sessions WHERE id = $1";
        let proof = |columns: &mut Columns<'_>| Ok((columns.timestamp()?, columns.truth()?));
        self.one(Query::new(sql, [Value::stored(id)]), proof).await
    }

    /// A user's sessions, newest first.
    pub async fn sessions(&self, id: UserId) -> Result<Vec<Session>, StoreError> {
        let sql = "SELECT id, user_id, created_at, seen_at, address, browser, COALESCE(proved_at, created_at), by_factor \
                   FROM sessions WHERE user_id = $1 ORDER BY created_at DESC, id DESC";
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
        proved_at: columns.timestamp()?,
        by_factor: columns.truth()?,
    })
}
