//! SQLite: one writer thread that commits in groups, and read-only connections for readers.

mod connect;
mod copy;
mod inspect;
mod interrupt;
mod log;
mod reader;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use domain::api_key::KeyHash;
use futures_util::future::BoxFuture;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use tokio::sync::oneshot;

use crate::{
    error::{CommitError, OpenError, StoreError},
    history::{Applied, ExistingTables, HISTORY, TABLES_OF_OURS, Tables},
    key_owner::KeyOwner,
    plan::Plan,
    scans::{POLLS_AT_ONCE, SCANS_AT_ONCE, ScanLimits},
    value::{Decode, Query},
};
use connect::{BUSY_TIMEOUT, connect};
use interrupt::Interruptible;
use log::Log;
use reader::{Read, Reader, Readers};
use writer::Writer;

pub(crate) use copy::Source;
pub(crate) use inspect::inspect;
pub use inspect::{SqliteFindings, Writing};
pub(crate) use reader::Version;

refinery::embed_migrations!("migrations/sqlite");

/// When two processes open a new file at once, both try to migrate it; the second one retries.
const MIGRATION_ATTEMPTS: usize = 5;

#[derive(Clone)]
pub(crate) struct Sqlite {
    writer: Arc<Writer>,
    readers: Arc<Readers>,
    scans: ScanLimits,
}

impl Sqlite {
    pub(crate) fn open(path: &Path) -> Result<Sqlite, OpenError> {
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        // SQLite opens a file without write permission as read-only. Fail now rather than at the first commit.
        if connection.is_readonly("main").map_err(StoreError::unavailable)? {
            return Err(StoreError::unavailable("the file cannot be written").into());
        }
        migrate(&mut connection)?;
        let log = Log::start(path, connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?, log::LOG_BYTES)?;
        Ok(Sqlite {
            writer: Arc::new(Writer::start(connection, log)?),
            readers: Arc::new(Readers::new(PathBuf::from(path))),
            scans: ScanLimits::new(SCANS_AT_ONCE, POLLS_AT_ONCE),
        })
    }

    /// Opens a file with current tables for reading alone, and leaves its journal mode as it is.
    pub(crate) fn open_to_read(path: &Path) -> Sqlite {
        Sqlite {
            writer: Arc::new(Writer::closed()),
            readers: Arc::new(Readers::new(PathBuf::from(path))),
            scans: ScanLimits::new(SCANS_AT_ONCE, POLLS_AT_ONCE),
        }
    }

    pub(crate) async fn commit(&self, plan: Plan) -> Result<(), CommitError> {
        self.writer.commit(plan).await
    }

    pub(crate) async fn commit_each(&self, plans: Vec<Plan>) -> Vec<Result<(), CommitError>> {
        self.writer.commit_each(plans).await
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.writer.is_alive()
    }

    pub(crate) async fn close(&self) {
        // The writer closes last: the last connection copies the write-ahead log into the file, and readers may not
        // write.
        self.readers.close();
        self.writer.close().await;
    }

    /// Reads by key take microseconds, less than handing them to another thread would.
    pub(crate) fn one<T>(&self, query: &Query, decode: Decode<T>) -> Result<Option<T>, StoreError> {
        let mut found = None;
        self.readers.with(&mut |reader| {
            reader.first(query, &mut |columns| {
                found = Some(decode(columns)?);
                Ok(())
            })
        })?;
        Ok(found)
    }

    /// The owner of a key, as of now.
    pub(crate) fn key_owner(
        &self,
        hash: KeyHash,
        query: &Query,
        decode: Decode<KeyOwner>,
    ) -> Result<Option<KeyOwner>, StoreError> {
        let mut owner = None;
        self.readers.with(&mut |reader| {
            owner = reader.owner(hash, query, decode)?;
            Ok(())
        })?;
        Ok(owner)
    }

    /// Read on the calling thread, like reads by key and for the same reason.
    pub(crate) fn version(&self) -> Result<Version, StoreError> {
        self.readers.version()
    }

    pub(crate) async fn many<T: Send + 'static>(&self, query: Query, decode: Decode<T>) -> Result<Vec<T>, StoreError> {
        let permit = self.scans.scan(query.project()).await?;
        self.scan(permit, query, decode).await
    }

    pub(crate) async fn due<T: Send + 'static>(&self, query: Query, decode: Decode<T>) -> Result<Vec<T>, StoreError> {
        self.scan(self.scans.poll().await?, query, decode).await
    }

    async fn scan<T: Send + 'static>(
        &self,
        permit: impl Send + 'static,
        query: Query,
        decode: Decode<T>,
    ) -> Result<Vec<T>, StoreError> {
        let (sender, answers) = oneshot::channel();
        let read = move |reader: &mut Reader| {
            let mut answers = Vec::new();
            reader.all(&query, &mut |columns| {
                answers.push(decode(columns)?);
                Ok(())
            })?;
            // The caller may have gone.
            let _ = sender.send(answers);
            Ok(())
        };
        self.on_its_own_thread(Box::new(permit), Box::new(read)).await?;
        answers.await.map_err(StoreError::unavailable)
    }

    /// Lends a connection to `read`, which may take long. When the caller goes away, it is interrupted.
    fn on_its_own_thread(&self, permit: Box<dyn Send>, read: Read) -> BoxFuture<'static, Result<(), StoreError>> {
        let (readers, scan) = (Arc::clone(&self.readers), Interruptible::default());
        let caller = scan.caller();
        let work = move || {
            // Held until the scan ends, even when its caller has gone.
            let _permit = permit;
            let mut read = Some(read);
            readers.with(&mut |reader| read.take().map_or(Ok(()), |read| scan.run(reader, read)))
        };
        Box::pin(async {
            let _caller = caller;
            tokio::task::spawn_blocking(work).await.map_err(StoreError::unavailable)?
        })
    }
}

/// Migrates the tables, and answers what state they were in.
fn migrate(connection: &mut Connection) -> Result<Tables, OpenError> {
    let mut attempt = 1;
    loop {
        let found = tables(connection)?;
        // Grouped: the tables and the history row are written in one transaction. A crash between the two would leave a
        // file that every later start rejects.
        match without_foreign_keys(connection, |connection| migrations::runner().set_grouped(true).run(connection))? {
            Ok(report) if report.applied_migrations().is_empty() => return Ok(Tables::Current),
            Ok(_) => return Ok(found),
            Err(_) if attempt < MIGRATION_ATTEMPTS => attempt += 1,
            Err(error) => return Err(StoreError::unavailable(error).into()),
        }
    }
}

/// Runs `work` without foreign key checks: a migration that recreates a table leaves references to it dangling for a
/// moment. SQLite changes this setting only outside of a transaction.
fn without_foreign_keys<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> T,
) -> Result<T, StoreError> {
    let enforce = |connection: &Connection, on: bool| {
        connection.pragma_update(None, "foreign_keys", on).map_err(StoreError::unavailable)
    };
    enforce(connection, false)?;
    let done = work(connection);
    enforce(connection, true)?;
    Ok(done)
}

pub(crate) fn migrate_at(path: &Path) -> Result<Tables, OpenError> {
    migrate(&mut connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?)
}

pub(crate) fn tables_at(path: &Path) -> Result<Tables, OpenError> {
    tables(&open_unchanged(path)?)
}

/// A connection that creates no file and changes none. It has write access all the same: a read-only connection would
/// leave an empty log file behind.
pub(crate) fn open_unchanged(path: &Path) -> Result<Connection, StoreError> {
    let open = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        Ok(connection)
    };
    open().map_err(|error: rusqlite::Error| StoreError::unavailable(error))
}

pub(crate) fn tables(connection: &Connection) -> Result<Tables, OpenError> {
    // One snapshot for all questions, as another process may be migrating.
    let snapshot = connection.unchecked_transaction().map_err(StoreError::unavailable)?;
    let named = |name: &str| snapshot.table_exists(None, name).map_err(StoreError::unavailable);
    let others = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name <> $1 \
                  AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\')";
    let other_tables = snapshot.query_row(others, [HISTORY], |row| row.get(0)).map_err(StoreError::unavailable)?;
    let tables_of_ours = named(TABLES_OF_OURS[0])? && named(TABLES_OF_OURS[1])?;
    let history = if named(HISTORY)? { Some(history(&snapshot)?) } else { None };
    ExistingTables { history, other_tables, tables_of_ours }.judge(migrations::runner().get_migrations())
}

fn history(connection: &Connection) -> Result<Vec<Applied>, OpenError> {
    let lines = || -> rusqlite::Result<Vec<Applied>> {
        let sql = format!("SELECT version, name, checksum FROM {HISTORY} ORDER BY version");
        let mut statement = connection.prepare(&sql)?;
        let line = |row: &Row<'_>| Ok(Applied { version: row.get(0)?, name: row.get(1)?, checksum: row.get(2)? });
        statement.query_map([], line)?.collect()
    };
    lines().map_err(|error| match error.sqlite_error_code() {
        // The history has other columns or other contents than ours.
        Some(ErrorCode::Unknown) | None => OpenError::OtherProgram,
        Some(_) => StoreError::unavailable(error).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It never ends by itself.
    fn endless() -> Query {
        Query::new("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n", [])
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_scan_whose_caller_has_gone_is_interrupted_and_gives_its_permit_back() {
        let directory = tempfile::tempdir().unwrap();
        let sqlite = Sqlite::open(&directory.path().join("lunas.db")).unwrap();
        // More than may run at once, so that some are interrupted while they run and some before.
        for _ in 0..3 * SCANS_AT_ONCE {
            let scan = sqlite.many(endless(), |columns| columns.integer());
            let ended = tokio::time::timeout(std::time::Duration::from_millis(10), scan).await;
            assert!(ended.is_err(), "it is endless");
        }
        let one = || sqlite.many(Query::new("SELECT 1", []), |columns| columns.integer());
        assert_eq!(one().await.unwrap(), [1]);
        let version = sqlite.one(&Query::new("SELECT 1", []), |columns| columns.integer());
        assert_eq!(version.unwrap(), Some(1), "its connection is used again");
        sqlite.close().await;
    }
}
