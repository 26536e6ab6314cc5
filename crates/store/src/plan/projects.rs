//! Projects and their origins.

use domain::{event::EventKind, face::Face, id::ProjectId, project::Project, refund_settings::RefundSettings};

use super::statement::{Dialect, Statement, joined};
use crate::{
    change::{LogoFile, ProjectWrite},
    error::Guard,
    value::Value,
};

pub(super) fn plan(statements: &mut Vec<Statement>, write: ProjectWrite, dialect: Dialect) {
    match write {
        ProjectWrite::Created { project, sealed_webhook_secret } => {
            if dialect == Dialect::Sqlite {
                statements.push(numbered(project.id));
            }
            let (id, kinds) = (project.id, project.extra_events.clone());
            statements.push(new(project, sealed_webhook_secret));
            extra_events(statements, id, &kinds);
        }
        ProjectWrite::Changed { project } => {
            let (id, kinds) = (project.id, project.extra_events.clone());
            statements.push(changed(project));
            let old = "DELETE FROM extra_events WHERE project_id = $1";
            statements.push(Statement::new(old, [Value::stored(id)]));
            extra_events(statements, id, &kinds);
        }
        ProjectWrite::AllowedOrigins { project_id, origins } => allowed_origins(statements, project_id, origins),
        ProjectWrite::Logo { project_id, logo } => statements.push(logo_kept(project_id, logo)),
    }
}

/// Gives the project the next number, from which SQLite makes the short form of its id.
fn numbered(id: ProjectId) -> Statement {
    Statement::new(
        "INSERT INTO project_numbers (number, id, short) SELECT n.number, $1, project_short(n.number) \
         FROM (SELECT COALESCE(MAX(number), 0) + 1 AS number FROM project_numbers) n",
        [id.to_string().into()],
    )
}

fn new(project: Project, sealed_webhook_secret: Vec<u8>) -> Statement {
    Statement::new(
        "INSERT INTO projects (id, name, environment, merchant_name, merchant_city, merchant_postal_code, active, \
         approved, success_word, webhook_url, webhook_secret, fee_qris_basis_points, fee_virtual_account, banks, \
         default_methods, created_at, version, frame_origins, face_colour, contact_whatsapp, \
         contact_phone, contact_email, contact_site, logo_hash, logo_width, logo_height, \
         refund_approval_above, refund_key_destination_approval, refunds_return_fee) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, \
         $23, $24, $25, $26, $27, $28, $29)",
        with_further(
            project.face,
            project.refunds,
            [
                Value::stored(project.id),
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
                joined(&project.frame_origins),
            ],
        ),
    )
}

/// The values of the columns for a face and for refunds, after those of the other columns.
fn with_further(face: Face, refunds: RefundSettings, values: impl Into<Vec<Value>>) -> Vec<Value> {
    let Face { logo, colour, contacts } = face;
    let (width, height) = (logo.as_ref().map(|logo| logo.width), logo.as_ref().map(|logo| logo.height));
    let mut values = values.into();
    values.extend([
        Value::from(colour.map(|colour| colour.to_string())),
        contacts.whatsapp.into(),
        contacts.phone.into(),
        contacts.email.into(),
        contacts.site.into(),
        logo.map(|logo| logo.hash).into(),
        width.map(i64::from).into(),
        height.map(i64::from).into(),
        refunds.approval_above.into(),
        refunds.key_destination_needs_approval.into(),
        refunds.returns_fee.into(),
    ]);
    values
}

fn logo_kept(project_id: ProjectId, logo: Option<LogoFile>) -> Statement {
    match logo {
        Some(LogoFile { hash, png }) => Statement::new(
            "INSERT INTO logos (project_id, hash, png) VALUES ($1, $2, $3) \
             ON CONFLICT (project_id) DO UPDATE SET hash = excluded.hash, png = excluded.png",
            [Value::stored(project_id), hash.into(), png.into()],
        ),
        None => Statement::new("DELETE FROM logos WHERE project_id = $1", [Value::stored(project_id)]),
    }
}

fn changed(project: Project) -> Statement {
    let guard = [Value::stored(project.id), project.version.into()];
    let settings = [
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
        joined(&project.frame_origins),
    ];
    let mut values = with_further(project.face, project.refunds, settings);
    values.extend(guard);
    Statement::new(
        "UPDATE projects SET name = $1, merchant_name = $2, merchant_city = $3, merchant_postal_code = $4, \
         active = $5, approved = $6, success_word = $7, webhook_url = $8, fee_qris_basis_points = $9, \
         fee_virtual_account = $10, banks = $11, default_methods = $12, frame_origins = $13, face_colour = $14, \
         contact_whatsapp = $15, contact_phone = $16, contact_email = $17, contact_site = $18, logo_hash = $19, \
         logo_width = $20, logo_height = $21, refund_approval_above = $22, refund_key_destination_approval = $23, \
         refunds_return_fee = $24, version = version + 1 WHERE id = $25 AND version = $26",
        values,
    )
    .guarded(Guard::ProjectVersion)
}

/// The events that the project asks for, in its order. The project's own statement comes first, and locks its row.
fn extra_events(statements: &mut Vec<Statement>, project_id: ProjectId, kinds: &[EventKind]) {
    statements.extend(kinds.iter().zip(1_i64..).map(|(kind, position)| {
        Statement::new(
            "INSERT INTO extra_events (project_id, kind, position) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            [Value::stored(project_id), kind.word().into(), position.into()],
        )
    }));
}

fn allowed_origins(statements: &mut Vec<Statement>, project_id: ProjectId, origins: Vec<String>) {
    statements.push(Statement::new("DELETE FROM allowed_origins WHERE project_id = $1", [Value::stored(project_id)]));
    statements.extend(origins.into_iter().map(|origin| {
        Statement::new(
            "INSERT INTO allowed_origins (origin, project_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            [origin.into(), Value::stored(project_id)],
        )
    }));
}
