//! Copies an installation from SQLite to PostgreSQL: everything, or nothing at all.
//!
//! The source is locked against writes meanwhile, so no acknowledged commit is left behind. The source is not changed.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, ErrorCode, types::ValueRef};
use tokio::{sync::mpsc, task::JoinHandle};

use crate::{
    Store,
    error::{OpenError, StoreError},
    history::Tables,
    postgres::{self, PostgresUrl},
    short_ids::{Projects, ShortIds},
    sqlite,
    value::Value,
    verify::Breach,
};

/// Every table, after those that its rows refer to. The search indexes are not copied, as maintenance rebuilds them; the
/// numbers of projects are for short ids, which only SQLite has; and nodes are processes that run.
pub(crate) const TABLES: [&str; 52] = [
    "installation",
    "users",
    "projects",
    "members",
    "sessions",
    "invites",
    "sign_ins",
    "known_addresses",
    "forms",
    "audit",
    "allowed_origins",
    "logos",
    "api_keys",
    "key_uses",
    "links",
    "payments",
    "payment_marks",
    "payment_sums",
    "checkouts",
    "link_attempts",
    "views",
    "idempotency",
    "receipts",
    "notices",
    "postings",
    "entries",
    "balance_checkpoints",
    "volumes",
    "events",
    "deliveries",
    "attempts",
    "bank_accounts",
    "bank_settings",
    "bank_credentials",
    "bank_assignments",
    "bank_numbers",
    "bank_requests",
    "bank_calls",
    "strays",
    "stray_entries",
    "openings",
    "sales",
    "opening_attempts",
    "bank_codes",
    "bank_jobs",
    "bank_sends",
    "bank_money",
    "bank_serials",
    "bank_reconciliations",
    "bank_comparisons",
    "bank_differences",
    "bank_undecided",
];
/// A column that only SQLite has: the number of a payment in the order of commits, for the search index.
const SQLITE_ONLY: (&str, &str) = ("payments", "number");
/// Rows in one batch, and batches that may wait to be written.
const ROWS_AT_ONCE: usize = 256;
const BATCHES_MOST: usize = 4;

/// A copied table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedTable {
    pub table: &'static str,
    pub rows: i64,
}

/// Why an installation was not copied. The target is left empty, unless it had data before.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error("the source cannot be opened: {0}")]
    Source(#[source] OpenError),
    #[error("the source has no tables of lunas; name the file of an installation")]
    SourceMissing,
    #[error("the source was made by an older version of lunas; run `lunas migrate` on it first")]
    SourceBehind,
    #[error("the source is being written by someone else; stop the server that uses it")]
    SourceBusy,
    #[error("the target cannot be opened: {0}")]
    Target(#[source] OpenError),
    #[error("the target has data already, in the table {0}; copy into an empty database")]
    NotEmpty(String),
    #[error("the target is in use by someone else; stop the servers that use it")]
    TargetBusy,
    #[error("the table {table} cannot be copied, and nothing was kept")]
    Table { table: &'static str, source: StoreError },
    #[error("the table {table} has {source_rows} rows in the source and {target_rows} in the copy; nothing was kept")]
    Differs { table: &'static str, source_rows: i64, target_rows: i64 },
    #[error("what was copied breaks a rule ({}: {}), and nothing was kept; run `lunas verify` on the source", .0.invariant, .0.row)]
    Breached(Breach),
    #[error("the copy was made, but the server warned that its standby may not have it; look at the server's log")]
    StandbyUnconfirmed,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Copies everything in the SQLite file at `from` into the PostgreSQL database at `to`, which must be empty.
    /// Writers of the source wait until the copy is finished, or get an error that the database is unavailable.
    pub async fn copy(from: &Path, to: &PostgresUrl) -> Result<Vec<CopiedTable>, CopyError> {
        let mut source = Source::lock(from.to_owned()).await?;
        postgres::fill(to, &mut source).await
    }
}

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
    async fn lock(path: PathBuf) -> Result<Source, CopyError> {
        let held = move || {
            let connection = sqlite::open_unchanged(&path).map_err(|error| CopyError::Source(error.into()))?;
            match sqlite::tables(&connection).map_err(CopyError::Source)? {
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

    #[tokio::test]
    async fn every_table_is_copied_but_the_search_indexes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lunas.db");
        Store::migrate_sqlite(&path).await.unwrap();
        let connection = Connection::open(&path).unwrap();
        let names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'payment_search%' \
                     AND name NOT LIKE 'link_search%' AND name NOT IN ('nodes', 'project_numbers', 'refinery_schema_history') \
                     ORDER BY name";
        let mut statement = connection.prepare(names).unwrap();
        let names: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let mut copied = TABLES;
        copied.sort_unstable();
        assert_eq!(names, copied);
    }

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
