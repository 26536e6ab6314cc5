//! A connection that one task uses, and what is prepared on it for many rows.

use std::collections::HashMap;

use deadpool_postgres::ClientWrapper;
use tokio_postgres::{Error, Statement, types::ToSql};

use super::columnar;
use crate::value::Value;

pub(super) struct Session {
    pub(super) client: ClientWrapper,
    /// By where the text of the statement for one row stands, which is quicker to find than the text.
    prepared: HashMap<usize, Option<Statement>>,
}

impl Session {
    pub(super) fn new(client: ClientWrapper) -> Session {
        Session { client, prepared: HashMap::new() }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// What does for many rows what `sql` does for one; none where there is no such statement.
    pub(super) async fn for_many(&mut self, sql: &'static str) -> Result<Option<Statement>, Error> {
        let place = sql.as_ptr().addr();
        if !self.prepared.contains_key(&place) {
            // Only the server knows what the parameters are.
            let types = self.client.prepare(sql).await?.params().to_vec();
            let prepared = match columnar::for_many(sql, &types) {
                Some(sql) => Some(self.client.prepare(&sql).await?),
                None => None,
            };
            self.prepared.insert(place, prepared);
        }
        Ok(self.prepared.get(&place).and_then(Clone::clone))
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
