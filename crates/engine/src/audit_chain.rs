//! Seals the lines of the audit log, so that `lunas verify` sees what somebody changes in it. A reconciler does it: no commit
//! waits for it, and a line that was committed late gets the next position, whatever its time.

use std::collections::BTreeMap;

use domain::{
    audit::AuditLine,
    audit_chain::{ChainHead, SALT_BYTES, Seal, chain_name},
    id::{AuditId, ProjectId},
};
use rand::Rng;
use store::{AuditSeals, Change, CommitError, Guard};

use crate::{Engine, Error};

/// Lines that one round seals.
const SEALED_AT_ONCE: i64 = 200;

impl Engine {
    /// One round: seals lines that have no seal, each chain by a commit of its own. Answers how many lines it has seen.
    pub async fn seal_audit(&self) -> Result<usize, Error> {
        let lines = self.store.audit_unsealed(SEALED_AT_ONCE).await?;
        let seen = lines.len();
        let mut chains: BTreeMap<Option<ProjectId>, Vec<AuditLine>> = BTreeMap::new();
        for line in lines {
            chains.entry(line.project_id).or_default().push(line);
        }
        for (project_id, lines) in chains {
            // One chain that cannot be sealed does not keep the others from it.
            if let Err(error) = self.seal_chain(project_id, lines).await {
                tracing::warn!(%error, chain = chain_name(project_id), "lines of the audit log could not be sealed and will be later");
            }
        }
        Ok(seen)
    }

    async fn seal_chain(&self, project_id: Option<ProjectId>, lines: Vec<AuditLine>) -> Result<(), Error> {
        let mut head = self.store.audit_head(project_id).await?.unwrap_or_else(|| ChainHead::empty(project_id));
        let length = head.length;
        let next = |line: AuditLine| {
            let mut salt = [0; SALT_BYTES];
            rand::rng().fill_bytes(&mut salt);
            let seal = head.seal(&line, salt);
            head = ChainHead::after(&seal);
            (line.id, line.subject, seal)
        };
        let seals: Vec<(AuditId, String, Seal)> = lines.into_iter().map(next).collect();
        match self.store.commit(Change::from(AuditSeals { project_id, length, seals })).await {
            // Another node has sealed them, or the user of one was removed meanwhile.
            Ok(()) | Err(CommitError::Conflict(Guard::AuditChain)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
