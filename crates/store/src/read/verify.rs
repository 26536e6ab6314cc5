//! The rows that `lunas verify` reports.

use std::{borrow::Cow, collections::HashMap};

use domain::{
    audit_chain::{Broken, ChainHead, SealedLine, chain_name},
    id::ProjectId,
};

use crate::{
    Store,
    error::StoreError,
    value::Query,
    verify::{AUDIT_CHAIN, Breach, INVARIANTS, NOTES, Note, invariants},
    verify_refunds::REFUND_INVARIANTS,
};

/// Lines of the audit log that are read at once.
const LINES_AT_ONCE: i64 = 1_000;

impl Store {
    /// Every row that breaks an invariant; empty when there is none.
    pub async fn breaches(&self) -> Result<Vec<Breach>, StoreError> {
        let found = self.rows_of(invariants(self.dialect())).await?;
        let mut breaches: Vec<Breach> = found.into_iter().map(|(invariant, row)| Breach { invariant, row }).collect();
        for chain in self.audit_chains().await? {
            let rows = self.breaks_of_chain(chain).await?;
            breaches.extend(rows.into_iter().map(|row| Breach { invariant: AUDIT_CHAIN, row }));
        }
        Ok(breaches)
    }

    /// Every row that is worth a look, though it breaks no invariant.
    pub async fn notes(&self) -> Result<Vec<Note>, StoreError> {
        let found = self.rows_of(NOTES.map(|(name, sql)| (name, sql.into())).into_iter()).await?;
        Ok(found.into_iter().map(|(note, row)| Note { note, row }).collect())
    }

    /// What each statement finds, with the statement's name.
    async fn rows_of(
        &self,
        named: impl Iterator<Item = (&'static str, Cow<'static, str>)>,
    ) -> Result<Vec<(&'static str, String)>, StoreError> {
        let (names, queries): (Vec<_>, Vec<_>) = named.map(|(name, sql)| (name, Query::new(sql, []))).unzip();
        let found = self.whole(queries, |columns| columns.name()).await?;
        Ok(names.into_iter().zip(found).flat_map(|(name, rows)| rows.into_iter().map(move |row| (name, row))).collect())
    }

    /// How many invariants [`Store::breaches`] checks.
    pub fn invariants_checked() -> usize {
        INVARIANTS.len() + REFUND_INVARIANTS.len() + 1
    }

    /// Where a chain of the audit log is broken. Lines that are sealed meanwhile come after the head that is read first.
    async fn breaks_of_chain(&self, project_id: Option<ProjectId>) -> Result<Vec<String>, StoreError> {
        let chain = chain_name(project_id);
        let mut head = ChainHead::empty(project_id);
        let end = self.audit_head(project_id).await?.unwrap_or_else(|| head.clone());
        let (mut breaks, mut removed) = (Vec::new(), HashMap::new());
        let mut from = 0;
        while from < end.length {
            for sealed in self.audit_chain_after(project_id, from, LINES_AT_ONCE.min(end.length - from)).await? {
                let is_removed = self.names_removed_user(&sealed, &mut removed).await?;
                let Some(seal) = &sealed.seal else { continue };
                match head.follow(&sealed, |_| is_removed) {
                    Ok(_) => {}
                    Err(Broken::Position) if seal.position > head.length + 1 => {
                        breaks.push(format!("{chain}:{} is missing before {}", head.length + 1, sealed.line.id));
                    }
                    Err(_) => breaks.push(format!("{chain}:{} {}", seal.position, sealed.line.id)),
                }
                head = ChainHead::after(seal);
            }
            from += LINES_AT_ONCE;
        }
        if head != end {
            breaks.push(format!("{chain}:{} is not its last line", end.length));
        }
        let last = self.audit_last_position(project_id).await?;
        let now = self.audit_head(project_id).await?.map_or(0, |head| head.length);
        if last > now {
            breaks.push(format!("{chain}:{last} is after its last line"));
        }
        Ok(breaks)
    }

    /// Whether a line that has lost its salt names a removed user.
    async fn names_removed_user(
        &self,
        sealed: &SealedLine,
        known: &mut HashMap<String, bool>,
    ) -> Result<bool, StoreError> {
        let subject = &sealed.line.subject;
        if sealed.seal.as_ref().is_none_or(|seal| seal.salt.is_some()) {
            return Ok(false);
        }
        if let Some(is_removed) = known.get(subject) {
            return Ok(*is_removed);
        }
        let is_removed = match subject.parse() {
            Ok(id) => self.user(id).await?.is_some_and(|user| user.is_removed()),
            Err(_) => false,
        };
        known.insert(subject.clone(), is_removed);
        Ok(is_removed)
    }
}
