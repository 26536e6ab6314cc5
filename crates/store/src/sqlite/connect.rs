//! Opening connections to the file, with the settings that make an acknowledged commit durable.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::log;
use crate::{error::StoreError, short_ids};

/// How long to wait for another process, such as a command next to the server, to finish its transaction.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The wait between two tries where SQLite does not wait by itself.
const BUSY_WAIT: Duration = Duration::from_millis(5);
/// Statements kept prepared on each connection.
const STATEMENTS_KEPT: usize = 128;
/// Page caches; SQLite takes a negative number as KiB. It goes through the writer's whole cache at nearly every commit,
/// so a larger cache is slower, not faster.
const WRITER_CACHE_KIB: i64 = -8 * 1024;
const READER_CACHE_KIB: i64 = -8 * 1024;

/// A connection for reading and writing, or for reading only, as `flags` say.
pub(super) fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
        short_ids::add_functions(&connection)?;
        if flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
            use_write_ahead_log(&connection)?;
            // An acknowledged commit must survive a power cut, so every commit syncs the log to disk.
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.pragma_update(None, "foreign_keys", true)?;
            // `log` starts checkpoints itself, so that no commit has to wait for one.
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

/// Switching a new file to a write-ahead log needs the file for itself, and SQLite does not wait for that by itself.
fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < deadline => {
                thread::sleep(BUSY_WAIT);
            }
            outcome => return outcome,
        }
    }
}
