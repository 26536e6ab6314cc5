//! Notices commits, for whoever would otherwise read rows again and again to see whether they have changed.

use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::{Backend, Store, error::StoreError, sqlite::Version};

/// PostgreSQL cannot say cheaply whether anyone has committed, and a wake from another node may be lost. Looks that often find
/// what was lost before whoever waits gives up, and cost a fraction of what wakes cause under load.
const WAKES_LOST_WITHIN: Duration = Duration::from_secs(2);

/// What was committed since it was last asked. Each has its own memory of that.
pub struct Commits {
    store: Store,
    told: watch::Receiver<u64>,
    seen: Option<Seen>,
}

#[derive(PartialEq, Eq)]
enum Seen {
    /// Other processes change this too, and wake nobody.
    Sqlite(Version),
    Postgres {
        told: u64,
        at: Instant,
    },
}

impl Store {
    /// Notices commits from now on.
    pub fn commits(&self) -> Commits {
        Commits { store: self.clone(), told: self.told(), seen: None }
    }
}

impl Commits {
    /// Waits until [`Store::told`] changes. That is a wake, and no more: ask [`Commits::any`] now and then even if none comes.
    pub async fn wake(&mut self) {
        let woken = self.told.changed().await;
        assert!(woken.is_ok(), "the store that tells is held here");
    }

    /// Whether anything may have been committed, by whoever it was, since this was last asked. The first time it may have been.
    pub fn any(&mut self) -> Result<bool, StoreError> {
        // Wakes that came until now ask for no more than this.
        let told = *self.told.borrow_and_update();
        let now = match &self.store.backend {
            Backend::Sqlite(sqlite) => Seen::Sqlite(sqlite.version()?),
            Backend::Postgres(_) => Seen::Postgres { told, at: Instant::now() },
        };
        let any = match (&self.seen, &now) {
            (Some(Seen::Postgres { told, at }), Seen::Postgres { told: told_now, at: now }) => {
                told != told_now || now.duration_since(*at) >= WAKES_LOST_WITHIN
            }
            (seen, now) => seen.as_ref() != Some(now),
        };
        if any {
            self.seen = Some(now);
        }
        Ok(any)
    }
}
