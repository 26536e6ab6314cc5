//! The audit log.

use domain::audit::{Actor, AuditLine};

use super::statement::Statement;
use crate::value::Value;

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
