//! Read-only connections. Each read takes one and returns it for the next read.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use domain::api_key::KeyHash;
use rusqlite::{Connection, InterruptHandle, OpenFlags};

use super::connect::connect;
use crate::{
    error::StoreError,
    key_owner::KeyOwner,
    short_ids::{Projects, ShortIds},
    value::{Columns, Decode, Query, TakeRow, bind},
};

/// Idle connections that are kept open; more may be open while they are in use.
const READERS_KEPT: usize = 8;

/// Key owners that a reader caches. When there are more, the cache is cleared; the next request of each key adds it
/// again.
const OWNERS_MOST: usize = 1_000;

/// A connection with a cache of key owners. Every commit empties SQLite's own page cache, so looking a key up again
/// takes longer than asking whether anything was committed since.
pub(super) struct Reader {
    connection: Connection,
    /// The version of the database at which `owners` were read.
    version: i64,
    owners: HashMap<KeyHash, KeyOwner>,
    projects: Projects,
}

impl Reader {
    fn open(path: &Path) -> Result<Reader, StoreError> {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Ok(Reader { connection, version: 0, owners: HashMap::new(), projects: Projects::default() })
    }

    /// The owner of a key, as of now: the cache is used only if nothing was committed since.
    pub(super) fn owner(
        &mut self,
        hash: KeyHash,
        query: &Query,
        decode: Decode<KeyOwner>,
    ) -> Result<Option<KeyOwner>, StoreError> {
        let version = data_version(&self.connection)?;
        if version != self.version || self.owners.len() >= OWNERS_MOST {
            self.owners.clear();
            self.version = version;
        }
        if let Some(owner) = self.owners.get(&hash) {
            return Ok(Some(owner.clone()));
        }
        let mut owner = None;
        self.first(query, &mut |columns| {
            owner = Some(decode(columns)?);
            Ok(())
        })?;
        self.owners.extend(owner.clone().map(|owner| (hash, owner)));
        Ok(owner)
    }

    pub(super) fn interrupt_handle(&self) -> InterruptHandle {
        self.connection.get_interrupt_handle()
    }

    fn ids(&self) -> ShortIds<'_> {
        ShortIds::new(&self.connection, &self.projects)
    }

    /// Gives the first row that a query finds to `take`.
    pub(super) fn first(&self, query: &Query, take: &mut TakeRow<'_>) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(&query.sql).map_err(failure)?;
        bind(&mut statement, &query.parameters, self.ids()).map_err(failure)?;
        let mut rows = statement.raw_query();
        rows.next().map_err(failure)?.map_or(Ok(()), |row| take(&mut Columns::of_sqlite(row, self.ids())))
    }

    /// Gives every row that a query finds to `take`.
    pub(super) fn all(&self, query: &Query, take: &mut TakeRow<'_>) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(&query.sql).map_err(failure)?;
        bind(&mut statement, &query.parameters, self.ids()).map_err(failure)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(failure)? {
            take(&mut Columns::of_sqlite(row, self.ids()))?;
        }
        Ok(())
    }
}

/// A read that has a connection lent to it.
pub(super) type Read = Box<dyn FnOnce(&mut Reader) -> Result<(), StoreError> + Send>;

/// A number that changes with every commit of any other connection, of this process or another.
fn data_version(connection: &Connection) -> Result<i64, StoreError> {
    let mut statement = connection.prepare_cached("PRAGMA data_version").map_err(failure)?;
    statement.query_row([], |row| row.get(0)).map_err(failure)
}

/// Changes with every commit, of this process or another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    /// Only numbers of the same connection can be compared.
    connection: u64,
    data: i64,
}

/// The connection that reads versions, and how many there were before it.
#[derive(Default)]
struct VersionProbe {
    connection: Option<Connection>,
    before: u64,
}

impl VersionProbe {
    fn version(&mut self, path: &Path) -> Result<Version, StoreError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                self.before += 1;
                connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?
            }
        };
        // After an error, the connection is dropped and the next call opens another.
        let data = data_version(&connection)?;
        self.connection = Some(connection);
        Ok(Version { connection: self.before, data })
    }
}

pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Reader>>,
    probe: Mutex<VersionProbe>,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Readers {
        Readers { path, idle: Mutex::default(), probe: Mutex::default() }
    }

    pub(super) fn version(&self) -> Result<Version, StoreError> {
        self.probe().version(&self.path)
    }

    /// Lends a connection to `read`.
    pub(super) fn with(&self, read: &mut dyn FnMut(&mut Reader) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let idle = self.idle().pop();
        let mut reader = match idle {
            Some(reader) => reader,
            None => Reader::open(&self.path)?,
        };
        let answer = read(&mut reader);
        let mut idle = self.idle();
        if idle.len() < READERS_KEPT {
            idle.push(reader);
        }
        answer
    }

    /// Closes idle connections. A later read opens a connection again.
    pub(super) fn close(&self) {
        self.idle().clear();
        self.probe().connection = None;
    }

    fn probe(&self) -> std::sync::MutexGuard<'_, VersionProbe> {
        // After a panic its connection may be missing; then the next call opens another.
        self.probe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Reader>> {
        // Pushing and popping are complete in themselves, so a panic elsewhere leaves the list valid.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A statement that SQLite rejects is our mistake; every other error is about the file, the disk or a lock.
fn failure(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::Unknown) | None => StoreError::unexpected(error),
        Some(_) => StoreError::unavailable(error),
    }
}
