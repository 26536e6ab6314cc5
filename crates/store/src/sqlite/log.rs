//! Folding the write-ahead log back into the database file without making commits wait for it.
//!
//! A thread with a connection of its own copies most of the log while the writer goes on appending. Then the writer copies
//! the little that came meanwhile, between two batches, and its next commit starts the log again from the front.

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

/// The size at which copying begins: about 16,000 pages. A log that starts again is cut to this size, so that a file
/// larger than this always means that there is something to copy.
pub(super) const LOG_BYTES: u32 = 64 * 1024 * 1024;
const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

pub(super) struct Log {
    path: PathBuf,
    bytes: u64,
    wake: Option<SyncSender<()>>,
    /// Set when the thread has copied all that it found.
    copied: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Log {
    /// Takes over the log of the database at `path`, which is cut to `bytes` when it starts again. `connection` is for
    /// the thread alone.
    pub(super) fn start(path: &Path, connection: Connection, bytes: u32) -> Result<Log, StoreError> {
        let (wake, woken) = sync_channel::<()>(1);
        let copied = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&copied);
        let thread = thread::Builder::new().name("lunas-checkpoint".to_owned()).spawn(move || {
            while woken.recv().is_ok() {
                checkpoint(&connection);
                done.store(true, Ordering::Release);
            }
        });
        let mut name = path.as_os_str().to_owned();
        name.push("-wal");
        let thread = Some(thread.map_err(StoreError::unavailable)?);
        Ok(Log { path: name.into(), bytes: bytes.into(), wake: Some(wake), copied, thread })
    }

    /// Called by the writer between two batches.
    pub(super) fn tend(&mut self, connection: &Connection) {
        if self.copied.swap(false, Ordering::Acquire) {
            checkpoint(connection);
        } else if std::fs::metadata(&self.path).is_ok_and(|log| log.len() > self.bytes)
            && let Some(wake) = &self.wake
            && let Err(TrySendError::Disconnected(())) = wake.try_send(())
        {
            self.wake = None;
        }
    }

    pub(super) fn close(mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the checkpoint thread panicked");
        }
    }
}

/// A reader may still need a part of the log; then that part is copied the next time.
fn checkpoint(connection: &Connection) {
    let copied = connection.prepare_cached(CHECKPOINT).and_then(|mut statement| statement.query_row([], |_| Ok(())));
    if let Err(error) = copied {
        tracing::warn!(%error, "the log was not folded into the database and will be later");
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
    fn a_log_that_is_tended_starts_again_instead_of_growing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let writer = connect(&path);
        writer.execute_batch("CREATE TABLE things (thing BLOB)").unwrap();
        let mut log = Log::start(&path, connect(&path), BYTES).unwrap();
        for _ in 0..2_000 {
            writer.execute("INSERT INTO things VALUES (randomblob(4000))", []).unwrap();
            log.tend(&writer);
        }
        // The thread copies at its own pace; once it has, the log is cut.
        let is_cut = (0..100_000).any(|_| {
            writer.execute("INSERT INTO things VALUES (NULL)", []).unwrap();
            log.tend(&writer);
            thread::yield_now();
            std::fs::metadata(&log.path).unwrap().len() <= log.bytes
        });
        assert!(is_cut, "the log went on growing");
        let written = std::fs::metadata(&path).unwrap().len();
        assert!(written > 4_000_000, "the file holds {written} bytes only");
        log.close();
        let count: i64 = writer.query_row("SELECT COUNT(thing) FROM things", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 2_000);
    }
}
