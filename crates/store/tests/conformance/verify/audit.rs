//! The invariant about the audit log.

use domain::{
    audit::{Actor, AuditLine, Deed},
    id::{AuditId, ProjectId, mint},
    project::Project,
};
use store::{Change, Store, Write};

use super::Row;
use crate::{
    audit_chain::seal_all,
    samples::{self, NOW, entropy},
};

const CHAIN: &str = "I25 no sealed line of the audit log was removed, changed, inserted or put elsewhere, and each chain has all of its lines";

/// A chain of four lines.
pub(super) struct AuditHistory {
    project: ProjectId,
    lines: [AuditId; 4],
}

pub(super) async fn audit_history(store: &Store, project: &Project) -> AuditHistory {
    let lines: [AuditLine; 4] =
        std::array::from_fn(|_| samples::audit_line(Actor::CommandLine, Some(project), Deed::KeyCreated));
    let installation = samples::audit_line(Actor::CommandLine, None, Deed::UserCreated);
    let all = lines.iter().cloned().chain([installation]).map(Write::Audit);
    crate::database::keep(store, Change::default().with_all(all)).await;
    seal_all(store).await;
    AuditHistory { project: project.id, lines: lines.map(|line| line.id) }
}

pub(super) fn audit_rows(history: &AuditHistory) -> Vec<Row> {
    let AuditHistory { project, lines: [first, second, third, fourth] } = history;
    let changed =
        |what: &str| (CHAIN, format!("UPDATE audit SET {what} WHERE id = '{second}'"), format!("{project}:2 {second}"));
    let of_project = "chain LIKE 'prj_%'";
    let inserted: AuditId = mint(NOW, entropy());
    let beyond = |row: i64| format!("{project}:{row} is after its last line");
    vec![
        (CHAIN, format!("DELETE FROM audit WHERE id = '{second}'"), format!("{project}:2 is missing before {third}")),
        (CHAIN, format!("DELETE FROM audit WHERE id = '{first}'"), format!("{project}:1 is missing before {second}")),
        changed("detail = 'something else'"),
        changed("subject = 'somebody else'"),
        changed("actor = 'stranger'"),
        changed("address = '203.0.113.9', actor = 'stranger'"),
        changed("deed = 'key.revoked'"),
        changed("at = at + 1"),
        changed("seal_version = 2"),
        changed("salt = NULL"),
        changed("salt = NULL, subject = 'usr_01kzdq3f5ve8x9m2r7t4w6y8za'"),
        changed("hash = subject_digest"),
        // Two lines change places.
        (
            CHAIN,
            format!(
                "UPDATE audit SET position = 100 WHERE id = '{second}'; \
                 UPDATE audit SET position = 2 WHERE id = '{third}'; \
                 UPDATE audit SET position = 3 WHERE id = '{second}'"
            ),
            format!("{project}:2 {third}"),
        ),
        // The end is cut off; its head too; the whole head is.
        (CHAIN, format!("DELETE FROM audit WHERE id = '{fourth}'"), format!("{project}:4 is not its last line")),
        (CHAIN, format!("UPDATE audit_heads SET length = 3 WHERE {of_project}"), beyond(4)),
        (CHAIN, format!("DELETE FROM audit_heads WHERE {of_project}"), beyond(4)),
        // A line is put at the end.
        (
            CHAIN,
            format!(
                "INSERT INTO audit (id, at, actor, project_id, deed, subject, detail, position, seal_version, hash, \
                 subject_digest, salt) SELECT '{inserted}', at, actor, project_id, deed, subject, detail, 5, seal_version, \
                 hash, subject_digest, salt FROM audit WHERE id = '{fourth}'"
            ),
            beyond(5),
        ),
    ]
}
