//! Read-only connections, handed out one at a time and kept for the next reader.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::connect;
use crate::{
    error::StoreError,
    value::{Columns, Decode, Query},
};

/// Idle connections kept open; more may be open while they are in use.
const READERS_KEPT: usize = 8;

pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Readers {
        Readers { path, idle: Mutex::new(Vec::new()) }
    }

    pub(super) fn with<T>(&self, read: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connect(&self.path, OpenFlags::SQLITE_OPEN_READ_ONLY)?,
        };
        let answer = read(&connection);
        let mut idle = self.idle();
        if idle.len() < READERS_KEPT {
            idle.push(connection);
        }
        answer
    }

    /// Closes what is idle. A read that comes later opens a connection again.
    pub(super) fn close(&self) {
        self.idle().clear();
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
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
