//! Second factors and their recovery codes.

use domain::{
    id::{ProjectId, UserId},
    second_factor::RecoveryHash,
    time::Timestamp,
};

use super::statement::Statement;
use crate::{change::FactorWrite, error::Guard, value::Value};

pub(super) fn plan(statements: &mut Vec<Statement>, write: FactorWrite) {
    match write {
        FactorWrite::Added { user_id, sealed, at, step, codes } => {
            statements.push(lock_user(user_id));
            statements.push(added(user_id, sealed, at, step));
            replace_codes(statements, user_id, codes);
        }
        FactorWrite::CodeAccepted { user_id, step } => statements.push(
            Statement::new(
                "UPDATE second_factors SET last_step = $1 WHERE user_id = $2 AND last_step < $1",
                [step.into(), Value::stored(user_id)],
            )
            .guarded(Guard::FactorCode),
        ),
        FactorWrite::RecoveryCodeUsed { user_id, hash, at } => statements.push(
            Statement::new(
                "UPDATE recovery_codes SET used_at = $1 WHERE user_id = $2 AND hash = $3 AND used_at IS NULL",
                [at.into(), Value::stored(user_id), hash.to_vec().into()],
            )
            .guarded(Guard::FactorCode),
        ),
        FactorWrite::RecoveryCodesRenewed { user_id, codes } => {
            // Two forms at once take turns here, so that the codes of one of them stay.
            statements.push(
                Statement::new(
                    "UPDATE second_factors SET last_step = last_step WHERE user_id = $1",
                    [Value::stored(user_id)],
                )
                .guarded(Guard::FactorPresent),
            );
            replace_codes(statements, user_id, codes);
        }
        FactorWrite::Removed { user_id } => {
            statements.push(
                Statement::new("DELETE FROM second_factors WHERE user_id = $1", [Value::stored(user_id)])
                    .guarded(Guard::FactorPresent),
            );
            statements.push(without_codes(user_id));
        }
        FactorWrite::LiftAsked { user_id, lift_at } => statements.push(
            Statement::new(
                "UPDATE second_factors SET lift_at = $1 WHERE user_id = $2 AND lift_at IS NULL",
                [lift_at.into(), Value::stored(user_id)],
            )
            .guarded(Guard::FactorPresent),
        ),
        FactorWrite::LiftRefused { user_id, at } => statements.push(
            Statement::new(
                "UPDATE second_factors SET lift_at = NULL WHERE user_id = $1 AND lift_at > $2",
                [Value::stored(user_id), at.into()],
            )
            .guarded(Guard::FactorPresent),
        ),
        FactorWrite::Lifted { user_id, at } => {
            statements.push(
                Statement::new(
                    "DELETE FROM second_factors WHERE user_id = $1 AND lift_at <= $2",
                    [Value::stored(user_id), at.into()],
                )
                .guarded(Guard::FactorPresent),
            );
            statements.push(without_codes(user_id));
        }
        FactorWrite::Required { project_id, required, by, at } => {
            statements.push(self::required(project_id, required, by, at));
        }
    }
}

/// A sign-in that has read that there is no factor has locked the same row; the session that it begins is found here, and ended by
/// the same change.
fn lock_user(user_id: UserId) -> Statement {
    Statement::new("UPDATE users SET password = password WHERE id = $1", [Value::stored(user_id)])
}

fn added(user_id: UserId, sealed: Vec<u8>, at: Timestamp, step: i64) -> Statement {
    const SQL: &str = "INSERT INTO second_factors (user_id, sealed, added_at, last_step, lift_at) \
        VALUES ($1, $2, $3, $4, NULL) ON CONFLICT (user_id) DO UPDATE SET sealed = excluded.sealed, \
        added_at = excluded.added_at, last_step = excluded.last_step, lift_at = NULL \
        WHERE second_factors.lift_at <= excluded.added_at";
    Statement::new(SQL, [Value::stored(user_id), sealed.into(), at.into(), step.into()]).guarded(Guard::FactorPresent)
}

fn required(project_id: ProjectId, required: bool, by: UserId, at: Timestamp) -> Statement {
    const SQL: &str = "UPDATE projects SET factor_required = $1 WHERE id = $2 AND (CAST($1 AS BIGINT) = 0 OR EXISTS \
        (SELECT 1 FROM second_factors f WHERE f.user_id = $3 AND (f.lift_at IS NULL OR f.lift_at > $4)))";
    Statement::new(SQL, [required.into(), Value::stored(project_id), Value::stored(by), at.into()])
        .guarded(Guard::FactorPresent)
}

fn without_codes(user_id: UserId) -> Statement {
    Statement::new("DELETE FROM recovery_codes WHERE user_id = $1", [Value::stored(user_id)])
}

fn replace_codes(statements: &mut Vec<Statement>, user_id: UserId, codes: Vec<RecoveryHash>) {
    let insert = |hash: RecoveryHash| {
        Statement::new(
            "INSERT INTO recovery_codes (user_id, hash) VALUES ($1, $2)",
            [Value::stored(user_id), hash.to_vec().into()],
        )
    };
    statements.push(without_codes(user_id));
    statements.extend(codes.into_iter().map(insert));
}
