//! PostgreSQL: reads by key share a few connections, frequent plans with the same statements are committed in batches,
//! and everything else takes a connection from the pool.
//!
//! What the rest of the program calls answers a boxed future. The body of an `async fn` is compiled again in every crate
//! that awaits it, and with it all of the PostgreSQL client; behind a box it is compiled once, here.

mod address;
mod borrowed;
mod columnar;
mod connect;
mod copy;
mod fault;
mod gather;
mod inspect;
mod migrate;
mod notify;
mod reader;
mod session;
mod writer;

use std::{sync::Arc, time::Duration};

use deadpool_postgres::{ClientWrapper, Pool};
use futures_util::future::BoxFuture;
use tokio::{sync::Semaphore, time::timeout};
use tokio_postgres::Row;

use crate::{
    error::{CommitError, OpenError, StoreError},
    history::Tables,
    plan::Plan,
    scans::{POLLS_AT_ONCE, SCANS_AT_ONCE, ScanLimits},
    value::{Columns, Decode, Query},
};
use borrowed::{Borrowed, Permit, parameters};
use connect::Connector;
use reader::{FoundRow, Reader};
use writer::Writer;

pub use address::{PostgresUrl, UnusableUrl};
pub(crate) use copy::fill;
pub(crate) use inspect::inspect;
pub use inspect::{PostgresFindings, ServerSettings, Standbys, Trigrams, UserRights};
pub(crate) use notify::CommitNotifier;

/// The default number of a node's connections, all uses together.
pub const CONNECTIONS: usize = 20;
/// Advisory locks that this node takes at once; each keeps a connection.
const LOCKS_AT_ONCE: usize = 1;
/// How long a read by key and a scan may take.
const READ_WITHIN: Duration = Duration::from_secs(5);
const SCAN_WITHIN: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct Postgres {
    pool: Pool,
    connector: Connector,
    reader: Arc<Reader>,
    writer: Arc<Writer>,
    notifier: CommitNotifier,
    scans: ScanLimits,
    locks: Arc<Semaphore>,
}

impl Postgres {
    /// Connects and migrates the tables.
    pub(crate) fn open(
        url: &PostgresUrl,
        connections: usize,
        notifier: CommitNotifier,
    ) -> BoxFuture<'_, Result<Postgres, OpenError>> {
        Box::pin(async move {
            let connector = Connector::new(url)?;
            migrate::run(&connector).await?;
            let pool = connector.pool(connections.saturating_sub(reader::WORKERS + writer::QUEUES + 1).max(1))?;
            notifier.start(connector.clone(), pool.clone());
            Ok(Postgres {
                reader: Arc::new(Reader::new(connector.clone())),
                writer: Arc::new(Writer::start(&connector, &pool, connections_for_plans(&pool))),
                notifier,
                scans: ScanLimits::new(scans_at_once(&pool), polls_at_once(&pool)),
                locks: Arc::new(Semaphore::new(LOCKS_AT_ONCE)),
                connector,
                pool,
            })
        })
    }

    /// Reads the state of the tables without changing them.
    pub(crate) fn tables(url: &PostgresUrl) -> BoxFuture<'_, Result<Tables, OpenError>> {
        Box::pin(async { migrate::read_tables(&Connector::new(url)?).await })
    }

    /// Migrates the tables, and answers what state they were in.
    pub(crate) fn migrate(url: &PostgresUrl) -> BoxFuture<'_, Result<Tables, OpenError>> {
        Box::pin(async { migrate::run(&Connector::new(url)?).await })
    }

    pub(crate) fn commit(&self, plan: Plan) -> BoxFuture<'_, Result<(), CommitError>> {
        Box::pin(self.writer.commit(plan))
    }

    pub(crate) fn commit_each(&self, plans: Vec<Plan>) -> BoxFuture<'_, Vec<Result<(), CommitError>>> {
        Box::pin(self.writer.commit_each(plans))
    }

    pub(crate) fn confirm(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.confirm())
    }

    /// Notifies the other nodes of a commit.
    pub(crate) fn notify_others(&self) {
        self.notifier.notify_others();
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.writer.is_alive()
    }

    pub(crate) async fn is_ready(&self) -> bool {
        // It is not `off` on a standby, and on a server that an operator or a full disk has made read-only.
        let query = Query::new("SELECT 1 WHERE current_setting('transaction_read_only') = 'off'", []);
        self.is_alive() && matches!(self.one(query, |_| Ok(())).await, Ok(Some(())))
    }

    pub(crate) async fn close(&self) {
        self.writer.close().await;
        self.notifier.close();
        self.reader.close();
        // A later read opens a connection again.
        self.pool.retain(|_, _| false);
    }

    pub(crate) async fn one<T>(&self, query: Query, decode: Decode<T>) -> Result<Option<T>, StoreError> {
        let found = self.first(query).await?;
        found.map(|found| decode(&mut Columns::of_postgres(&found.row, found.from))).transpose()
    }

    fn first(&self, query: Query) -> BoxFuture<'_, Result<Option<FoundRow>, StoreError>> {
        Box::pin(self.reader.first(query))
    }

    pub(crate) async fn many<T>(&self, query: &Query, decode: Decode<T>) -> Result<Vec<T>, StoreError> {
        let permit = self.scans.scan(query.project()).await?;
        decoded(&self.scan(Box::new(permit), query).await?, decode)
    }

    pub(crate) async fn due<T>(&self, query: &Query, decode: Decode<T>) -> Result<Vec<T>, StoreError> {
        decoded(&self.scan(Box::new(self.scans.poll().await?), query).await?, decode)
    }

    /// Runs a scan. When its caller goes away or it takes too long, the server is asked to cancel it.
    fn scan<'a>(&'a self, permit: Permit, query: &'a Query) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        Box::pin(async {
            let connection = Borrowed::from(&self.pool, &self.connector, Some(permit)).await?.reading_only();
            let rows = timeout(SCAN_WITHIN, rows(connection.get(), query)).await.map_err(StoreError::unavailable)?;
            let rows = rows.map_err(fault::failure)?;
            connection.give_back();
            Ok(rows)
        })
    }

    /// Reads whole tables, one query after another, without a time limit. Answers the rows of each query.
    pub(crate) async fn whole<T>(&self, queries: &[Query], decode: Decode<T>) -> Result<Vec<Vec<T>>, StoreError> {
        self.whole_rows(queries).await?.iter().map(|rows| decoded(rows, decode)).collect()
    }

    fn whole_rows<'a>(&'a self, queries: &'a [Query]) -> BoxFuture<'a, Result<Vec<Vec<Row>>, StoreError>> {
        Box::pin(async move {
            let permit = self.scans.scan(None).await?;
            let connection = Borrowed::from(&self.pool, &self.connector, Some(Box::new(permit))).await?;
            let settings = "SET statement_timeout = 0; SET enable_seqscan = on";
            connection.get().batch_execute(settings).await.map_err(fault::failure)?;
            let mut found = Vec::new();
            for query in queries {
                found.push(rows(connection.get(), query).await.map_err(fault::failure)?);
            }
            // The connection is closed and not returned to the pool, so these settings end with it.
            Ok(found)
        })
    }

    /// Takes the advisory lock `number`; none while another node holds it.
    pub(crate) fn try_lock(&self, number: i64) -> BoxFuture<'_, Result<Option<AdvisoryLock>, StoreError>> {
        Box::pin(async move {
            let permit = Arc::clone(&self.locks).acquire_owned().await.map_err(StoreError::unavailable)?;
            let connection = Borrowed::from(&self.pool, &self.connector, Some(Box::new(permit))).await?;
            let taken = async {
                connection.get().batch_execute("BEGIN").await?;
                let statement = connection.get().prepare_cached("SELECT pg_try_advisory_xact_lock($1)").await?;
                connection.get().query_one(&statement, &[&number]).await?.try_get::<_, bool>(0)
            };
            let taken = timeout(READ_WITHIN, taken).await.map_err(StoreError::unavailable)?.map_err(fault::failure)?;
            let lock = AdvisoryLock(connection);
            match taken {
                true => Ok(Some(lock)),
                false => lock.release().await.map(|()| None),
            }
        })
    }
}

/// A lock that one node at a time holds. It ends with its transaction, and so also when the node dies.
pub(crate) struct AdvisoryLock(Borrowed);

impl AdvisoryLock {
    pub(crate) fn release(self) -> BoxFuture<'static, Result<(), StoreError>> {
        Box::pin(async {
            let ended = timeout(READ_WITHIN, self.0.get().batch_execute("COMMIT")).await;
            ended.map_err(StoreError::unavailable)?.map_err(fault::failure)?;
            self.0.give_back();
            Ok(())
        })
    }
}

/// Plans that are committed one by one leave connections for scans and polls, even when all of them wait for a standby.
fn connections_for_plans(pool: &Pool) -> usize {
    let others = scans_at_once(pool) + polls_at_once(pool) + LOCKS_AT_ONCE + 1;
    pool.status().max_size.saturating_sub(others).max(1)
}

/// In a small pool, scans must not take all connections.
fn scans_at_once(pool: &Pool) -> usize {
    (pool.status().max_size / 3).clamp(1, SCANS_AT_ONCE)
}

fn polls_at_once(pool: &Pool) -> usize {
    (pool.status().max_size / 6).clamp(1, POLLS_AT_ONCE)
}

async fn rows(connection: &ClientWrapper, query: &Query) -> Result<Vec<Row>, tokio_postgres::Error> {
    let statement = connection.prepare_cached(&query.sql).await?;
    connection.query(&statement, &parameters(&query.parameters)).await
}

fn decoded<T>(rows: &[Row], decode: Decode<T>) -> Result<Vec<T>, StoreError> {
    rows.iter().map(|row| decode(&mut Columns::of_postgres(row, 0))).collect()
}
