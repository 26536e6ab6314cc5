//! API keys.

use domain::{
    api_key::{ApiKey, KeyHash},
    id::{KeyId, ProjectId},
    time::Timestamp,
};

use super::statement::Statement;
use crate::{
    change::{KeyWrite, Write},
    error::Guard,
    value::Value,
};

pub(super) fn plan(write: KeyWrite) -> Statement {
    match write {
        KeyWrite::Created { key, hash } => new_key(key, hash),
        KeyWrite::Revoked { id, project_id, at } => key_revoked(id, project_id, at),
        KeyWrite::Used { key_id, project_id, at } => key_used(key_id, project_id, at),
    }
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

fn new_key(key: ApiKey, hash: KeyHash) -> Statement {
    Statement::new(
        "INSERT INTO api_keys (id, project_id, name, hash, last_four, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
        [
            Value::shown(key.id),
            Value::shown(key.project_id),
            key.name.into(),
            hash.0.to_vec().into(),
            key.last_four.into(),
            key.created_at.into(),
        ],
    )
    .guarded(Guard::KeyName)
}

fn key_revoked(id: KeyId, project_id: ProjectId, at: Timestamp) -> Statement {
    Statement::new(
        "UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND project_id = $3 AND revoked_at IS NULL",
        [at.into(), Value::shown(id), Value::shown(project_id)],
    )
    .guarded(Guard::KeyNotRevoked)
}

fn key_used(key_id: KeyId, project_id: ProjectId, at: Timestamp) -> Statement {
    Statement::new(
        "INSERT INTO key_uses (key_id, project_id, at) VALUES ($1, $2, $3) \
         ON CONFLICT (key_id) DO UPDATE SET at = excluded.at WHERE key_uses.at < excluded.at",
        [Value::shown(key_id), Value::shown(project_id), at.into()],
    )
}
