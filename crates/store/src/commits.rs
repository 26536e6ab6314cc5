//! Detects commits, for tasks that would otherwise read the same rows again and again to see whether they have changed.

use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::{Backend, Store, error::StoreError, sqlite::Version};

/// On PostgreSQL there is no cheap way to ask whether there was a commit, and a notification from another node may be
/// lost. So a commit is assumed at least this often.
const ASSUMED_EVERY: Duration = Duration::from_secs(2);

/// Detects whether anything was committed since the last call of [`Commits::any`]. Each value remembers its own last
/// call.
pub struct Commits {
    store: Store,
    signal: watch::Receiver<u64>,
    seen: Option<Seen>,
}

#[derive(PartialEq, Eq)]
enum Seen {
    /// SQLite's own version, which also changes with commits of other processes.
    Sqlite(Version),
    Postgres {
        signals: u64,
        at: Instant,
    },
}

impl Store {
    /// Detects commits from now on.
    pub fn commits(&self) -> Commits {
        Commits { store: self.clone(), signal: self.commit_signal(), seen: None }
    }
}

impl Commits {
    /// Waits until [`Store::commit_signal`] changes. That is only a hint: call [`Commits::any`] now and then even
    /// without it.
    pub async fn notified(&mut self) {
        let changed = self.signal.changed().await;
        assert!(changed.is_ok(), "this value holds the store, and so the sender");
    }

    /// Whether anything may have been committed since the last call, by this process or another. True at the first
    /// call.
    pub fn any(&mut self) -> Result<bool, StoreError> {
        // Marks the signals so far as seen: this call answers all of them.
        let signals = *self.signal.borrow_and_update();
        let now = match &self.store.backend {
            Backend::Sqlite(sqlite) => Seen::Sqlite(sqlite.version()?),
            Backend::Postgres(_) => Seen::Postgres { signals, at: Instant::now() },
        };
        let any = match (&self.seen, &now) {
            (Some(Seen::Postgres { signals, at }), Seen::Postgres { signals: signals_now, at: now }) => {
                signals != signals_now || now.duration_since(*at) >= ASSUMED_EVERY
            }
            (seen, now) => seen.as_ref() != Some(now),
        };
        if any {
            self.seen = Some(now);
        }
        Ok(any)
    }
}
