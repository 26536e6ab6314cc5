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
/// Chains that one round passes over since they could not be sealed. Each costs it a further read.
const PASSED_OVER_MOST: usize = 20;

impl Engine {
    /// One round: seals lines that have no seal, each chain by a commit of its own. Answers how many lines it has seen sealed. Where a
    /// chain cannot be sealed, it looks for lines of the others: those of that chain stay the oldest, and must not stand before theirs.
    pub async fn seal_audit(&self) -> Result<usize, Error> {
        let (mut sealed, mut passed_over) = (0, Vec::new());
        while passed_over.len() < PASSED_OVER_MOST {
            let lines = self.store.audit_unsealed(SEALED_AT_ONCE, &passed_over).await?;
            let before = passed_over.len();
            sealed += self.seal_lines(lines, &mut passed_over).await;
            if passed_over.len() == before {
                break;
            }
        }
        Ok(sealed)
    }

    /// Answers how many of these lines are sealed, and adds the chains that could not be sealed to `passed_over`.
    async fn seal_lines(&self, lines: Vec<AuditLine>, passed_over: &mut Vec<Option<ProjectId>>) -> usize {
        let mut chains: BTreeMap<Option<ProjectId>, Vec<AuditLine>> = BTreeMap::new();
        for line in lines {
            chains.entry(line.project_id).or_default().push(line);
        }
        let mut sealed = 0;
        for (project_id, lines) in chains {
            let count = lines.len();
            match self.seal_chain(project_id, lines).await {
                Ok(true) => sealed += count,
                Ok(false) => passed_over.push(project_id),
                Err(error) => {
                    tracing::warn!(%error, chain = chain_name(project_id), "lines of the audit log could not be sealed and will be later");
                    passed_over.push(project_id);
                }
            }
        }
        sealed
    }

    /// Answers whether the chain has become longer.
    async fn seal_chain(&self, project_id: Option<ProjectId>, lines: Vec<AuditLine>) -> Result<bool, Error> {
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
            Ok(()) => Ok(true),
            // Another node has sealed them, or the user of one was removed meanwhile, or somebody has changed the log by hand.
            Err(CommitError::Conflict(Guard::AuditChain)) => {
                Ok(self.store.audit_head(project_id).await?.is_some_and(|head| head.length > length))
            }
            Err(error) => Err(error.into()),
        }
    }
}
