//! SQLite: one writer thread with group commit, and readers on connections of their own.

mod inspect;
mod log;
mod reader;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use domain::api_key::KeyHash;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use tokio::sync::Semaphore;

use crate::{
    error::{CommitError, OpenError, StoreError},
    history::{Applied, Found, HISTORY, TABLES_OF_OURS, Tables},
    plan::Plan,
    read::keys::KeyOwner,
    value::{Decode, Query},
};
use log::Log;
use reader::Readers;
use writer::Writer;

pub(crate) use inspect::inspect;
pub use inspect::{SqliteFindings, Writing};
pub(crate) use reader::Version;

refinery::embed_migrations!("migrations/sqlite");

/// How long to wait for another process (a command beside the server) to finish its transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The rest between two tries where SQLite does not wait by itself.
const BUSY_REST: Duration = Duration::from_millis(5);
/// Scans that run, and scans that run or wait; one more hears at once that we are too busy.
const SCANS_AT_ONCE: usize = 4;
const SCANS_MOST: usize = 512;
/// Looks of the reconcilers that run at once.
const LOOKS_AT_ONCE: usize = 2;
/// Pages kept in memory; SQLite takes a negative number as KiB. It walks through the writer's whole cache at nearly every
/// commit, so more of it is slower, not faster.
const WRITER_CACHE_KIB: i64 = -8 * 1024;
const READER_CACHE_KIB: i64 = -8 * 1024;
/// Statements kept prepared on each connection.
const STATEMENTS_KEPT: usize = 128;
/// Two processes that start on a new file at once both migrate it; the one that comes second tries again.
const MIGRATION_ATTEMPTS: usize = 5;

#[derive(Clone)]
pub(crate) struct Sqlite {
    writer: Arc<Writer>,
    readers: Arc<Readers>,
    scanning: Arc<Semaphore>,
    looking: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Sqlite {
    pub(crate) fn open(path: &Path) -> Result<Sqlite, OpenError> {
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        // SQLite opens a file that it may not write as one to read; better to hear of it now than at the first commit.
        if connection.is_readonly("main").map_err(StoreError::unavailable)? {
            return Err(StoreError::unavailable("the file cannot be written").into());
        }
        migrate(&mut connection)?;
        let log = Log::start(path, connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?, log::LOG_BYTES)?;
        Ok(Sqlite {
            writer: Arc::new(Writer::start(connection, log)?),
            readers: Arc::new(Readers::new(PathBuf::from(path))),
            scanning: Arc::new(Semaphore::new(SCANS_AT_ONCE)),
            looking: Arc::new(Semaphore::new(LOOKS_AT_ONCE)),
            waiting: Arc::new(Semaphore::new(SCANS_MOST)),
        })
    }

    pub(crate) async fn commit(&self, plan: Plan) -> Result<(), CommitError> {
        self.writer.commit(plan).await
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.writer.is_alive()
    }

    pub(crate) async fn close(&self) {
        // The writer goes last: whoever closes a file last folds its log into it, and readers may not write.
        self.readers.close();
        self.writer.close().await;
    }

    /// Point reads take microseconds, less than handing them to another thread would.
    pub(crate) fn one<T>(&self, query: &Query, decode: Decode<T>) -> Result<Option<T>, StoreError> {
        self.readers.with(|connection| reader::first(connection, query, decode))
    }

    /// The owner of a key as the database has it at this moment.
    pub(crate) fn key_owner(
        &self,
        hash: KeyHash,
        query: &Query,
        decode: Decode<KeyOwner>,
    ) -> Result<Option<KeyOwner>, StoreError> {
        self.readers.with_reader(|reader| reader.owner(hash, query, decode))
    }

    /// Asked where it stands, like point reads, and for the same reason.
    pub(crate) fn version(&self) -> Result<Version, StoreError> {
        self.readers.version()
    }

    /// Scans take turns: more of them at once would only take connections, memory and cores from everybody else.
    pub(crate) async fn many<T: Send + 'static>(&self, query: Query, decode: Decode<T>) -> Result<Vec<T>, StoreError> {
        let place = Arc::clone(&self.waiting).try_acquire_owned();
        let _place = place.map_err(|_| StoreError::unavailable("too many scans are waiting"))?;
        self.scan(&self.scanning, query, decode).await
    }

    pub(crate) async fn due<T: Send + 'static>(&self, query: Query, decode: Decode<T>) -> Result<Vec<T>, StoreError> {
        self.scan(&self.looking, query, decode).await
    }

    async fn scan<T: Send + 'static>(
        &self,
        turns: &Arc<Semaphore>,
        query: Query,
        decode: Decode<T>,
    ) -> Result<Vec<T>, StoreError> {
        let turn = Arc::clone(turns).acquire_owned().await.map_err(StoreError::unavailable)?;
        let readers = Arc::clone(&self.readers);
        let read = move || {
            // Held until the scan is over, even when whoever asked for it has gone.
            let _turn = turn;
            readers.with(|connection| reader::all(connection, &query, decode))
        };
        tokio::task::spawn_blocking(read).await.map_err(StoreError::unavailable)?
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
        if flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
            use_write_ahead_log(&connection)?;
            // An acknowledged commit must survive a power cut: the log is synced at every one.
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.pragma_update(None, "foreign_keys", true)?;
            // See `log`: nobody copies the log in the middle of a commit.
            connection.pragma_update(None, "wal_autocheckpoint", 0)?;
            connection.pragma_update(None, "journal_size_limit", log::LOG_BYTES)?;
            connection.pragma_update(None, "cache_size", WRITER_CACHE_KIB)?;
        } else {
            connection.pragma_update(None, "cache_size", READER_CACHE_KIB)?;
        }
        Ok(connection)
    };
    open().map_err(StoreError::unavailable)
}

/// A new file changes to a write-ahead log only while nobody else looks at it, and here SQLite does not wait by itself.
fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < deadline => {
                thread::sleep(BUSY_REST);
            }
            outcome => return outcome,
        }
    }
}

/// Brings the tables up to date, and answers how far they were.
fn migrate(connection: &mut Connection) -> Result<Tables, OpenError> {
    let mut attempt = 1;
    loop {
        let found = tables(connection)?;
        // Grouped: tables and the note that they were made are one transaction, so that a crash between the two cannot
        // leave a file that is refused at every later start.
        match with_references_unwatched(connection, |connection| {
            migrations::runner().set_grouped(true).run(connection)
        })? {
            Ok(report) if report.applied_migrations().is_empty() => return Ok(Tables::Current),
            Ok(_) => return Ok(found),
            Err(_) if attempt < MIGRATION_ATTEMPTS => attempt += 1,
            Err(error) => return Err(StoreError::unavailable(error).into()),
        }
    }
}

/// A table that is made anew is missing for a moment, and what refers to it is not to be blamed. SQLite looks away only when it
/// is asked to before the transaction begins.
fn with_references_unwatched<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> T,
) -> Result<T, StoreError> {
    let watched = |connection: &Connection, on: bool| {
        connection.pragma_update(None, "foreign_keys", on).map_err(StoreError::unavailable)
    };
    watched(connection, false)?;
    let done = work(connection);
    watched(connection, true)?;
    Ok(done)
}

pub(crate) fn bring_up_to_date(path: &Path) -> Result<Tables, OpenError> {
    migrate(&mut connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?)
}

pub(crate) fn look(path: &Path) -> Result<Tables, OpenError> {
    tables(&look_into(path)?)
}

/// A connection that makes no file and changes none. It may write, as one that may not would leave an empty log behind.
pub(crate) fn look_into(path: &Path) -> Result<Connection, StoreError> {
    let open = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        Ok(connection)
    };
    open().map_err(|error: rusqlite::Error| StoreError::unavailable(error))
}

pub(crate) fn tables(connection: &Connection) -> Result<Tables, OpenError> {
    // One look at everything: another process may be making the tables.
    let snapshot = connection.unchecked_transaction().map_err(StoreError::unavailable)?;
    let named = |name: &str| snapshot.table_exists(None, name).map_err(StoreError::unavailable);
    let others = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name <> $1 \
                  AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\')";
    let other_tables = snapshot.query_row(others, [HISTORY], |row| row.get(0)).map_err(StoreError::unavailable)?;
    let tables_of_ours = named(TABLES_OF_OURS[0])? && named(TABLES_OF_OURS[1])?;
    let history = if named(HISTORY)? { Some(history(&snapshot)?) } else { None };
    Found { history, other_tables, tables_of_ours }.judge(migrations::runner().get_migrations())
}

fn history(connection: &Connection) -> Result<Vec<Applied>, OpenError> {
    let lines = || -> rusqlite::Result<Vec<Applied>> {
        let sql = format!("SELECT version, name, checksum FROM {HISTORY} ORDER BY version");
        let mut statement = connection.prepare(&sql)?;
        let line = |row: &Row<'_>| Ok(Applied { version: row.get(0)?, name: row.get(1)?, checksum: row.get(2)? });
        statement.query_map([], line)?.collect()
    };
    lines().map_err(|error| match error.sqlite_error_code() {
        // Other columns than ours, or other things in them.
        Some(ErrorCode::Unknown) | None => OpenError::OtherProgram,
        Some(_) => StoreError::unavailable(error).into(),
    })
}
