//! Read-only connections, handed out one at a time and kept for the next reader.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use domain::api_key::KeyHash;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::connect;
use crate::{
    error::StoreError,
    read::keys::KeyOwner,
    value::{Columns, Decode, Query},
};

/// Idle connections kept open; more may be open while they are in use.
const READERS_KEPT: usize = 8;

/// Key owners that a reader remembers; beyond that it forgets all, since the next request of each brings it back.
const OWNERS_MOST: usize = 1_000;

/// A connection, and whose keys it has found. Every commit empties SQLite's own page cache, so to find a key again takes
/// longer than to ask whether anything has changed at all.
pub(super) struct Reader {
    connection: Connection,
    /// What `owners` were found at.
    version: i64,
    owners: HashMap<KeyHash, KeyOwner>,
}

impl Reader {
    fn open(path: &Path) -> Result<Reader, StoreError> {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Ok(Reader { connection, version: 0, owners: HashMap::new() })
    }

    /// The owner of a key as of now: what was found before counts only while nobody has committed anything since.
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
            return Ok(Some(*owner));
        }
        let owner = first(&self.connection, query, decode)?;
        self.owners.extend(owner.map(|owner| (hash, owner)));
        Ok(owner)
    }
}

/// A number that changes with every commit of any other connection, in this process or another.
fn data_version(connection: &Connection) -> Result<i64, StoreError> {
    let mut statement = connection.prepare_cached("PRAGMA data_version").map_err(failure)?;
    statement.query_row([], |row| row.get(0)).map_err(failure)
}

/// Another one after any commit, whoever made it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    /// Only the numbers of one connection can be compared.
    connection: u64,
    data: i64,
}

/// The connection that is asked for versions, and how many there were before it.
#[derive(Default)]
struct Sentry {
    connection: Option<Connection>,
    before: u64,
}

impl Sentry {
    fn version(&mut self, path: &Path) -> Result<Version, StoreError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                self.before += 1;
                connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?
            }
        };
        // One that does not answer is not asked again.
        let data = data_version(&connection)?;
        self.connection = Some(connection);
        Ok(Version { connection: self.before, data })
    }
}

pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Reader>>,
    sentry: Mutex<Sentry>,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Readers {
        Readers { path, idle: Mutex::default(), sentry: Mutex::default() }
    }

    pub(super) fn version(&self) -> Result<Version, StoreError> {
        self.sentry().version(&self.path)
    }

    pub(super) fn with<T>(&self, read: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.with_reader(|reader| read(&reader.connection))
    }

    pub(super) fn with_reader<T>(
        &self,
        read: impl FnOnce(&mut Reader) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
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

    /// Closes what is idle. A read that comes later opens a connection again.
    pub(super) fn close(&self) {
        self.idle().clear();
        self.sentry().connection = None;
    }

    fn sentry(&self) -> std::sync::MutexGuard<'_, Sentry> {
        // After a panic in between its connection is missing, and then another is opened.
        self.sentry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Reader>> {
        // A list of idle connections is whole at every moment, so a panic elsewhere does not spoil it.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn first<T>(connection: &Connection, query: &Query, decode: Decode<T>) -> Result<Option<T>, StoreError> {
    let mut statement = connection.prepare_cached(&query.sql).map_err(failure)?;
    let mut rows = statement.query(params_from_iter(&query.parameters)).map_err(failure)?;
    let row = rows.next().map_err(failure)?;
    row.map(|row| decode(&mut Columns::of_sqlite(row))).transpose()
}

pub(super) fn all<T>(connection: &Connection, query: &Query, decode: Decode<T>) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(&query.sql).map_err(failure)?;
    let mut rows = statement.query(params_from_iter(&query.parameters)).map_err(failure)?;
    let mut answers = Vec::new();
    while let Some(row) = rows.next().map_err(failure)? {
        answers.push(decode(&mut Columns::of_sqlite(row))?);
    }
    Ok(answers)
}

/// A statement that SQLite cannot make sense of is our mistake; all else is the file, the disk or a lock.
fn failure(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::Unknown) | None => StoreError::unexpected(error),
        Some(_) => StoreError::unavailable(error),
    }
}
