//! The source of a copy: a file that is locked against writes meanwhile, so that no acknowledged commit is left behind.
//! It is not changed.

use std::{collections::BTreeSet, path::PathBuf};

use rusqlite::{Connection, ErrorCode, types::ValueRef};
use tokio::{sync::mpsc, task::JoinHandle};

use super::{open_unchanged, tables};
use crate::{
    copy::CopyError,
    error::StoreError,
    history::Tables,
    short_ids::{Projects, ShortIds},
    value::Value,
};

/// A column that only SQLite has: the number of a payment in the order of commits, for the search index.
const SQLITE_ONLY: (&str, &str) = ("payments", "number");
/// Rows in one batch, and batches that may wait to be written.
const ROWS_AT_ONCE: usize = 256;
const BATCHES_MOST: usize = 4;

pub(crate) type Row = Vec<Value>;

/// The file that is copied. It is locked against writes while this value exists.
pub(crate) struct Source {
    /// None only while a thread reads with it.
    connection: Option<Connection>,
}

/// The rows of one table while they are read.
pub(crate) struct Rows {
    pub(crate) batches: mpsc::Receiver<Vec<Row>>,
    reading: JoinHandle<(Connection, Result<(), StoreError>)>,
}

impl Source {
    pub(crate) async fn lock(path: PathBuf) -> Result<Source, CopyError> {
        let held = move || {
            let connection = open_unchanged(&path).map_err(|error| CopyError::Source(error.into()))?;
            match tables(&connection).map_err(CopyError::Source)? {
                Tables::Missing => return Err(CopyError::SourceMissing),
                Tables::Behind => return Err(CopyError::SourceBehind),
                Tables::Current => {}
            }
            match connection.execute_batch("BEGIN IMMEDIATE") {
                Ok(()) => Ok(Source { connection: Some(connection) }),
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Err(CopyError::SourceBusy),
                Err(error) => Err(CopyError::Source(StoreError::unavailable(error).into())),
            }
        };
        tokio::task::spawn_blocking(held).await.map_err(StoreError::unavailable)?
    }

    fn connection(&self) -> Result<&Connection, StoreError> {
        self.connection.as_ref().ok_or_else(|| StoreError::unexpected("the source is being read"))
    }

    /// Checks that the source's table has exactly these columns, so that nothing can be left behind.
    pub(crate) fn check_columns(&self, table: &str, columns: &[String]) -> Result<(), StoreError> {
        let statement =
            self.connection()?.prepare(&format!("SELECT * FROM {table}")).map_err(StoreError::unexpected)?;
        let own: BTreeSet<&str> =
            statement.column_names().into_iter().filter(|name| (table, *name) != SQLITE_ONLY).collect();
        match own == columns.iter().map(String::as_str).collect() {
            true => Ok(()),
            false => Err(StoreError::unexpected("its columns differ between the source and the target")),
        }
    }

    pub(crate) fn count(&self, table: &str) -> Result<i64, StoreError> {
        let counted = self.connection()?.query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get(0));
        counted.map_err(StoreError::unavailable)
    }

    /// Starts to read a table on a thread. Call [`Source::finish`] at the end.
    /// `texts` says which of the columns are texts; a short id in one of them becomes a text.
    pub(crate) fn read(&mut self, table: &str, columns: &[String], texts: Vec<bool>) -> Result<Rows, StoreError> {
        let connection = self.connection.take().ok_or_else(|| StoreError::unexpected("the source is being read"))?;
        let sql = format!("SELECT {} FROM {table}", columns.join(", "));
        let (sender, batches) = mpsc::channel(BATCHES_MOST);
        let reading = tokio::task::spawn_blocking(move || {
            let read = send_rows(&connection, &sql, &texts, &sender);
            (connection, read)
        });
        Ok(Rows { batches, reading })
    }

    /// Takes the connection back, and returns the error if reading failed.
    pub(crate) async fn finish(&mut self, rows: Rows) -> Result<(), StoreError> {
        let Rows { batches, reading } = rows;
        drop(batches);
        let (connection, read) = reading.await.map_err(StoreError::unavailable)?;
        self.connection = Some(connection);
        read
    }
}

fn send_rows(
    connection: &Connection,
    sql: &str,
    texts: &[bool],
    sender: &mpsc::Sender<Vec<Row>>,
) -> Result<(), StoreError> {
    let projects = Projects::default();
    let ids = ShortIds::new(connection, &projects);
    let mut statement = connection.prepare(sql).map_err(StoreError::unexpected)?;
    let mut rows = statement.query([]).map_err(StoreError::unavailable)?;
    let mut batch = Vec::new();
    while let Some(row) = rows.next().map_err(StoreError::unavailable)? {
        let value = |(column, is_text): (usize, &bool)| match row.get_ref(column).map_err(StoreError::unexpected)? {
            ValueRef::Blob(short) if *is_text => ids.text(short).map(Value::from),
            value => value_of(value),
        };
        batch.push(texts.iter().enumerate().map(value).collect::<Result<Row, _>>()?);
        if batch.len() == ROWS_AT_ONCE && sender.blocking_send(std::mem::take(&mut batch)).is_err() {
            // The receiver has stopped because of an error of its own, which it reports.
            return Ok(());
        }
    }
    if !batch.is_empty() {
        let _ = sender.blocking_send(batch);
    }
    Ok(())
}

fn value_of(value: ValueRef<'_>) -> Result<Value, StoreError> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Text(text) => {
            Value::Text(std::str::from_utf8(text).map_err(StoreError::unexpected)?.to_owned().into())
        }
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_owned()),
        ValueRef::Real(number) => return Err(StoreError::unexpected(format!("{number} is no value of ours"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[tokio::test]
    async fn a_source_is_locked_while_it_is_held_and_unchanged_afterwards() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lunas.db");
        Store::migrate_sqlite(&path).await.unwrap();
        let mut source = Source::lock(path.clone()).await.unwrap();
        let other = Connection::open(&path).unwrap();
        let add = |name: &str| other.execute("INSERT INTO installation (name, value) VALUES ($1, 'x')", [name]);
        other.busy_timeout(std::time::Duration::ZERO).unwrap();
        assert!(add("a").is_err());
        let columns = ["name".to_owned(), "value".to_owned()];
        source.check_columns("installation", &columns).unwrap();
        assert!(source.check_columns("installation", &columns[..1]).is_err());
        let rows = source.read("installation", &columns, vec![true; 2]).unwrap();
        source.finish(rows).await.unwrap();
        assert_eq!(source.count("installation").unwrap(), 0);
        drop(source);
        add("a").unwrap();
        assert!(matches!(Source::lock(directory.path().join("none.db")).await, Err(CopyError::Source(_))));
        std::fs::write(directory.path().join("empty.db"), "").unwrap();
        assert!(matches!(Source::lock(directory.path().join("empty.db")).await, Err(CopyError::SourceMissing)));
    }
}
