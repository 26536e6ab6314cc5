//! The audit log.

use domain::{
    audit::{Actor, AuditLine},
    audit_chain::{Seal, chain_name},
    id::AuditId,
};

use super::statement::Statement;
use crate::{change::AuditSeals, error::Guard, value::Value};

/// The stored words for actors that have no id.
pub(crate) const COMMAND_LINE: &str = "command-line";
pub(crate) const STRANGER: &str = "stranger";

pub(super) fn line(line: AuditLine) -> Statement {
    let (actor, address) = match line.actor {
        Actor::User { id, address } => (Value::stored(id), Some(address)),
        Actor::Key(id) => (Value::stored(id), None),
        Actor::CommandLine => (COMMAND_LINE.into(), None),
        Actor::Stranger { address } => (STRANGER.into(), Some(address)),
    };
    Statement::new(
        "INSERT INTO audit (id, at, actor, address, project_id, deed, subject, detail) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        [
            Value::stored(line.id),
            line.at.into(),
            actor,
            address.into(),
            line.project_id.map(Value::stored).unwrap_or(Value::Null),
            line.deed.word().into(),
            line.subject.into(),
            line.detail.into(),
        ],
    )
}

/// Moves the head of the chain first: of two nodes that seal the same lines, the second finds it moved and writes nothing.
pub(super) fn seal(statements: &mut Vec<Statement>, AuditSeals { project_id, length, seals }: AuditSeals) {
    let Some((.., last)) = seals.last() else { return };
    let (chain, hash) = (chain_name(project_id), last.hash.to_vec());
    let head = match length {
        0 => Statement::new(
            "INSERT INTO audit_heads (chain, length, hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            [chain.into(), last.position.into(), hash.into()],
        ),
        _ => Statement::new(
            "UPDATE audit_heads SET length = $1, hash = $2 WHERE chain = $3 AND length = $4",
            [last.position.into(), hash.into(), chain.into(), length.into()],
        ),
    };
    statements.push(head.guarded(Guard::AuditChain));
    statements.extend(seals.into_iter().map(|(id, subject, seal)| sealed_line(id, subject, seal)));
}

/// The subject is replaced where its user is removed, perhaps since the line was read.
fn sealed_line(id: AuditId, subject: String, seal: Seal) -> Statement {
    Statement::new(
        "UPDATE audit SET position = $1, seal_version = $2, hash = $3, subject_digest = $4, salt = $5 \
         WHERE id = $6 AND position IS NULL AND subject = $7",
        [
            seal.position.into(),
            seal.version.into(),
            seal.hash.to_vec().into(),
            seal.subject_digest.to_vec().into(),
            seal.salt.into(),
            Value::stored(id),
            subject.into(),
        ],
    )
    .guarded(Guard::AuditChain)
}
