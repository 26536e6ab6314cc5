//! Inspects a PostgreSQL server and a database on it for `lunas doctor`. Nothing is changed.

use std::time::{Duration, Instant};

use domain::time::Timestamp;
use futures_util::future::BoxFuture;
use tokio::time::timeout;
use tokio_postgres::{Client, Error, Row};

use super::{
    PostgresUrl,
    connect::Connector,
    migrate::{self, Connected},
};
use crate::{copy::TABLES, error::OpenError, history::Tables};

/// How long the whole inspection may take.
const INSPECT_WITHIN: Duration = Duration::from_secs(20);
/// How often the clocks are compared; the fastest answer is the most exact.
const CLOCK_READS: usize = 5;

/// What was found. The caller decides whether it is a problem.
#[derive(Debug)]
pub struct PostgresFindings {
    pub version: String,
    /// How long the server takes to answer a trivial query.
    pub round_trip: Duration,
    /// How far the server's clock is ahead of ours; negative when it is behind.
    pub clock_ahead_millis: i64,
    /// The state of the tables, or why they are not ours.
    pub tables: Result<Tables, OpenError>,
    pub settings: ServerSettings,
    pub rights: UserRights,
    pub standbys: Standbys,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// False for a standby, and where this user or database is read-only.
    pub takes_writes: bool,
    pub fsync: bool,
    pub full_page_writes: bool,
    /// This user's default.
    pub synchronous_commit: String,
    /// The most connections that this user may have to this database.
    pub connections_most: i64,
    /// Whether this connection is encrypted.
    pub encrypted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRights {
    pub may_make_tables: bool,
    /// Whether the user may use the tables that exist.
    pub may_use_tables: bool,
    pub trigrams: Trigrams,
}

/// The state of the extension pg_trgm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigrams {
    Installed,
    /// This user may create it.
    Available,
    /// Only an administrator may create it.
    OutOfReach,
    /// The server does not have it.
    Missing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standbys {
    /// The standbys that commits wait for, from the server's `synchronous_standby_names`; empty for none.
    pub awaited: String,
    /// How many standbys are connected, and how many of them commits wait for; none if this user may not see that.
    pub connected: Option<(i64, i64)>,
}

/// Runs the inspection. `now` reads this machine's clock.
pub(crate) fn inspect(url: &PostgresUrl, now: fn() -> Timestamp) -> BoxFuture<'_, Result<PostgresFindings, OpenError>> {
    let asked = async move {
        let client = connect(url).await?;
        let (round_trip, clock_ahead_millis) = clocks(&client, now).await.map_err(migrate::meaning_of)?;
        Ok(PostgresFindings {
            version: migrate::server_version(&client).await?,
            round_trip,
            clock_ahead_millis,
            tables: migrate::tables(&client).await,
            settings: settings(&client).await.map_err(migrate::meaning_of)?,
            rights: rights(&client).await.map_err(migrate::meaning_of)?,
            standbys: standbys(&client).await.map_err(migrate::meaning_of)?,
        })
    };
    Box::pin(async { timeout(INSPECT_WITHIN, asked).await.map_err(|_| migrate::no_answer())? })
}

/// Connects to the server that accepts writes, or else to one that does not.
async fn connect(url: &PostgresUrl) -> Result<Connected, OpenError> {
    match migrate::connected(&Connector::new(url)?).await {
        Err(OpenError::TakesNoWrites) => migrate::connected(&Connector::new(&url.reading_too())?).await,
        connected => connected,
    }
}

/// The time of the fastest answer, and how far the server's clock was ahead of ours in the middle of that time.
async fn clocks(client: &Client, now: fn() -> Timestamp) -> Result<(Duration, i64), Error> {
    let ask = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
    let ask = client.prepare(ask).await?;
    let mut quickest: Option<(Duration, i64)> = None;
    for _ in 0..CLOCK_READS {
        let (before, started) = (now().as_millis(), Instant::now());
        let theirs: i64 = client.query_one(&ask, &[]).await?.try_get(0)?;
        let (after, took) = (now().as_millis(), started.elapsed());
        let ahead = theirs - i64::midpoint(before, after);
        if quickest.is_none_or(|(best, _)| took < best) {
            quickest = Some((took, ahead));
        }
    }
    Ok(quickest.unwrap_or_default())
}

async fn settings(client: &Client) -> Result<ServerSettings, Error> {
    let sql = "SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off', \
               current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on', \
               current_setting('synchronous_commit'), \
               COALESCE((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), FALSE), \
               CAST(LEAST(CAST(current_setting('max_connections') AS INT) \
               - CAST(current_setting('superuser_reserved_connections') AS INT), \
               (SELECT NULLIF(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user AND NOT rolsuper), \
               (SELECT NULLIF(datconnlimit, -1) FROM pg_database WHERE datname = current_database())) AS BIGINT)";
    let row = client.query_one(sql, &[]).await?;
    Ok(ServerSettings {
        takes_writes: row.try_get(0)?,
        fsync: row.try_get(1)?,
        full_page_writes: row.try_get(2)?,
        synchronous_commit: row.try_get(3)?,
        encrypted: row.try_get(4)?,
        connections_most: row.try_get(5)?,
    })
}

async fn rights(client: &Client) -> Result<UserRights, Error> {
    let sql = "SELECT COALESCE(has_schema_privilege(current_schema(), 'CREATE'), FALSE), \
               COALESCE((SELECT bool_and(has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT') \
               AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')) FROM pg_class c \
               JOIN pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = current_schema() AND c.relname = ANY ($1)), FALSE), \
               EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm'), \
               EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm'), \
               (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) \
               OR (has_database_privilege(current_database(), 'CREATE') AND EXISTS (SELECT FROM \
               pg_available_extension_versions WHERE name = 'pg_trgm' AND trusted))";
    let row = client.query_one(sql, &[&TABLES.as_slice()]).await?;
    let is = |index: usize| row.try_get::<_, bool>(index);
    let trigrams = match (is(2)?, is(3)?, is(4)?) {
        (true, ..) => Trigrams::Installed,
        (_, false, _) => Trigrams::Missing,
        (_, true, true) => Trigrams::Available,
        (_, true, false) => Trigrams::OutOfReach,
    };
    Ok(UserRights { may_make_tables: is(0)?, may_use_tables: is(1)?, trigrams })
}

async fn standbys(client: &Client) -> Result<Standbys, Error> {
    let sql = "SELECT current_setting('synchronous_standby_names'), pg_has_role(current_user, 'pg_monitor', 'USAGE'), \
               (SELECT COUNT(*) FROM pg_stat_replication), \
               (SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))";
    let row: Row = client.query_one(sql, &[]).await?;
    let may_know: bool = row.try_get(1)?;
    let connected = (row.try_get(2)?, row.try_get(3)?);
    Ok(Standbys { awaited: row.try_get(0)?, connected: may_know.then_some(connected) })
}
