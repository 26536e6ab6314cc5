//! What an operator should know about a file. Nothing in it is changed.

use std::path::Path;

use rusqlite::{Connection, ErrorCode};

use crate::{
    error::{OpenError, StoreError},
    history::Tables,
};

/// Problems that are told of; a damaged file has more of them than anybody reads.
const PROBLEMS_MOST: usize = 5;

/// What was found, to be judged by whoever asked.
#[derive(Debug)]
pub struct SqliteFindings {
    pub writing: Writing,
    /// What SQLite finds wrong with the file; empty when it is whole.
    pub problems: Vec<String>,
    /// How commits are made durable; `wal` once a server has opened it.
    pub journal_mode: String,
    /// How far the tables are, or why they are not ours.
    pub tables: Result<Tables, OpenError>,
}

/// Whether a server could write now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    Possible,
    /// Someone else is in the middle of a change, and has been for seconds.
    HeldUp,
    Forbidden,
}

pub(crate) fn inspect(path: &Path) -> Result<SqliteFindings, OpenError> {
    let connection = super::look_into(path)?;
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

/// Takes a writer's turn and gives it back.
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
        // A page that cannot even be read is a problem too.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => Ok(vec![error.to_string()]),
        Err(error) => Err(error),
    }
}
