//! Inspects a SQLite file for `lunas doctor`. The file is not changed.

use std::path::Path;

use rusqlite::{Connection, ErrorCode};

use crate::{
    error::{OpenError, StoreError},
    history::Tables,
};

/// Problems that are reported; a damaged file has more than anybody reads.
const PROBLEMS_MOST: usize = 5;

/// What was found. The caller decides whether it is a problem.
#[derive(Debug)]
pub struct SqliteFindings {
    pub writing: Writing,
    /// Damage that SQLite finds in the file; empty when there is none.
    pub problems: Vec<String>,
    /// SQLite's journal mode; `wal` once a server has opened the file.
    pub journal_mode: String,
    /// The state of the tables, or why they are not ours.
    pub tables: Result<Tables, OpenError>,
}

/// Whether a server could write to the file now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    Possible,
    /// Another process has held a transaction open for seconds.
    HeldUp,
    Forbidden,
}

pub(crate) fn inspect(path: &Path) -> Result<SqliteFindings, OpenError> {
    let connection = super::open_unchanged(path)?;
    let tables = super::tables(&connection);
    Ok(SqliteFindings {
        writing: writing(&connection).map_err(StoreError::unavailable)?,
        problems: problems(&connection).map_err(StoreError::unavailable)?,
        journal_mode: connection
            .query_row("PRAGMA journal_mode", [], |row| row.get(0))
            .map_err(StoreError::unavailable)?,
        tables,
    })
}

/// Begins a write transaction and rolls it back.
fn writing(connection: &Connection) -> rusqlite::Result<Writing> {
    if connection.is_readonly("main")? {
        return Ok(Writing::Forbidden);
    }
    match connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK") {
        Ok(()) => Ok(Writing::Possible),
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy) => Ok(Writing::HeldUp),
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => Ok(Writing::Forbidden),
            _ => Err(error),
        },
    }
}

fn problems(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA quick_check({PROBLEMS_MOST})"))?;
    let found = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>();
    match found {
        Ok(found) if found == ["ok"] => Ok(Vec::new()),
        Ok(found) => Ok(found),
        // A page that cannot be read is damage too.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => Ok(vec![error.to_string()]),
        Err(error) => Err(error),
    }
}
