//! The nodes that send webhooks and letters, and what becomes of their leases.

use domain::time::Timestamp;

use super::{letters, statement::Statement};
use crate::{
    change::{NodeId, NodeWrite},
    error::Guard,
    value::Value,
};

pub(super) fn plan(statements: &mut Vec<Statement>, write: NodeWrite) {
    match write {
        NodeWrite::Beat { node } => statements.push(Statement::new(
            "INSERT INTO nodes (id, beat) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET beat = nodes.beat + 1",
            [node.into()],
        )),
        NodeWrite::Gone { node, beat, at } => {
            let gone = Statement::new("DELETE FROM nodes WHERE id = $1 AND beat = $2", [node.into(), beat.into()]);
            statements.push(gone.guarded(Guard::NodeSilent));
            statements.push(leases_released(node, at));
            statements.push(letters::released(node));
        }
        NodeWrite::Left { node, at } => {
            statements.push(Statement::new("DELETE FROM nodes WHERE id = $1", [node.into()]));
            statements.push(leases_released(node, at));
            statements.push(letters::released(node));
        }
        NodeWrite::OrphansReleased { at } => {
            statements.push(Statement::new(
                "UPDATE deliveries SET due_at = $1, leased_by = NULL WHERE state = 'pending' AND leased_by IS NOT NULL \
                 AND due_at > $1 AND leased_by NOT IN (SELECT id FROM nodes)",
                [at.into()],
            ));
            statements.push(letters::orphans_released());
        }
    }
}

fn leases_released(node: NodeId, at: Timestamp) -> Statement {
    Statement::new(
        "UPDATE deliveries SET due_at = $1, leased_by = NULL \
         WHERE state = 'pending' AND leased_by = $2 AND due_at > $1",
        [at.into(), node.into()],
    )
}

impl From<NodeId> for Value {
    fn from(node: NodeId) -> Value {
        node.number().into()
    }
}
