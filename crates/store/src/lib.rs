//! What is kept: [`Store::commit`] takes a [`Change`] whole or not at all, and typed reads give domain values back.
//!
//! The store decides nothing about payments and knows no provider. Its SQL speaks of words, numbers and bytes only, so
//! that another database can stand beside SQLite with nearly the same text.

mod change;
mod error;
mod plan;
mod read;
mod sqlite;
mod tend;
mod value;
mod verify;

use std::{path::Path, sync::Arc};

pub use change::{Change, Noted, ReceiptNote, Write};
pub use error::{CommitError, Guard, StoreError};
pub use read::{
    Listed, Window,
    deliveries::{SealedSecrets, WebhookTarget},
    idempotency::Bound,
    keys::KeyOwner,
    ledger::Balance,
    links::LinkFilter,
    payment_list::PaymentFilter,
    payments::Due,
};
pub use verify::Breach;

/// The database of one installation. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    backend: Backend,
    wanting: Arc<tend::Wanting>,
}

/// The databases there are. Every read and every commit goes through here.
#[derive(Clone)]
enum Backend {
    Sqlite(sqlite::Sqlite),
}

impl Store {
    /// Opens the SQLite file at `path`, makes it when it is missing, and brings its tables up to date.
    pub async fn open_sqlite(path: &Path) -> Result<Store, StoreError> {
        let path = path.to_owned();
        let opened = tokio::task::spawn_blocking(move || sqlite::Sqlite::open(&path)).await;
        let backend = Backend::Sqlite(opened.map_err(StoreError::unavailable)??);
        Ok(Store { backend, wanting: Arc::default() })
    }

    /// Commits `change` whole, durably, or not at all.
    pub async fn commit(&self, change: Change) -> Result<(), CommitError> {
        let plan = plan::of(change);
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.commit(plan).await,
        }
    }

    /// Waits until everything queued is committed and the files are closed. Commits after this are refused.
    pub async fn close(&self) {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.close().await,
        }
    }

    /// Whether the database answers and takes commits.
    pub async fn is_ready(&self) -> bool {
        let takes_commits = match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.is_alive(),
        };
        takes_commits && self.installation("kind").await.is_ok()
    }

    /// A read of a few rows by key.
    async fn one<T>(&self, query: value::Query, decode: value::Decode<T>) -> Result<Option<T>, StoreError> {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.one(&query, decode),
        }
    }

    /// What reconcilers look for: short, but not by key. It has turns of its own, so that no list keeps it waiting.
    async fn due<T: Send + 'static>(
        &self,
        query: value::Query,
        decode: value::Decode<T>,
    ) -> Result<Vec<T>, StoreError> {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.due(query, decode).await,
        }
    }

    /// A read whose cost grows with what is stored; it must not hold up a worker thread.
    async fn many<T: Send + 'static>(
        &self,
        query: value::Query,
        decode: value::Decode<T>,
    ) -> Result<Vec<T>, StoreError> {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.many(query, decode).await,
        }
    }
}
