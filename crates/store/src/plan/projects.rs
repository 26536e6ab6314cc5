//! Projects and their origins.

use domain::{id::ProjectId, project::Project};

use super::statement::{Statement, joined};
use crate::{change::ProjectWrite, error::Guard, value::Value};

pub(super) fn plan(statements: &mut Vec<Statement>, write: ProjectWrite) {
    match write {
        ProjectWrite::Created { project, sealed_webhook_secret } => {
            statements.push(new(project, sealed_webhook_secret))
        }
        ProjectWrite::Changed { project } => statements.push(changed(project)),
        ProjectWrite::AllowedOrigins { project_id, origins } => allowed_origins(statements, project_id, origins),
    }
}

fn new(project: Project, sealed_webhook_secret: Vec<u8>) -> Statement {
    Statement::new(
        "INSERT INTO projects (id, name, environment, merchant_name, merchant_city, merchant_postal_code, active, \
         approved, success_word, webhook_url, webhook_secret, fee_qris_basis_points, fee_virtual_account, banks, \
         default_methods, created_at, version, extra_events) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
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
            joined(project.extra_events.iter().map(|kind| kind.word())),
        ],
    )
}

fn changed(project: Project) -> Statement {
    Statement::new(
        "UPDATE projects SET name = $1, merchant_name = $2, merchant_city = $3, merchant_postal_code = $4, \
         active = $5, approved = $6, success_word = $7, webhook_url = $8, fee_qris_basis_points = $9, \
         fee_virtual_account = $10, banks = $11, default_methods = $12, extra_events = $13, version = version + 1 \
         WHERE id = $14 AND version = $15",
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
            joined(project.extra_events.iter().map(|kind| kind.word())),
            Value::shown(project.id),
            project.version.into(),
        ],
    )
    .guarded(Guard::ProjectVersion)
}

fn allowed_origins(statements: &mut Vec<Statement>, project_id: ProjectId, origins: Vec<String>) {
    statements.push(Statement::new("DELETE FROM allowed_origins WHERE project_id = $1", [Value::shown(project_id)]));
    statements.extend(origins.into_iter().map(|origin| {
        Statement::new(
            "INSERT INTO allowed_origins (origin, project_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            [origin.into(), Value::shown(project_id)],
        )
    }));
}
