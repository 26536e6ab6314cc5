//! PostgreSQL: short reads share a few connections, changes that look alike are committed many at a time, and everything else
//! takes a connection from the pool.

mod address;
mod columnar;
mod connect;
mod copy;
mod fault;
mod inspect;
mod migrate;
mod reader;
mod session;
mod wake;
mod writer;

use std::{sync::Arc, time::Duration};

use deadpool_postgres::{ClientWrapper, Object, Pool};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_postgres::{Row, types::ToSql};

use crate::{
    error::{CommitError, OpenError, StoreError},
    history::Tables,
    plan::Plan,
    value::{Columns, Decode, Query, Value},
};
use connect::Connector;
use reader::Reader;
use writer::Writer;

pub use address::{PostgresUrl, UnusableUrl};
pub(crate) use copy::fill;
pub(crate) use inspect::inspect;
pub use inspect::{PostgresFindings, ServerSettings, Standbys, Trigrams, UserRights};
pub(crate) use wake::Wakes;

/// Connections of a node when nobody says otherwise, all taken together.
pub const CONNECTIONS: usize = 20;
/// Scans that run, and scans that run or wait; one more hears at once that we are too busy.
const SCANS_AT_ONCE: usize = 4;
const SCANS_MOST: usize = 512;
/// Looks of the reconcilers that run at once.
const LOOKS_AT_ONCE: usize = 2;
/// Turns that this node has among the others.
const TURNS_AT_ONCE: usize = 1;
/// How long the answer to a short read may take, and that to a scan.
const READ_WITHIN: Duration = Duration::from_secs(5);
const SCAN_WITHIN: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct Postgres {
    pool: Pool,
    connector: Connector,
    reader: Arc<Reader>,
    writer: Arc<Writer>,
    wakes: Wakes,
    scanning: Arc<Semaphore>,
    looking: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    turns: Arc<Semaphore>,
}

impl Postgres {
    /// Connects and brings the tables up to date.
    pub(crate) async fn open(url: &PostgresUrl, connections: usize, wakes: Wakes) -> Result<Postgres, OpenError> {
        let connector = Connector::new(url)?;
        migrate::run(&connector).await?;
        let pool = connector.pool(connections.saturating_sub(reader::LANES + writer::LANES + 1).max(1))?;
        wakes.attend(connector.clone(), pool.clone());
        Ok(Postgres {
            reader: Arc::new(Reader::new(connector.clone())),
            writer: Arc::new(Writer::start(&connector, &pool, connections_for_plans(&pool))),
            wakes,
            scanning: Arc::new(Semaphore::new(scans_at_once(&pool))),
            looking: Arc::new(Semaphore::new(looks_at_once(&pool))),
            waiting: Arc::new(Semaphore::new(SCANS_MOST)),
            turns: Arc::new(Semaphore::new(TURNS_AT_ONCE)),
            connector,
            pool,
        })
    }

    /// Looks at the database without changing it.
    pub(crate) async fn look(url: &PostgresUrl) -> Result<Tables, OpenError> {
        migrate::look(&Connector::new(url)?).await
    }

    /// Brings the tables up to date, and answers how far they were.
    pub(crate) async fn migrate(url: &PostgresUrl) -> Result<Tables, OpenError> {
        migrate::run(&Connector::new(url)?).await
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
        self.writer.is_alive() && matches!(self.one(query, |_| Ok(())).await, Ok(Some(())))
    }

    pub(crate) async fn close(&self) {
        self.writer.close().await;
        self.wakes.close();
        self.reader.close();
        // A read that comes later opens a connection again.
        self.pool.retain(|_, _| false);
    }

    pub(crate) async fn one<T>(&self, query: Query, decode: Decode<T>) -> Result<Option<T>, StoreError> {
        let found = self.reader.first(query).await?;
        found.map(|found| decode(&mut Columns::of_postgres(&found.row, found.from))).transpose()
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
        let connection = Borrowed::from(&self.pool, &self.connector, Some(turn)).await?;
        let rows = timeout(SCAN_WITHIN, rows(connection.get(), query)).await.map_err(StoreError::unavailable)?;
        let rows = rows.map_err(fault::failure)?;
        connection.give_back();
        rows.iter().map(|row| decode(&mut Columns::of_postgres(row, 0))).collect()
    }

    /// Reads everything there is, however long it takes.
    pub(crate) async fn whole<T>(&self, query: &Query, decode: Decode<T>) -> Result<Vec<T>, StoreError> {
        let turn = Arc::clone(&self.scanning).acquire_owned().await.map_err(StoreError::unavailable)?;
        let connection = Borrowed::from(&self.pool, &self.connector, Some(turn)).await?;
        connection
            .get()
            .batch_execute("SET statement_timeout = 0; SET enable_seqscan = on")
            .await
            .map_err(fault::failure)?;
        // The connection is not given back, so the settings end with it.
        let rows = rows(connection.get(), query).await.map_err(fault::failure)?;
        rows.iter().map(|row| decode(&mut Columns::of_postgres(row, 0))).collect()
    }

    pub(crate) async fn turn(&self, number: i64) -> Result<Option<Turn>, StoreError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(StoreError::unavailable)?;
        let connection = Borrowed::from(&self.pool, &self.connector, Some(turn)).await?;
        let taken = async {
            connection.get().batch_execute("BEGIN").await?;
            let statement = connection.get().prepare_cached("SELECT pg_try_advisory_xact_lock($1)").await?;
            connection.get().query_one(&statement, &[&number]).await?.try_get::<_, bool>(0)
        };
        let taken = timeout(READ_WITHIN, taken).await.map_err(StoreError::unavailable)?.map_err(fault::failure)?;
        let turn = Turn(connection);
        match taken {
            true => Ok(Some(turn)),
            false => turn.end().await.map(|()| None),
        }
    }
}

/// What one node does while no other does; it ends with its transaction, so also when the node dies.
pub(crate) struct Turn(Borrowed);

impl Turn {
    pub(crate) async fn end(self) -> Result<(), StoreError> {
        let ended = timeout(READ_WITHIN, self.0.get().batch_execute("COMMIT")).await;
        ended.map_err(StoreError::unavailable)?.map_err(fault::failure)?;
        self.0.give_back();
        Ok(())
    }
}

/// Plans that have a connection of their own leave some to scans and looks, even when they wait for a standby that is away.
fn connections_for_plans(pool: &Pool) -> usize {
    let others = scans_at_once(pool) + looks_at_once(pool) + TURNS_AT_ONCE + 1;
    pool.status().max_size.saturating_sub(others).max(1)
}

/// Where there are few connections, lists do not take all of them.
fn scans_at_once(pool: &Pool) -> usize {
    (pool.status().max_size / 3).clamp(1, SCANS_AT_ONCE)
}

fn looks_at_once(pool: &Pool) -> usize {
    (pool.status().max_size / 6).clamp(1, LOOKS_AT_ONCE)
}

/// A connection that goes back to the pool only when it is known to be idle; whoever asked may go away in the middle. Then it
/// keeps its place, and the turn of whoever had it, until the server is done with it.
struct Borrowed {
    connection: Option<(Object, Option<OwnedSemaphorePermit>)>,
    connector: Connector,
}

impl Borrowed {
    async fn from(
        pool: &Pool,
        connector: &Connector,
        turn: Option<OwnedSemaphorePermit>,
    ) -> Result<Borrowed, StoreError> {
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
