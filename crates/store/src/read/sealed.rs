//! Encrypted values with the rows that they are in, for those who must look at all of them.

use crate::{
    Store,
    error::StoreError,
    sealed_column::SealedColumn,
    value::{Columns, Query, Value},
};

/// An encrypted value, and the id of its row.
pub struct SealedValue {
    pub row: String,
    pub sealed: Vec<u8>,
}

impl Store {
    /// The encrypted values of a column in rows after `after`, by row, at most `most`.
    pub async fn sealed_values(
        &self,
        column: SealedColumn,
        after: &str,
        most: i64,
    ) -> Result<Vec<SealedValue>, StoreError> {
        let sql = match column {
            SealedColumn::WebhookSecret => "SELECT id, webhook_secret FROM projects WHERE id > $1 ORDER BY id LIMIT $2",
            SealedColumn::PreviousWebhookSecret => {
                "SELECT id, previous_webhook_secret FROM projects WHERE id > $1 \
                 AND previous_webhook_secret IS NOT NULL ORDER BY id LIMIT $2"
            }
            SealedColumn::BankCredential => {
                "SELECT id, sealed FROM bank_credentials WHERE id > $1 AND sealed IS NOT NULL ORDER BY id LIMIT $2"
            }
            SealedColumn::FactorSecret => {
                "SELECT user_id, sealed FROM second_factors WHERE user_id > $1 ORDER BY user_id LIMIT $2"
            }
            SealedColumn::LetterAddress => "SELECT id, address FROM letters WHERE id > $1 ORDER BY id LIMIT $2",
            SealedColumn::LetterContent => {
                "SELECT id, content FROM letters WHERE id > $1 AND content IS NOT NULL ORDER BY id LIMIT $2"
            }
            SealedColumn::RefundDestination => {
                "SELECT id, destination_number FROM refunds WHERE id > $1 AND destination_number IS NOT NULL \
                 ORDER BY id LIMIT $2"
            }
            SealedColumn::RefundClaim => {
                "SELECT id, claim_token FROM refunds WHERE id > $1 AND claim_token IS NOT NULL ORDER BY id LIMIT $2"
            }
            SealedColumn::NoticeUrl => {
                "SELECT project_id, url FROM notice_targets WHERE project_id > $1 ORDER BY project_id LIMIT $2"
            }
            SealedColumn::NoticeSecret => {
                "SELECT project_id, secret FROM notice_targets WHERE project_id > $1 ORDER BY project_id LIMIT $2"
            }
            SealedColumn::PreviousNoticeSecret => {
                "SELECT project_id, previous_secret FROM notice_targets WHERE project_id > $1 \
                 AND previous_secret IS NOT NULL ORDER BY project_id LIMIT $2"
            }
        };
        self.many(Query::new(sql, [Value::named(after), most.into()]), sealed_value).await
    }
}

fn sealed_value(columns: &mut Columns<'_>) -> Result<SealedValue, StoreError> {
    Ok(SealedValue { row: columns.text()?, sealed: columns.bytes()? })
}
