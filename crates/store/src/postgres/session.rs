//! A connection that one task uses, and what is prepared on it for many rows.

use std::{collections::HashMap, time::Instant};

use deadpool_postgres::ClientWrapper;
use tokio_postgres::{Error, Statement, types::ToSql};

use super::{columnar, connect::Connector};
use crate::value::Value;

pub(super) struct Session {
    pub(super) client: ClientWrapper,
    made: Instant,
    /// By where the text of the statement for one row stands, which is quicker to find than the text.
    prepared: HashMap<usize, Option<Statement>>,
}

impl Session {
    pub(super) fn new(client: ClientWrapper) -> Session {
        Session { client, made: Instant::now(), prepared: HashMap::new() }
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
