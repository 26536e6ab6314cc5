//! A connection that one task uses, and what is prepared on it for many rows.

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

/// The way to a few rows is by their keys, whatever they are and however many others there are. To look for it each time takes
/// longer than to go it, and one that was found while a table was small would read all of it for ever after.
const BY_KEYS: &str = "SET plan_cache_mode = force_generic_plan; SET enable_bitmapscan = off; SET enable_hashjoin = off; \
    SET enable_mergejoin = off";

pub(super) struct Session {
    pub(super) client: ClientWrapper,
    made: Instant,
    /// By where the text of the statement for one row stands, which is quicker to find than the text.
    prepared: HashMap<usize, Option<Statement>>,
    /// The same for the statements of whole plans.
    together: HashMap<Vec<usize>, Option<Statement>>,
}

impl Session {
    pub(super) async fn open(connector: &Connector) -> Result<Session, StoreError> {
        let client = connector.session().await?;
        let set = timeout(connector.within(), client.batch_execute(BY_KEYS)).await;
        set.map_err(StoreError::unavailable)?.map_err(fault::failure)?;
        Ok(Session { client, made: Instant::now(), prepared: HashMap::new(), together: HashMap::new() })
    }

    pub(super) fn is_usable(&self, connector: &Connector) -> bool {
        !self.client.is_closed() && !connector.left_behind(self.made)
    }

    /// Waits until the server has done what it was asked, though nobody waits for its answer any more.
    pub(super) async fn ended(self, connector: &Connector) {
        connector.ended(&self.client, self.made).await;
    }

    /// What does for many rows what `sql` does for one; none where there is no such statement.
    pub(super) async fn for_many(&mut self, sql: &'static str) -> Result<Option<Statement>, Error> {
        let place = sql.as_ptr().addr();
        if !self.prepared.contains_key(&place) {
            let types = self.types(sql).await?;
            let prepared = match columnar::for_many(sql, &types) {
                Some(sql) => Some(self.client.prepare(&sql).await?),
                None => None,
            };
            self.prepared.insert(place, prepared);
        }
        Ok(self.prepared.get(&place).and_then(Clone::clone))
    }

    /// What does for many plans what these statements, each with whether it is guarded, do for one.
    pub(super) async fn together(&mut self, statements: &[(&'static str, bool)]) -> Result<Option<Statement>, Error> {
        let shape: Vec<usize> = statements.iter().map(|(sql, _)| sql.as_ptr().addr()).collect();
        if let Some(prepared) = self.together.get(&shape) {
            return Ok(prepared.clone());
        }
        let mut parts = Vec::with_capacity(statements.len());
        for (sql, guarded) in statements {
            parts.push(Part { sql, types: self.types(sql).await?, guarded: *guarded });
        }
        let prepared = match columnar::together(&parts) {
            Some(sql) => Some(self.client.prepare(&sql).await?),
            None => None,
        };
        self.together.insert(shape, prepared.clone());
        Ok(prepared)
    }

    /// Only the server knows what the parameters are.
    async fn types(&self, sql: &str) -> Result<Vec<Type>, Error> {
        Ok(self.client.prepare(sql).await?.params().to_vec())
    }
}

/// Turns rows of parameters into columns.
pub(super) fn columns<'a>(rows: &[&'a [Value]]) -> Vec<Vec<&'a Value>> {
    let width = rows.first().map_or(0, |row| row.len());
    (0..width).map(|column| rows.iter().map(|row| &row[column]).collect()).collect()
}

pub(super) fn arrays<'a>(columns: &'a [Vec<&'a Value>]) -> Vec<&'a (dyn ToSql + Sync)> {
    columns.iter().map(|column| column as &(dyn ToSql + Sync)).collect()
}
