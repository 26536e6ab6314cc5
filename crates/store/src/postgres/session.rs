//! A connection that one task uses, with its prepared statements for many rows.

use std::{collections::HashMap, time::Instant};

use deadpool_postgres::ClientWrapper;
use tokio::time::timeout;
use tokio_postgres::{
    Error, Statement,
    types::{ToSql, Type},
};

use super::{
    columnar::{self, Part},
    connect::Connector,
    fault,
};
use crate::{error::StoreError, value::Value};

/// These statements find a few rows by their keys, so the best plan is always the same. Planning each time takes longer
/// than running the query, and a plan from when a table was small might read the whole table later.
const BY_KEYS: &str = "SET plan_cache_mode = force_generic_plan; SET enable_bitmapscan = off; SET enable_hashjoin = off; \
    SET enable_mergejoin = off";

pub(super) struct Session {
    pub(super) client: ClientWrapper,
    made: Instant,
    /// By the address of the text of the statement for one row, which is faster to look up than the text.
    prepared: HashMap<usize, Option<Statement>>,
    /// The same for the statements of whole plans.
    together: HashMap<Vec<usize>, Option<Statement>>,
    each_by_itself: HashMap<Vec<usize>, Option<Statement>>,
}

impl Session {
    pub(super) async fn open(connector: &Connector) -> Result<Session, StoreError> {
        let client = connector.session().await?;
        let set = timeout(connector.within(), client.batch_execute(BY_KEYS)).await;
        set.map_err(StoreError::unavailable)?.map_err(fault::failure)?;
        Ok(Session {
            client,
            made: Instant::now(),
            prepared: HashMap::new(),
            together: HashMap::new(),
            each_by_itself: HashMap::new(),
        })
    }

    pub(super) fn is_usable(&self, connector: &Connector) -> bool {
        !self.client.is_closed() && !connector.is_stale(self.made)
    }

    /// Waits until the server has finished, although the caller has gone.
    pub(super) async fn finished(self, connector: &Connector) {
        connector.finished(&self.client, self.made).await;
    }

    /// The statement that does for many rows what `sql` does for one; none where that is not possible.
    pub(super) async fn for_many(&mut self, sql: &'static str) -> Result<Option<Statement>, Error> {
        let address = sql.as_ptr().addr();
        if !self.prepared.contains_key(&address) {
            let types = self.types(sql).await?;
            let prepared = match columnar::for_many(sql, &types) {
                Some(sql) => Some(self.client.prepare(&sql).await?),
                None => None,
            };
            self.prepared.insert(address, prepared);
        }
        Ok(self.prepared.get(&address).and_then(Clone::clone))
    }

    /// The statement that does for many plans what these statements do for one. The flag says whether a statement is
    /// guarded.
    pub(super) async fn together(&mut self, statements: &[(&'static str, bool)]) -> Result<Option<Statement>, Error> {
        let shape = shape(statements);
        if let Some(prepared) = self.together.get(&shape) {
            return Ok(prepared.clone());
        }
        let prepared = self.plans(statements, columnar::together).await?;
        self.together.insert(shape, prepared.clone());
        Ok(prepared)
    }

    /// The same, but a plan whose guard does not hold does not undo the others; none where that is not possible.
    pub(super) async fn each_by_itself(
        &mut self,
        statements: &[(&'static str, bool)],
    ) -> Result<Option<Statement>, Error> {
        let shape = shape(statements);
        if let Some(prepared) = self.each_by_itself.get(&shape) {
            return Ok(prepared.clone());
        }
        let prepared = self.plans(statements, columnar::each_by_itself).await?;
        self.each_by_itself.insert(shape, prepared.clone());
        Ok(prepared)
    }

    async fn plans(
        &self,
        statements: &[(&'static str, bool)],
        text: fn(&[Part]) -> Option<String>,
    ) -> Result<Option<Statement>, Error> {
        let mut parts = Vec::with_capacity(statements.len());
        for (sql, guarded) in statements {
            parts.push(Part { sql, types: self.types(sql).await?, guarded: *guarded });
        }
        match text(&parts) {
            Some(sql) => self.client.prepare(&sql).await.map(Some),
            None => Ok(None),
        }
    }

    /// The types of a statement's parameters, which only the server knows.
    async fn types(&self, sql: &str) -> Result<Vec<Type>, Error> {
        Ok(self.client.prepare(sql).await?.params().to_vec())
    }
}

fn shape(statements: &[(&'static str, bool)]) -> Vec<usize> {
    statements.iter().map(|(sql, _)| sql.as_ptr().addr()).collect()
}

/// Turns rows of parameters into columns.
pub(super) fn columns<'a>(rows: &[&'a [Value]]) -> Vec<Vec<&'a Value>> {
    let width = rows.first().map_or(0, |row| row.len());
    (0..width).map(|column| rows.iter().map(|row| &row[column]).collect()).collect()
}

pub(super) fn arrays<'a>(columns: &'a [Vec<&'a Value>]) -> Vec<&'a (dyn ToSql + Sync)> {
    columns.iter().map(|column| column as &(dyn ToSql + Sync)).collect()
}
