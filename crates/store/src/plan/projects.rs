//! Projects, their origins and their keys.

use domain::{
    api_key::{ApiKey, KeyHash},
    id::{KeyId, ProjectId},
    project::Project,
    time::Timestamp,
};

use super::{Statement, joined};
use crate::{error::Guard, value::Value};

pub(super) fn new(project: Project, sealed_webhook_secret: Vec<u8>) -> Statement {
    Statement::new(
        "INSERT INTO projects (id, name, environment, merchant_name, merchant_city, merchant_postal_code, active, \
         approved, success_word, webhook_url, webhook_secret, fee_qris_basis_points, fee_virtual_account, banks, \
         default_methods, created_at, version) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
        [
            Value::shown(project.id),
            project.name.into(),
            project.environment.word().into(),
            project.merchant.name.into(),
            project.merchant.city.into(),
            project.merchant.postal_code.into(),
            project.active.into(),
            project.approved.into(),
            project.success_word.word().into(),
            project.webhook_url.into(),
            sealed_webhook_secret.into(),
            project.fees.qris_basis_points.into(),
            project.fees.virtual_account.into(),
            joined(project.banks.iter().map(|bank| bank.code())),
            joined(&project.default_methods),
            project.created_at.into(),
            project.version.into(),
        ],
    )
}

pub(super) fn changed(project: Project) -> Statement {
    Statement::new(
        "UPDATE projects SET name = $1, merchant_name = $2, merchant_city = $3, merchant_postal_code = $4, \
         active = $5, approved = $6, success_word = $7, webhook_url = $8, fee_qris_basis_points = $9, \
         fee_virtual_account = $10, banks = $11, default_methods = $12, version = version + 1 \
         WHERE id = $13 AND version = $14",
        [
            project.name.into(),
            project.merchant.name.into(),
            project.merchant.city.into(),
            project.merchant.postal_code.into(),
            project.active.into(),
            project.approved.into(),
            project.success_word.word().into(),
            project.webhook_url.into(),
            project.fees.qris_basis_points.into(),
            project.fees.virtual_account.into(),
            joined(project.banks.iter().map(|bank| bank.code())),
            joined(&project.default_methods),
            Value::shown(project.id),
            project.version.into(),
        ],
    )
    .guarded(Guard::ProjectVersion)
}

pub(super) fn allowed_origins(statements: &mut Vec<Statement>, project_id: ProjectId, origins: Vec<String>) {
    statements.push(Statement::new("DELETE FROM allowed_origins WHERE project_id = $1", [Value::shown(project_id)]));
    statements.extend(origins.into_iter().map(|origin| {
        Statement::new(
            "INSERT INTO allowed_origins (origin, project_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            [origin.into(), Value::shown(project_id)],
        )
    }));
}

pub(super) fn new_key(key: ApiKey, hash: KeyHash) -> Statement {
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

pub(super) fn key_revoked(id: KeyId, project_id: ProjectId, at: Timestamp) -> Statement {
    Statement::new(
        "UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND project_id = $3 AND revoked_at IS NULL",
        [at.into(), Value::shown(id), Value::shown(project_id)],
    )
    .guarded(Guard::KeyNotRevoked)
}

pub(super) fn key_used(key_id: KeyId, project_id: ProjectId, at: Timestamp) -> Statement {
    Statement::new(
        "INSERT INTO key_uses (key_id, project_id, at) VALUES ($1, $2, $3) \
         ON CONFLICT (key_id) DO UPDATE SET at = excluded.at WHERE key_uses.at < excluded.at",
        [Value::shown(key_id), Value::shown(project_id), at.into()],
    )
}
