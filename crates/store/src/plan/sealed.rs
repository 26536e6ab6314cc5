//! Encrypted values that are encrypted anew.

use super::statement::Statement;
use crate::{error::Guard, sealed_column::SealedColumn, value::Value};

pub(super) fn resealed(column: SealedColumn, row: String, from: Vec<u8>, to: Vec<u8>) -> Statement {
    let sql = match column {
        SealedColumn::WebhookSecret => "UPDATE projects SET webhook_secret = $1 WHERE id = $2 AND webhook_secret = $3",
        SealedColumn::PreviousWebhookSecret => {
            "UPDATE projects SET previous_webhook_secret = $1 WHERE id = $2 AND previous_webhook_secret = $3"
        }
        SealedColumn::BankCredential => "UPDATE bank_credentials SET sealed = $1 WHERE id = $2 AND sealed = $3",
        SealedColumn::FactorSecret => "UPDATE second_factors SET sealed = $1 WHERE user_id = $2 AND sealed = $3",
        SealedColumn::LetterAddress => "UPDATE letters SET address = $1 WHERE id = $2 AND address = $3",
        SealedColumn::LetterContent => "UPDATE letters SET content = $1 WHERE id = $2 AND content = $3",
        SealedColumn::RefundDestination => {
            "UPDATE refunds SET destination_number = $1 WHERE id = $2 AND destination_number = $3"
        }
        SealedColumn::RefundClaim => "UPDATE refunds SET claim_token = $1 WHERE id = $2 AND claim_token = $3",
        SealedColumn::NoticeUrl => "UPDATE notice_targets SET url = $1 WHERE project_id = $2 AND url = $3",
        SealedColumn::NoticeSecret => "UPDATE notice_targets SET secret = $1 WHERE project_id = $2 AND secret = $3",
        SealedColumn::PreviousNoticeSecret => {
            "UPDATE notice_targets SET previous_secret = $1 WHERE project_id = $2 AND previous_secret = $3"
        }
    };
    Statement::new(sql, [to.into(), Value::named(&row), from.into()]).guarded(Guard::SealedValue)
}
