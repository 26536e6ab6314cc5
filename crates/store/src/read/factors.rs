//! Second factors and their recovery codes.

use domain::{
    id::{ProjectId, UserId},
    second_factor::{RecoveryHash, SecondFactor},
    time::Timestamp,
};

use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// A second factor with its sealed secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFactor {
    pub factor: SecondFactor,
    pub sealed: Vec<u8>,
    /// The step of the last code that was accepted.
    pub last_step: i64,
}

impl Store {
    /// A user's second factor, even if it counts no more.
    pub async fn second_factor(&self, id: UserId) -> Result<Option<StoredFactor>, StoreError> {
        let sql = "SELECT added_at, lift_at, sealed, last_step FROM second_factors WHERE user_id = $1";
        let found = |columns: &mut Columns<'_>| {
            Ok(StoredFactor { factor: factor(columns)?, sealed: columns.bytes()?, last_step: columns.integer()? })
        };
        self.one(Query::new(sql, [Value::stored(id)]), found).await
    }

    /// How many recovery codes a user has not used yet.
    pub async fn recovery_codes_left(&self, id: UserId) -> Result<i64, StoreError> {
        let sql = "SELECT COUNT(*) FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL";
        Ok(self.many(Query::new(sql, [Value::stored(id)]), |columns| columns.integer()).await?.into_iter().sum())
    }

    /// Whether a user has that recovery code, and has not used it.
    pub async fn has_recovery_code(&self, id: UserId, hash: &RecoveryHash) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM recovery_codes WHERE user_id = $1 AND hash = $2 AND used_at IS NULL";
        Ok(self.one(Query::new(sql, [Value::stored(id), hash.to_vec().into()]), |_| Ok(())).await?.is_some())
    }

    /// Users whose factor counts no more, at most `most`.
    pub async fn factors_to_lift(&self, now: Timestamp, most: i64) -> Result<Vec<UserId>, StoreError> {
        let sql =
            "SELECT user_id FROM second_factors WHERE lift_at IS NOT NULL AND lift_at <= $1 ORDER BY lift_at LIMIT $2";
        self.many(Query::new(sql, [now.into(), most.into()]), |columns| columns.parsed()).await
    }

    /// Whether a project that the user is a member of demands a second factor.
    pub async fn is_factor_required_of(&self, id: UserId) -> Result<bool, StoreError> {
        let sql = "SELECT COUNT(*) FROM members m JOIN projects p ON p.id = m.project_id \
                   WHERE m.user_id = $1 AND p.factor_required = 1";
        let projects = self.many(Query::new(sql, [Value::stored(id)]), |columns| columns.integer()).await?;
        Ok(projects.into_iter().sum::<i64>() > 0)
    }

    /// Whether every member of a project needs a second factor.
    pub async fn requires_factor(&self, id: ProjectId) -> Result<bool, StoreError> {
        let sql = "SELECT factor_required FROM projects WHERE id = $1";
        Ok(self.one(Query::new(sql, [Value::stored(id)]), |columns| columns.truth()).await?.unwrap_or_default())
    }
}

pub(super) fn factor(columns: &mut Columns<'_>) -> Result<SecondFactor, StoreError> {
    Ok(SecondFactor { added_at: columns.timestamp()?, lift_at: columns.optional_timestamp()? })
}
