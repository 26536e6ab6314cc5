//! Lost passwords.

use domain::{
    id::UserId,
    password_reset::{PasswordMark, PasswordReset, ResetMaker, ResetRequest},
    time::Timestamp,
    user::{Email, TokenHash},
};

use crate::{
    Store,
    error::StoreError,
    language_column,
    value::{Columns, Query, Value},
};

impl Store {
    /// The oldest requests for a new password.
    pub async fn reset_requests(&self, most: i64) -> Result<Vec<ResetRequest>, StoreError> {
        let sql = "SELECT email, at, address, browser, language FROM reset_requests ORDER BY at, email LIMIT $1";
        self.many(Query::new(sql, [most.into()]), request).await
    }

    /// A link that has not ended, whether or not it is in time.
    pub async fn password_reset(&self, hash: TokenHash) -> Result<Option<PasswordReset>, StoreError> {
        let sql = "SELECT user_id, mark, made_by, created_at, expires_at FROM password_resets \
                   WHERE hash = $1 AND ended_at IS NULL";
        self.one(Query::new(sql, [hash.0.to_vec().into()]), reset).await
    }

    /// How many links were made for a user since then, to be sent by letter.
    pub async fn resets_sent_since(&self, user_id: UserId, since: Timestamp) -> Result<i64, StoreError> {
        let sql = "SELECT COUNT(*) FROM password_resets WHERE user_id = $1 AND created_at >= $2 AND made_by = 'letter'";
        let parameters = [Value::stored(user_id), since.into()];
        let counted = self.many(Query::new(sql, parameters), |columns| columns.integer()).await?;
        Ok(counted.into_iter().sum())
    }
}

fn request(columns: &mut Columns<'_>) -> Result<ResetRequest, StoreError> {
    Ok(ResetRequest {
        email: columns.word(|text| Email::recognise(text).ok())?,
        at: columns.timestamp()?,
        address: columns.text()?,
        browser: columns.text()?,
        language: columns.word(language_column::read)?,
    })
}

fn reset(columns: &mut Columns<'_>) -> Result<PasswordReset, StoreError> {
    Ok(PasswordReset {
        user_id: columns.parsed()?,
        mark: PasswordMark(
            columns.bytes()?.try_into().map_err(|_| StoreError::unexpected("a mark of another length"))?,
        ),
        made_by: columns.word(ResetMaker::parse)?,
        created_at: columns.timestamp()?,
        expires_at: columns.timestamp()?,
    })
}
