//! Lost passwords: requests for a new one, and links that set it.

use domain::{
    id::UserId,
    password_reset::{PasswordReset, ResetRequest},
    time::Timestamp,
    user::TokenHash,
};

use super::statement::Statement;
use crate::{change::ResetWrite, error::Guard, language_column, value::Value};

pub(super) fn plan(statements: &mut Vec<Statement>, write: ResetWrite) {
    match write {
        ResetWrite::Requested { request, most } => statements.push(requested(request, most)),
        ResetWrite::RequestTaken { email, at } => statements.push(
            Statement::new(
                "DELETE FROM reset_requests WHERE email = $1 AND at = $2",
                [Value::stored(email), at.into()],
            )
            .guarded(Guard::ResetRequested),
        ),
        ResetWrite::LinkMade { reset, hash } => {
            statements.push(links_ended(reset.user_id, reset.created_at));
            statements.push(link_made(reset, hash));
        }
        ResetWrite::LinkUsed { user_id, hash, at } => {
            statements.push(link_used(user_id, hash, at));
            statements.push(links_ended(user_id, at));
        }
    }
}

fn requested(request: ResetRequest, most: i64) -> Statement {
    const SQL: &str = "INSERT INTO reset_requests (email, at, address, browser, language) SELECT $1, $2, $3, $4, $5 \
        WHERE (SELECT COUNT(*) FROM reset_requests) < $6 ON CONFLICT (email) DO UPDATE SET at = excluded.at, \
        address = excluded.address, browser = excluded.browser, language = excluded.language";
    Statement::new(
        SQL,
        [
            Value::stored(request.email),
            request.at.into(),
            request.address.into(),
            request.browser.into(),
            language_column::word(request.language).into(),
            most.into(),
        ],
    )
}

fn link_made(reset: PasswordReset, hash: TokenHash) -> Statement {
    Statement::new(
        "INSERT INTO password_resets (hash, user_id, mark, made_by, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6)",
        [
            hash.0.to_vec().into(),
            Value::stored(reset.user_id),
            reset.mark.0.to_vec().into(),
            reset.made_by.word().into(),
            reset.created_at.into(),
            reset.expires_at.into(),
        ],
    )
}

/// Checks and ends in one statement, so that of several who use a link at the same moment one succeeds.
fn link_used(user_id: UserId, hash: TokenHash, at: Timestamp) -> Statement {
    Statement::new(
        "UPDATE password_resets SET ended_at = $1 WHERE hash = $2 AND user_id = $3 AND ended_at IS NULL AND expires_at > $1",
        [at.into(), hash.0.to_vec().into(), Value::stored(user_id)],
    )
    .guarded(Guard::ResetOpen)
}

fn links_ended(user_id: UserId, at: Timestamp) -> Statement {
    Statement::new(
        "UPDATE password_resets SET ended_at = $1 WHERE user_id = $2 AND ended_at IS NULL",
        [at.into(), Value::stored(user_id)],
    )
}
