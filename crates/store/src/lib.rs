//! What is kept: [`Store::commit`] takes a [`Change`] whole or not at all, and typed reads give domain values back.
//!
//! The store decides nothing about payments and knows no provider. Its SQL speaks of words, numbers and bytes only, so
//! that another database can stand beside SQLite with nearly the same text.

mod change;
mod commits;
mod copy;
mod error;
mod history;
mod plan;
mod postgres;
mod read;
mod sqlite;
mod tend;
mod value;
mod verify;

use std::{path::Path, sync::Arc};

use domain::time::Timestamp;
use plan::Dialect;
use tokio::sync::watch;

pub use change::{Change, Noted, ReceiptNote, Write};
pub use commits::Commits;
pub use copy::{CopiedTable, CopyError};
pub use error::{CommitError, Guard, OpenError, StoreError};
pub use history::Tables;
pub use postgres::{
    CONNECTIONS, PostgresFindings, PostgresUrl, ServerSettings, Standbys, Trigrams, UnusableUrl, UserRights,
};
pub use read::{
    Listed, Window,
    deliveries::{SealedSecrets, WebhookTarget},
    idempotency::Bound,
    keys::KeyOwner,
    ledger::{Balance, LedgerLine},
    links::{LinkFilter, ShownLink},
    log::EventLogFilter,
    payment_list::{MethodFilter, PaymentFilter},
    payments::{Due, PaymentState},
    pulse::{Firsts, ProjectHealth},
    receipts::UnappliedFilter,
    users::{Member, Membership},
    volume::HourVolume,
};
pub use sqlite::{SqliteFindings, Writing};
pub use verify::Breach;

/// Nodes know turns by their number.
const TURN_TO_SETTLE: i64 = 0x6c75_6e61_7301;

/// The database of one installation. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    backend: Backend,
    wanting: Arc<tend::Wanting>,
    told: watch::Sender<u64>,
}

/// What nodes do one at a time. It is over when it is dropped, but [`Turn::end`] is quicker.
pub struct Turn(Option<postgres::Turn>);

impl Turn {
    pub async fn end(self) -> Result<(), StoreError> {
        match self.0 {
            Some(turn) => turn.end().await,
            None => Ok(()),
        }
    }
}

/// The databases there are. Every read and every commit goes through here.
#[derive(Clone)]
enum Backend {
    Sqlite(sqlite::Sqlite),
    Postgres(postgres::Postgres),
}

impl Store {
    /// Opens the SQLite file at `path`, makes it when it is missing, and brings its tables up to date.
    pub async fn open_sqlite(path: &Path) -> Result<Store, OpenError> {
        let path = path.to_owned();
        let backend = Backend::Sqlite(blocking(move || sqlite::Sqlite::open(&path)).await?);
        Ok(Store { backend, wanting: Arc::default(), told: watch::Sender::default() })
    }

    /// Opens the PostgreSQL database at `url` with as many connections, and brings its tables up to date.
    pub async fn open_postgres(url: &PostgresUrl, connections: usize) -> Result<Store, OpenError> {
        let told = watch::Sender::default();
        let wakes = postgres::Wakes::new(told.clone());
        let backend = Backend::Postgres(postgres::Postgres::open(url, connections, wakes).await?);
        Ok(Store { backend, wanting: Arc::default(), told })
    }

    /// How far the tables in the SQLite file at `path` are. The file must be there, and nothing in it changes.
    pub async fn look_at_sqlite(path: &Path) -> Result<Tables, OpenError> {
        let path = path.to_owned();
        blocking(move || sqlite::look(&path)).await
    }

    /// How far the tables in the PostgreSQL database at `url` are. Nothing in it changes.
    pub async fn look_at_postgres(url: &PostgresUrl) -> Result<Tables, OpenError> {
        postgres::Postgres::look(url).await
    }

    /// Brings the tables in the SQLite file at `path` up to date, and answers how far they were.
    pub async fn migrate_sqlite(path: &Path) -> Result<Tables, OpenError> {
        let path = path.to_owned();
        blocking(move || sqlite::bring_up_to_date(&path)).await
    }

    /// Brings the tables in the PostgreSQL database at `url` up to date, and answers how far they were. Of several at once
    /// one does it, and the others find it done.
    pub async fn migrate_postgres(url: &PostgresUrl) -> Result<Tables, OpenError> {
        postgres::Postgres::migrate(url).await
    }

    /// Everything that an operator should know about the SQLite file at `path`, which must be there. Nothing in it changes.
    pub async fn inspect_sqlite(path: &Path) -> Result<SqliteFindings, OpenError> {
        let path = path.to_owned();
        blocking(move || sqlite::inspect(&path)).await
    }

    /// Everything that an operator should know about the PostgreSQL database at `url`. Nothing in it changes. `now` is this
    /// machine's clock, which the server's is compared with.
    pub async fn inspect_postgres(
        url: &PostgresUrl,
        now: impl Fn() -> Timestamp,
    ) -> Result<PostgresFindings, OpenError> {
        postgres::inspect(url, now).await
    }

    /// Commits `change` whole, durably, or not at all.
    pub async fn commit(&self, change: Change) -> Result<(), CommitError> {
        let awaited = change.is_awaited();
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.commit(plan::of(change, Dialect::Sqlite)).await?,
            Backend::Postgres(postgres) => postgres.commit(plan::of(change, Dialect::Postgres)).await?,
        }
        if awaited {
            self.told.send_modify(|count| *count += 1);
            if let Backend::Postgres(postgres) = &self.backend {
                postgres.tell_others();
            }
        }
        Ok(())
    }

    /// Makes sure that what was read before is as safe as what this node commits. Someone else may have been told that their
    /// commit failed because a standby did not confirm it in time, and then only reads find what it did.
    pub async fn confirm(&self) -> Result<(), StoreError> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(()),
            Backend::Postgres(postgres) => postgres.confirm().await,
        }
    }

    /// The turn to settle: where several nodes share a database, none while another has it.
    pub async fn turn_to_settle(&self) -> Result<Option<Turn>, StoreError> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(Some(Turn(None))),
            Backend::Postgres(postgres) => Ok(postgres.turn(TURN_TO_SETTLE).await?.map(|turn| Turn(Some(turn)))),
        }
    }

    /// Changes whenever something was committed that others may wait for: a payment's state or a webhook to be sent. It is a
    /// wake, and no more: where several nodes share a database one may be lost, so look by yourself now and then.
    pub fn told(&self) -> watch::Receiver<u64> {
        self.told.subscribe()
    }

    /// Waits until everything queued is committed and the files or connections are closed. Commits after this are refused.
    pub async fn close(&self) {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.close().await,
            Backend::Postgres(postgres) => postgres.close().await,
        }
    }

    /// Whether the database answers and takes commits.
    pub async fn is_ready(&self) -> bool {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.is_alive() && self.installation("kind").await.is_ok(),
            Backend::Postgres(postgres) => postgres.is_ready().await,
        }
    }

    /// A read of a few rows by key.
    async fn one<T>(&self, query: value::Query, decode: value::Decode<T>) -> Result<Option<T>, StoreError> {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.one(&query, decode),
            Backend::Postgres(postgres) => postgres.one(query, decode).await,
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
            Backend::Postgres(postgres) => postgres.due(&query, decode).await,
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
            Backend::Postgres(postgres) => postgres.many(&query, decode).await,
        }
    }

    /// A read of everything there is, which takes as long as it takes.
    async fn whole<T: Send + 'static>(
        &self,
        query: value::Query,
        decode: value::Decode<T>,
    ) -> Result<Vec<T>, StoreError> {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.many(query, decode).await,
            Backend::Postgres(postgres) => postgres.whole(&query, decode).await,
        }
    }

    fn dialect(&self) -> Dialect {
        match self.backend {
            Backend::Sqlite(_) => Dialect::Sqlite,
            Backend::Postgres(_) => Dialect::Postgres,
        }
    }
}

/// Does what waits for files on a thread of its own.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, OpenError> + Send + 'static,
) -> Result<T, OpenError> {
    tokio::task::spawn_blocking(work).await.map_err(StoreError::unavailable)?
}
