//! The rows that `lunas verify` reports.

use std::borrow::Cow;

use crate::{
    Store,
    error::StoreError,
    value::Query,
    verify::{Breach, INVARIANTS, NOTES, Note, invariants},
};

impl Store {
    /// Every row that breaks an invariant; empty when there is none.
    pub async fn breaches(&self) -> Result<Vec<Breach>, StoreError> {
        let found = self.rows_of(invariants(self.dialect())).await?;
        Ok(found.into_iter().map(|(invariant, row)| Breach { invariant, row }).collect())
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
        INVARIANTS.len()
    }
}
