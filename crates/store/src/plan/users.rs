//! Users who are deactivated, activated and removed.

use domain::{id::UserId, time::Timestamp, user::Email};

use super::statement::{Dialect, Statement};
use crate::{error::Guard, value::Value};

/// What is deleted with a user, whose id is `$1`.
const PERSONAL: [&str; 10] = [
    "DELETE FROM sessions WHERE user_id = $1",
    "DELETE FROM known_addresses WHERE user_id = $1",
    "DELETE FROM forms WHERE user_id = $1",
    "DELETE FROM recovery_codes WHERE user_id = $1",
    "DELETE FROM second_factors WHERE user_id = $1",
    "DELETE FROM password_resets WHERE user_id = $1",
    "DELETE FROM letters WHERE user_id = $1",
    "DELETE FROM letter_choices WHERE user_id = $1",
    "DELETE FROM letter_refusals WHERE user_id = $1",
    "DELETE FROM members WHERE user_id = $1",
];

pub(super) fn deactivate(
    statements: &mut Vec<Statement>,
    user_id: UserId,
    by: Option<UserId>,
    at: Timestamp,
    dialect: Dialect,
) {
    lock(statements, user_id, dialect);
    statements.extend(by.map(operator_held));
    statements.push(
        Statement::new(
            "UPDATE users SET deactivated_at = $1 WHERE id = $2 AND deactivated_at IS NULL",
            [at.into(), Value::stored(user_id)],
        )
        .guarded(Guard::UserActive),
    );
    statements.extend([operator_remains(user_id), owners_remain(user_id)]);
}

pub(super) fn activate(statements: &mut Vec<Statement>, user_id: UserId, by: Option<UserId>, dialect: Dialect) {
    lock(statements, user_id, dialect);
    statements.extend(by.map(operator_held));
    statements.push(
        Statement::new(
            "UPDATE users SET deactivated_at = NULL \
             WHERE id = $1 AND deactivated_at IS NOT NULL AND removed_at IS NULL",
            [Value::stored(user_id)],
        )
        .guarded(Guard::UserInactive),
    );
}

/// Invitations are deleted before the user's row is changed: a commit that accepts one has locked it, and goes on to the row.
pub(super) fn remove(
    statements: &mut Vec<Statement>,
    user_id: UserId,
    email: Email,
    by: Option<UserId>,
    at: Timestamp,
    dialect: Dialect,
) {
    lock_projects(statements, user_id, dialect);
    statements.push(Statement::new(
        "DELETE FROM invites WHERE email = $1 OR used_by = $2 OR (created_by = $2 AND used_at IS NULL)",
        [Value::stored(&email), Value::stored(user_id)],
    ));
    lock_operators(statements, user_id, dialect);
    statements.extend(by.map(operator_held));
    statements.push(
        Statement::new(
            "UPDATE users SET email = $1, password = '', deactivated_at = COALESCE(deactivated_at, $2), removed_at = $2 \
             WHERE id = $3 AND email = $4 AND removed_at IS NULL",
            [
                Value::stored(Email::of_removed(user_id)),
                at.into(),
                Value::stored(user_id),
                Value::stored(&email),
            ],
        )
        .guarded(Guard::UserPresent),
    );
    statements.extend([operator_remains(user_id), owners_remain(user_id)]);
    statements.push(Statement::new("UPDATE users SET is_operator = 0 WHERE id = $1", [Value::stored(user_id)]));
    statements.extend(PERSONAL.map(|sql| Statement::new(sql, [Value::stored(user_id)])));
    let erase = match dialect {
        Dialect::Sqlite => "UPDATE audit SET subject = $1, salt = NULL WHERE instr(subject, '@') > 0 AND subject = $2",
        Dialect::Postgres => {
            "UPDATE audit SET subject = $1, salt = NULL WHERE strpos(subject, '@') > 0 AND subject = $2"
        }
    };
    statements.push(Statement::new(erase, [Value::stored(user_id), Value::stored(email)]));
}

/// Locks the user's row, so that they are not removed before what is written for them is committed.
pub(super) fn present(user_id: UserId) -> Statement {
    Statement::new(
        "UPDATE users SET password = password WHERE id = $1 AND removed_at IS NULL",
        [Value::stored(user_id)],
    )
    .guarded(Guard::UserPresent)
}

/// Locks what the guards count, where several commits run at once: the owners of the user's projects, and the operators. A
/// statement sees what was committed before it began, so the counting comes after, by statements of its own.
fn lock(statements: &mut Vec<Statement>, user_id: UserId, dialect: Dialect) {
    lock_projects(statements, user_id, dialect);
    lock_operators(statements, user_id, dialect);
}

fn lock_projects(statements: &mut Vec<Statement>, user_id: UserId, dialect: Dialect) {
    if matches!(dialect, Dialect::Postgres) {
        statements.push(Statement::new(
            "UPDATE projects SET version = version WHERE id IN (SELECT p.id FROM projects p \
             JOIN members m ON m.project_id = p.id WHERE m.user_id = $1 ORDER BY p.id FOR NO KEY UPDATE OF p)",
            [Value::stored(user_id)],
        ));
    }
}

fn lock_operators(statements: &mut Vec<Statement>, user_id: UserId, dialect: Dialect) {
    if matches!(dialect, Dialect::Postgres) {
        statements.push(Statement::new(
            "UPDATE users SET is_operator = is_operator WHERE id IN \
             (SELECT id FROM users WHERE is_operator = 1 OR id = $1 ORDER BY id FOR NO KEY UPDATE)",
            [Value::stored(user_id)],
        ));
    }
}

/// Somebody who was an operator when they asked may have been deactivated since.
fn operator_held(user_id: UserId) -> Statement {
    Statement::new(
        "UPDATE users SET is_operator = is_operator WHERE id = $1 AND is_operator = 1 AND deactivated_at IS NULL",
        [Value::stored(user_id)],
    )
    .guarded(Guard::OperatorHeld)
}

/// An installation that never had an operator needs none.
fn operator_remains(user_id: UserId) -> Statement {
    Statement::new(
        "UPDATE users SET is_operator = is_operator WHERE id = $1 \
         AND (EXISTS (SELECT 1 FROM users o WHERE o.is_operator = 1 AND o.deactivated_at IS NULL) \
         OR NOT EXISTS (SELECT 1 FROM users o WHERE o.is_operator = 1))",
        [Value::stored(user_id)],
    )
    .guarded(Guard::OperatorRemains)
}

fn owners_remain(user_id: UserId) -> Statement {
    Statement::new(
        "UPDATE users SET is_operator = is_operator WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM members m \
         WHERE m.user_id = $1 AND m.role = 'owner' AND NOT EXISTS (SELECT 1 FROM members o \
         JOIN users u ON u.id = o.user_id WHERE o.project_id = m.project_id AND o.user_id <> $1 AND o.role = 'owner' \
         AND u.deactivated_at IS NULL))",
        [Value::stored(user_id)],
    )
    .guarded(Guard::OwnerRemains)
}
