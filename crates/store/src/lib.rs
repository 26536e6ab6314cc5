//! The database: [`Store::commit`] commits a [`Change`] as a whole or not at all, and typed reads return domain values.
//!
//! SQLite and PostgreSQL are supported. Both run nearly the same SQL, which uses only texts, integers and bytes; the
//! few statements that differ choose by [`plan::Dialect`]. The store decides nothing about payments and calls no
//! bank.

#[cfg(test)]
mod attempt_costs;
mod change;
mod commit_probe;
mod commits;
mod copy;
mod deadline;
#[cfg(test)]
mod delivery_costs;
mod error;
mod history;
mod jobs;
mod key_owner;
mod language_column;
#[cfg(test)]
mod list_costs;
mod maintenance;
mod metadata_column;
#[cfg(test)]
mod number_costs;
mod plan;
mod postgres;
mod read;
#[cfg(test)]
mod refund_list_costs;
mod scans;
mod sealed_column;
#[cfg(test)]
mod search_costs;
mod search_tokens;
mod short_ids;
mod sqlite;
mod terms_columns;
mod value;
mod verify;
#[cfg(test)]
mod verify_costs;
mod verify_refunds;

use std::{path::Path, sync::Arc, time::Instant};

use commit_probe::CommitProbe;
use domain::time::Timestamp;
use futures_util::future::join_all;
use plan::Dialect;
use tokio::sync::watch;

pub use change::{
    AttemptBounds, AuditSeals, BankCall, BankWrite, Change, FactorWrite, KeyWrite, LedgerWrite, LetterChoices,
    LetterWrite, LinkAttempt, LinkWrite, LogoFile, MaintenanceWrite, NetworkBound, NewLetter, NodeId, NodeWrite, Noted,
    NoticeTarget, NoticeWrite, OpeningWrite, PaymentWrite, PeopleWrite, ProjectWrite, ReceiptNote, RefundWrite,
    ResetWrite, SealedClaim, SessionWrite, WebhookWrite, Write,
};
pub use commits::Commits;
pub use copy::{CopiedTable, CopyError};
pub use error::{CommitError, Guard, OpenError, StoreError};
pub use history::Tables;
pub use key_owner::KeyOwner;
pub use postgres::{
    CONNECTIONS, PostgresFindings, PostgresUrl, ServerSettings, Standbys, Trigrams, UnusableUrl, UserRights,
};
pub use read::{
    Listed, Window,
    attempts::{AttemptRoom, VisitorAttempt},
    audit::AuditFilter,
    bank_money::{MarkedMoney, MoneyNaming},
    bank_stories::JobStanding,
    banks::{FirstNumbers, OpenStrays, SealedCredential},
    customers::CustomerSums,
    deliveries::{EventToSend, SealedSecrets, WebhookTarget},
    events::EventFilter,
    factors::StoredFactor,
    idempotency::Bound,
    ledger::{Balance, LedgerLine, LedgerPosting, PostingCursor},
    letters::{LetterCounts, LetterFilter, ReceiptLetter, SealedLetter},
    links::{LinkFilter, ShownLink},
    log::{
        DeliveryFilter, EVENTS_COUNTED, EventLog, EventLogFilter, FAILING_COUNTED, FailingDeliveries, FailingSince,
        LastAttempt, LoggedEvent,
    },
    notices::SealedNoticeTarget,
    openings::{CodeName, JobsWaiting},
    paid_codes::PayingMoney,
    payment_list::{MATCHES_COUNTED, Matches, MethodFilter, PaymentFilter, PaymentOrder, Scan, ScannedPayment, Sums},
    payments::{Due, PaymentState},
    project_health::{ProjectHealth, SetupProgress},
    receipts::{BookedMoney, HeldReceipt, HeldSum, ReceiptFilter, UnappliedFilter},
    reconciliations::{After, ToldMoney, ToldPayment},
    refund_attempts::{ReadyRefund, TriedWay},
    refunds::{RefundBatch, RefundFilter, RefundSecrets, RefundStanding, RefundableNow},
    sealed::SealedValue,
    sessions::OpenSession,
    users::{Member, Membership},
    volume::{HourVolume, Paid},
};
pub use sealed_column::SealedColumn;
pub use sqlite::{SqliteFindings, Writing};
pub use verify::{Breach, Note};

/// The number of the advisory lock under which one node at a time settles.
const SETTLEMENT_LOCK: i64 = 0x6c75_6e61_7301;

/// The database of one installation. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    backend: Backend,
    maintenance: Arc<maintenance::MaintenanceRequests>,
    commit_signal: watch::Sender<u64>,
    commit_probe: CommitProbe,
    /// When this handle's changes must be committed at the latest.
    commit_by: Option<Instant>,
}

/// A lock that one node at a time holds. Dropping it releases it too, but [`NodeLock::release`] is faster.
pub struct NodeLock(Option<postgres::AdvisoryLock>);

impl NodeLock {
    pub async fn release(self) -> Result<(), StoreError> {
        match self.0 {
            Some(lock) => lock.release().await,
            None => Ok(()),
        }
    }
}

/// The database in use. Every read and every commit goes through one of these.
#[derive(Clone)]
enum Backend {
    Sqlite(sqlite::Sqlite),
    Postgres(postgres::Postgres),
}

impl Store {
    /// Opens the SQLite file at `path`, creates it when it is missing, and migrates its tables.
    pub async fn open_sqlite(path: &Path) -> Result<Store, OpenError> {
        let path = path.to_owned();
        let backend = Backend::Sqlite(blocking(move || sqlite::Sqlite::open(&path)).await?);
        Ok(Store::on(backend, watch::Sender::default()))
    }

    /// Opens the SQLite file at `path` for reading alone. Its tables must be current. Opened as a server does it, a file without
    /// a write-ahead log would get one; this changes nothing.
    pub fn open_sqlite_to_read(path: &Path) -> Store {
        Store::on(Backend::Sqlite(sqlite::Sqlite::open_to_read(path)), watch::Sender::default())
    }

    /// Opens the PostgreSQL database at `url` with at most `connections` connections, and migrates its tables.
    pub async fn open_postgres(url: &PostgresUrl, connections: usize) -> Result<Store, OpenError> {
        let commit_signal = watch::Sender::default();
        let notifier = postgres::CommitNotifier::new(commit_signal.clone());
        let backend = Backend::Postgres(postgres::Postgres::open(url, connections, notifier).await?);
        Ok(Store::on(backend, commit_signal))
    }

    fn on(backend: Backend, commit_signal: watch::Sender<u64>) -> Store {
        Store {
            backend,
            maintenance: Arc::default(),
            commit_signal,
            commit_probe: CommitProbe::default(),
            commit_by: None,
        }
    }

    /// Whether the SQLite file at `path` needs a migration. The file must exist; it is not changed.
    pub async fn sqlite_tables(path: &Path) -> Result<Tables, OpenError> {
        let path = path.to_owned();
        blocking(move || sqlite::tables_at(&path)).await
    }

    /// Whether the PostgreSQL database at `url` needs a migration. It is not changed.
    pub async fn postgres_tables(url: &PostgresUrl) -> Result<Tables, OpenError> {
        postgres::Postgres::tables(url).await
    }

    /// Migrates the tables in the SQLite file at `path`, and answers what state they were in.
    pub async fn migrate_sqlite(path: &Path) -> Result<Tables, OpenError> {
        let path = path.to_owned();
        blocking(move || sqlite::migrate_at(&path)).await
    }

    /// Migrates the tables in the PostgreSQL database at `url`, and answers what state they were in. When several
    /// processes do this at once, one migrates and the others wait for it.
    pub async fn migrate_postgres(url: &PostgresUrl) -> Result<Tables, OpenError> {
        postgres::Postgres::migrate(url).await
    }

    /// Everything that an operator should know about the SQLite file at `path`. The file must exist; it is not changed.
    pub async fn inspect_sqlite(path: &Path) -> Result<SqliteFindings, OpenError> {
        let path = path.to_owned();
        blocking(move || sqlite::inspect(&path)).await
    }

    /// Everything that an operator should know about the PostgreSQL database at `url`, which is not changed. `now`
    /// reads this machine's clock, to compare it with the server's.
    pub async fn inspect_postgres(url: &PostgresUrl, now: fn() -> Timestamp) -> Result<PostgresFindings, OpenError> {
        postgres::inspect(url, now).await
    }

    /// Copies everything in the SQLite file at `from` into the PostgreSQL database at `to`, which must be empty.
    /// Writers of the source wait until the copy is finished, or get an error that the database is unavailable.
    pub async fn copy(from: &Path, to: &PostgresUrl) -> Result<Vec<CopiedTable>, CopyError> {
        let mut source = sqlite::Source::lock(from.to_owned()).await?;
        postgres::fill(to, &mut source).await
    }

    /// The same database for a caller who must give an answer at `by`. [`Store::commit`] then ends no later: the change is
    /// committed, or it is not and never will be, or the error is [`StoreError::Undecided`].
    #[must_use]
    pub fn committing_by(&self, by: Instant) -> Store {
        Store { commit_by: Some(by), ..self.clone() }
    }

    /// Commits `change` durably and as a whole, or not at all.
    pub async fn commit(&self, change: Change) -> Result<(), CommitError> {
        let awaited = change.is_awaited();
        let committed = self.commit_unnoted(change).await;
        self.commit_probe.note(&committed);
        committed?;
        if awaited {
            self.signal_commit();
        }
        Ok(())
    }

    /// Commits each of these changes by itself, as [`Store::commit`] does, but requests them together: they share a sync
    /// to disk. Ask for a few hundred at a time, so that payments do not wait for long.
    pub async fn commit_each(&self, changes: Vec<Change>) -> Vec<Result<(), CommitError>> {
        if changes.is_empty() {
            return Vec::new();
        }
        let awaited = changes.iter().any(Change::is_awaited);
        let plans = changes.into_iter().map(|change| plan::of(change, self.dialect())).collect();
        let committed = match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.commit_each(plans).await,
            Backend::Postgres(postgres) => postgres.commit_each(plans).await,
        };
        committed.iter().for_each(|committed| self.commit_probe.note(committed));
        if awaited && committed.iter().any(Result::is_ok) {
            self.signal_commit();
        }
        committed
    }

    fn signal_commit(&self) {
        self.commit_signal.send_modify(|count| *count += 1);
        if let Backend::Postgres(postgres) = &self.backend {
            postgres.notify_others();
        }
    }

    async fn commit_unnoted(&self, change: Change) -> Result<(), CommitError> {
        let mut plan = plan::of(change, self.dialect());
        plan.by = self.commit_by;
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.commit(plan).await,
            Backend::Postgres(postgres) => postgres.commit(plan).await,
        }
    }

    /// Makes sure that rows which were read before are as durable as rows that this node commits. A read may find a
    /// commit that a standby has not confirmed yet, and whose caller has therefore got an error.
    pub async fn confirm(&self) -> Result<(), StoreError> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(()),
            Backend::Postgres(postgres) => postgres.confirm().await,
        }
    }

    /// Takes the lock for settling. Where several nodes share a database, answers none while another node holds it.
    pub async fn try_lock_settlement(&self) -> Result<Option<NodeLock>, StoreError> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(Some(NodeLock(None))),
            Backend::Postgres(postgres) => {
                Ok(postgres.try_lock(SETTLEMENT_LOCK).await?.map(|lock| NodeLock(Some(lock))))
            }
        }
    }

    /// Whether other servers may use the database at the same time. A SQLite file has one server.
    pub const fn is_shared(&self) -> bool {
        matches!(self.backend, Backend::Postgres(_))
    }

    /// Changes whenever a task may be waiting for what was committed: a payment's new state, or a webhook to send. It
    /// is only a hint: where several nodes share a database a notification may be lost, so poll now and then as well.
    pub fn commit_signal(&self) -> watch::Receiver<u64> {
        self.commit_signal.subscribe()
    }

    /// Waits until all queued changes are committed, then closes the files or connections. Later commits fail.
    pub async fn close(&self) {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.close().await,
            Backend::Postgres(postgres) => postgres.close().await,
        }
    }

    /// Whether reads are answered and the task that commits is alive. A full disk or a standby does not change that.
    pub async fn answers(&self) -> bool {
        let is_alive = match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.is_alive(),
            Backend::Postgres(postgres) => postgres.is_alive(),
        };
        is_alive && self.installation("kind").await.is_ok()
    }

    /// Whether the database answers and commits succeed. At most once a second it commits something to find out.
    pub async fn is_ready(&self) -> bool {
        let answers = match &self.backend {
            Backend::Sqlite(_) => self.answers().await,
            Backend::Postgres(postgres) => postgres.is_ready().await,
        };
        let store = self.clone();
        let commit = || async move {
            let committed = store.commit_unnoted(MaintenanceWrite::CommitProbe.into()).await;
            committed.inspect_err(|error| tracing::warn!(%error, "commits fail, so the server is not ready")).is_ok()
        };
        answers && self.commit_probe.succeeds(commit).await
    }

    /// Reads the first row that a query finds by a key.
    async fn one<T>(&self, query: value::Query, decode: value::Decode<T>) -> Result<Option<T>, StoreError> {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.one(&query, decode),
            Backend::Postgres(postgres) => postgres.one(query, decode).await,
        }
    }

    /// Reads the first row that each of these queries finds by a key.
    async fn each<T>(
        &self,
        queries: Vec<value::Query>,
        decode: value::Decode<T>,
    ) -> Vec<Result<Option<T>, StoreError>> {
        match &self.backend {
            Backend::Sqlite(sqlite) => queries.iter().map(|query| sqlite.one(query, decode)).collect(),
            // They wait in one queue, and are sent together.
            Backend::Postgres(postgres) => join_all(queries.into_iter().map(|query| postgres.one(query, decode))).await,
        }
    }

    /// A reconciler's poll for due work: fast, but not by a key. It has permits of its own, so that it never waits for
    /// lists.
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

    /// A scan: a read whose cost grows with the tables. It must not block a worker thread.
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

    /// Reads of whole tables, one after another, without a time limit. Answers the rows of each.
    async fn whole<T: Send + 'static>(
        &self,
        queries: Vec<value::Query>,
        decode: value::Decode<T>,
    ) -> Result<Vec<Vec<T>>, StoreError> {
        match &self.backend {
            Backend::Sqlite(sqlite) => {
                let mut found = Vec::new();
                for query in queries {
                    found.push(sqlite.many(query, decode).await?);
                }
                Ok(found)
            }
            Backend::Postgres(postgres) => postgres.whole(&queries, decode).await,
        }
    }

    fn dialect(&self) -> Dialect {
        match self.backend {
            Backend::Sqlite(_) => Dialect::Sqlite,
            Backend::Postgres(_) => Dialect::Postgres,
        }
    }
}

/// Runs blocking file access on a thread of its own.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, OpenError> + Send + 'static,
) -> Result<T, OpenError> {
    tokio::task::spawn_blocking(work).await.map_err(StoreError::unavailable)?
}
