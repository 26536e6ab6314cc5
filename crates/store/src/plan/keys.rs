//! API keys.

use domain::{
    api_key::{ACTIVE_KEYS_MOST, ApiKey, KeyHash},
    id::{KeyId, ProjectId, UserId},
    key_rights::KeyRight,
    time::Timestamp,
};

use super::{
    people::lock_project,
    statement::{Statement, joined},
};
use crate::{
    change::{KeyWrite, Write},
    error::Guard,
    value::Value,
};

pub(super) fn plan(statements: &mut Vec<Statement>, write: KeyWrite) {
    let last = match write {
        KeyWrite::Created { key, hash } => {
            let (project_id, now) = (key.project_id, key.created_at);
            // The keys are counted after the project's row is locked, and by another statement: PostgreSQL takes the
            // snapshot of a statement before it waits for a lock, and would not count the key that it has waited for.
            statements.push(lock_project(project_id));
            statements.push(new_key(key, hash));
            keys_within_most(project_id, now)
        }
        KeyWrite::Replaced { id, project_id, expires_at } => key_replaced(id, project_id, expires_at),
        KeyWrite::AllRevokedBy { created_by } => all_revoked_by(created_by),
        KeyWrite::Revoked { id, project_id, at } => key_revoked(id, project_id, at),
        KeyWrite::AllRevokedOf { project_id, created_by } => all_revoked(project_id, created_by),
        KeyWrite::AllRevokedWith { project_id, created_by, right } => all_revoked_with(project_id, created_by, right),
        KeyWrite::Used { key_id, project_id, at } => key_used(key_id, project_id, at),
    };
    statements.push(last);
}

/// Sorts a change that only stores uses of keys, so that two nodes which store uses of the same keys lock their rows in
/// the same order and cannot deadlock.
pub(super) fn in_lock_order(mut writes: Vec<Write>) -> Vec<Write> {
    let used = |write: &Write| match write {
        Write::Key(KeyWrite::Used { key_id, .. }) => Some(key_id.to_string()),
        _ => None,
    };
    if writes.len() > 1 && writes.iter().all(|write| used(write).is_some()) {
        writes.sort_by_cached_key(used);
    }
    writes
}

/// Counts the new key too, and a key that was replaced until it has stopped.
fn keys_within_most(project_id: ProjectId, now: Timestamp) -> Statement {
    Statement::new(
        "UPDATE projects SET version = version WHERE id = $1 AND $2 >= (SELECT COUNT(*) FROM api_keys \
         WHERE project_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3))",
        [Value::stored(project_id), ACTIVE_KEYS_MOST.into(), now.into()],
    )
    .guarded(Guard::KeysBelowMost)
}

fn new_key(key: ApiKey, hash: KeyHash) -> Statement {
    Statement::new(
        "INSERT INTO api_keys (id, project_id, name, hash, last_four, created_at, created_by, rights, networks) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING",
        [
            Value::stored(key.id),
            Value::stored(key.project_id),
            key.name.into(),
            hash.0.to_vec().into(),
            key.last_four.into(),
            key.created_at.into(),
            key.created_by.map(Value::stored).into(),
            joined(key.rights.words()),
            joined(key.networks.words()),
        ],
    )
    .guarded(Guard::KeyName)
}

fn key_revoked(id: KeyId, project_id: ProjectId, at: Timestamp) -> Statement {
    Statement::new(
        "UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND project_id = $3 AND revoked_at IS NULL",
        [at.into(), Value::stored(id), Value::stored(project_id)],
    )
    .guarded(Guard::KeyNotRevoked)
}

fn key_replaced(id: KeyId, project_id: ProjectId, expires_at: Timestamp) -> Statement {
    Statement::new(
        "UPDATE api_keys SET expires_at = $1 \
         WHERE id = $2 AND project_id = $3 AND revoked_at IS NULL AND expires_at IS NULL",
        [expires_at.into(), Value::stored(id), Value::stored(project_id)],
    )
    .guarded(Guard::KeyNotReplaced)
}

fn all_revoked_by(created_by: UserId) -> Statement {
    Statement::new(
        "UPDATE users SET password = password WHERE id = $1 AND NOT EXISTS \
         (SELECT 1 FROM api_keys WHERE created_by = $1 AND revoked_at IS NULL)",
        [Value::stored(created_by)],
    )
    .guarded(Guard::KeysRevoked)
}

fn all_revoked(project_id: ProjectId, created_by: UserId) -> Statement {
    Statement::new(
        "UPDATE projects SET version = version WHERE id = $1 AND NOT EXISTS \
         (SELECT 1 FROM api_keys WHERE project_id = $1 AND created_by = $2 AND revoked_at IS NULL)",
        [Value::stored(project_id), Value::stored(created_by)],
    )
    .guarded(Guard::KeysRevoked)
}

/// The rights of a key are words in one column, with commas between them.
fn all_revoked_with(project_id: ProjectId, created_by: UserId, right: KeyRight) -> Statement {
    Statement::new(
        "UPDATE projects SET version = version WHERE id = $1 AND NOT EXISTS \
         (SELECT 1 FROM api_keys WHERE project_id = $1 AND created_by = $2 AND revoked_at IS NULL \
         AND ',' || rights || ',' LIKE $3)",
        [Value::stored(project_id), Value::stored(created_by), format!("%,{},%", right.word()).into()],
    )
    .guarded(Guard::KeysRevoked)
}

fn key_used(key_id: KeyId, project_id: ProjectId, at: Timestamp) -> Statement {
    Statement::new(
        "INSERT INTO key_uses (key_id, project_id, at) VALUES ($1, $2, $3) \
         ON CONFLICT (key_id) DO UPDATE SET at = excluded.at WHERE key_uses.at < excluded.at",
        [Value::stored(key_id), Value::stored(project_id), at.into()],
    )
}
