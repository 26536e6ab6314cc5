//! PostgreSQL: short reads share a few connections, changes that look alike are committed many at a time, and everything else
//! takes a connection from the pool.

mod address;
mod columnar;
mod connect;
mod fault;
mod migrate;
mod wake;
mod writer;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use deadpool_postgres::{ClientWrapper, Object, Pool};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_postgres::{Row, types::ToSql};

use crate::{
    error::{CommitError, StoreError},
    plan::Plan,
    value::{Columns, Decode, Query, Value},
};
use connect::{Connector, Lane};
use writer::Writer;

pub use address::{PostgresUrl, UnusableUrl};
pub use migrate::OpenError;
pub(crate) use wake::Wakes;

/// Connections that short reads share.
const LANES: usize = 2;
/// Connections of a node when nobody says otherwise, all taken together.
pub const CONNECTIONS: usize = 20;
/// Scans that run, and scans that run or wait; one more hears at once that we are too busy.
const SCANS_AT_ONCE: usize = 4;
const SCANS_MOST: usize = 512;
/// Looks of the reconcilers that run at once.
const LOOKS_AT_ONCE: usize = 2;
/// How long the answer to a short read may take, and that to a scan.
const READ_WITHIN: Duration = Duration::from_secs(5);
const SCAN_WITHIN: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct Postgres {
    pool: Pool,
    connector: Connector,
    lanes: Arc<[Lane]>,
    next: Arc<AtomicUsize>,
    writer: Arc<Writer>,
    wakes: Wakes,
    scanning: Arc<Semaphore>,
    looking: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Postgres {
    /// Connects and brings the tables up to date.
    pub(crate) async fn open(url: &PostgresUrl, connections: usize, wakes: Wakes) -> Result<Postgres, OpenError> {
        let connector = Connector::new(url)?;
        migrate::run(&connector).await?;
        let pool = connector.pool(connections.saturating_sub(LANES + writer::LANES + 1).max(1))?;
        wakes.attend(connector.clone(), pool.clone());
        Ok(Postgres {
            lanes: (0..LANES).map(|_| Lane::new(connector.clone())).collect(),
            next: Arc::default(),
            writer: Arc::new(Writer::start(&connector, &pool, connections_for_plans(&pool))),
            wakes,
            scanning: Arc::new(Semaphore::new(SCANS_AT_ONCE)),
            looking: Arc::new(Semaphore::new(LOOKS_AT_ONCE)),
            waiting: Arc::new(Semaphore::new(SCANS_MOST)),
            connector,
            pool,
        })
    }

    pub(crate) async fn commit(&self, plan: Plan) -> Result<(), CommitError> {
        self.writer.commit(plan).await
    }

    pub(crate) async fn confirm(&self) -> Result<(), StoreError> {
        self.writer.confirm().await
    }

    /// Wakes whoever waits on another node.
    pub(crate) fn tell_others(&self) {
        self.wakes.tell_others();
    }

    pub(crate) async fn is_ready(&self) -> bool {
        // So on a standby, and on a server that an operator or a full disk has made read-only.
        let query = Query::new("SELECT 1 WHERE current_setting('transaction_read_only') = 'off'", []);
        self.writer.is_alive() && matches!(self.one(&query, |_| Ok(())).await, Ok(Some(())))
    }

    pub(crate) async fn close(&self) {
        self.writer.close().await;
        self.wakes.close();
        self.lanes.iter().for_each(Lane::close);
        self.pool.close();
    }

    pub(crate) async fn one<T>(&self, query: &Query, decode: Decode<T>) -> Result<Option<T>, StoreError> {
        let lane = &self.lanes[self.next.fetch_add(1, Ordering::Relaxed) % self.lanes.len()];
        let connection = lane.connection().await?;
        let rows = match timeout(READ_WITHIN, rows(&connection, query)).await {
            Ok(Ok(rows)) => rows,
            Ok(Err(error)) => {
                if fault::spoils_the_connection(&error) {
                    lane.give_up(&connection);
                }
                return Err(fault::failure(error));
            }
            Err(late) => {
                lane.give_up(&connection);
                return Err(StoreError::unavailable(late));
            }
        };
        rows.first().map(|row| decode(&mut Columns::of_postgres(row))).transpose()
    }

    /// Scans take turns: more of them at once would only take connections and memory from everybody else.
    pub(crate) async fn many<T>(&self, query: &Query, decode: Decode<T>) -> Result<Vec<T>, StoreError> {
        let place = Arc::clone(&self.waiting).try_acquire_owned();
        let _place = place.map_err(|_| StoreError::unavailable("too many scans are waiting"))?;
        self.scan(&self.scanning, query, decode).await
    }

    pub(crate) async fn due<T>(&self, query: &Query, decode: Decode<T>) -> Result<Vec<T>, StoreError> {
        self.scan(&self.looking, query, decode).await
    }

    async fn scan<T>(&self, turns: &Arc<Semaphore>, query: &Query, decode: Decode<T>) -> Result<Vec<T>, StoreError> {
        let turn = Arc::clone(turns).acquire_owned().await.map_err(StoreError::unavailable)?;
        let connection = Borrowed::from(&self.pool, &self.connector, turn).await?;
        let rows = timeout(SCAN_WITHIN, rows(connection.get(), query)).await.map_err(StoreError::unavailable)?;
        let rows = rows.map_err(fault::failure)?;
        connection.give_back();
        rows.iter().map(|row| decode(&mut Columns::of_postgres(row))).collect()
    }
}

/// Plans that have a connection of their own leave some to scans and looks, even when they wait for a standby that is away.
fn connections_for_plans(pool: &Pool) -> usize {
    pool.status().max_size.saturating_sub(SCANS_AT_ONCE + LOOKS_AT_ONCE + 1).max(1)
}

/// A connection that goes back to the pool only when it is known to be idle; whoever asked may go away in the middle. Then it
/// keeps its place, and the turn of whoever had it, until the server is done with it.
struct Borrowed {
    connection: Option<(Object, OwnedSemaphorePermit)>,
    connector: Connector,
}

impl Borrowed {
    async fn from(pool: &Pool, connector: &Connector, turn: OwnedSemaphorePermit) -> Result<Borrowed, StoreError> {
        Ok(Borrowed { connection: Some((connector.taken(pool).await?, turn)), connector: connector.clone() })
    }

    fn get(&self) -> &Object {
        let connection = self.connection.as_ref().map(|(connection, _)| connection);
        connection.unwrap_or_else(|| unreachable!("a connection is given back once, at the end"))
    }

    fn give_back(mut self) {
        drop(self.connection.take());
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let Some((connection, turn)) = self.connection.take() else { return };
        let connector = self.connector.clone();
        let retire = async move {
            connector.ended(&connection, Object::metrics(&connection).created).await;
            // Never handed out again.
            drop(Object::take(connection));
            drop(turn);
        };
        // There is none when the process ends.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(retire);
        }
    }
}

async fn rows(connection: &ClientWrapper, query: &Query) -> Result<Vec<Row>, tokio_postgres::Error> {
    let statement = connection.prepare_cached(&query.sql).await?;
    connection.query(&statement, &parameters(&query.parameters)).await
}

fn parameters(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
