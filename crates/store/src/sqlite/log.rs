//! Checkpoints: copying the write-ahead log into the database file without making commits wait.
//!
//! A thread with its own connection copies most of the log while the writer goes on appending. Then the writer copies
//! the little that was added meanwhile, between two batches, and its next commit starts again at the front of the log.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
};

use rusqlite::Connection;

use crate::error::StoreError;

/// The size of the log from which on a checkpoint is made: about 16,000 pages. A log that starts again is truncated to
/// this size, so a larger file always means that there is something to copy.
pub(super) const LOG_BYTES: u32 = 64 * 1024 * 1024;
const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

pub(super) struct Log {
    path: PathBuf,
    bytes: u64,
    /// Starts the thread's next checkpoint; none once the thread has ended.
    requests: Option<SyncSender<()>>,
    /// Set when the thread has finished a checkpoint.
    copied: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Log {
    /// Starts the thread for the log of the database at `path`, which is truncated to `bytes` when it starts again.
    /// Only the thread uses `connection`.
    pub(super) fn start(path: &Path, connection: Connection, bytes: u32) -> Result<Log, StoreError> {
        let (requests, requested) = sync_channel::<()>(1);
        let copied = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&copied);
        let thread = thread::Builder::new().name("lunas-checkpoint".to_owned()).spawn(move || {
            while requested.recv().is_ok() {
                checkpoint(&connection);
                done.store(true, Ordering::Release);
            }
        });
        let mut name = path.as_os_str().to_owned();
        name.push("-wal");
        let thread = Some(thread.map_err(StoreError::unavailable)?);
        Ok(Log { path: name.into(), bytes: bytes.into(), requests: Some(requests), copied, thread })
    }

    /// Called by the writer between two batches: requests a checkpoint when the log is long, or finishes one.
    pub(super) fn maintain(&mut self, connection: &Connection) {
        if self.copied.swap(false, Ordering::Acquire) {
            checkpoint(connection);
        } else if std::fs::metadata(&self.path).is_ok_and(|log| log.len() > self.bytes)
            && let Some(requests) = &self.requests
            && let Err(TrySendError::Disconnected(())) = requests.try_send(())
        {
            self.requests = None;
        }
    }

    pub(super) fn close(mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the checkpoint thread panicked");
        }
    }
}

/// A part of the log that a reader still needs is copied at the next checkpoint.
fn checkpoint(connection: &Connection) {
    let copied = connection.prepare_cached(CHECKPOINT).and_then(|mut statement| statement.query_row([], |_| Ok(())));
    if let Err(error) = copied {
        tracing::warn!(%error, "a checkpoint failed and will be retried");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: u32 = 256 * 1024;

    fn connect(path: &Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        connection.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        connection.pragma_update(None, "journal_size_limit", BYTES).unwrap();
        connection
    }

    #[test]
    fn a_log_with_checkpoints_starts_again_instead_of_growing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let writer = connect(&path);
        writer.execute_batch("CREATE TABLE things (thing BLOB)").unwrap();
        let mut log = Log::start(&path, connect(&path), BYTES).unwrap();
        for _ in 0..2_000 {
            writer.execute("INSERT INTO things VALUES (randomblob(4000))", []).unwrap();
            log.maintain(&writer);
        }
        // Once the thread has finished a checkpoint, the log is truncated.
        let is_truncated = (0..100_000).any(|_| {
            writer.execute("INSERT INTO things VALUES (NULL)", []).unwrap();
            log.maintain(&writer);
            thread::yield_now();
            std::fs::metadata(&log.path).unwrap().len() <= log.bytes
        });
        assert!(is_truncated, "the log went on growing");
        let written = std::fs::metadata(&path).unwrap().len();
        assert!(written > 4_000_000, "the file holds {written} bytes only");
        log.close();
        let count: i64 = writer.query_row("SELECT COUNT(thing) FROM things", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 2_000);
    }
}
