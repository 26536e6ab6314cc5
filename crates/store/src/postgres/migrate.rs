//! Migrates the tables, once even if many nodes start at the same moment, and explains what prevents it.

use std::{io, time::Duration};

use refinery::error::Kind;
use tokio::time::timeout;
use tokio_postgres::{
    Client, Error, Row, SimpleQueryMessage,
    error::{DbError, SqlState},
};

use super::connect::Connector;
use crate::{
    error::{OLDEST_POSTGRES, OpenError, StoreError},
    history::{Applied, ExistingTables, HISTORY, TABLES_OF_OURS, Tables},
};

refinery::embed_migrations!("migrations/postgres");

/// The number of the advisory lock under which one node at a time migrates.
const MIGRATION_LOCK: i64 = 0x004c_756e_6173;
/// How long it may take to connect and to read the state of the tables.
const READ_WITHIN: Duration = Duration::from_secs(10);

/// Migrates the tables, and answers what state they were in.
pub(super) async fn run(connector: &Connector) -> Result<Tables, OpenError> {
    let (mut client, found) = connect_and_read(connector).await?;
    if found == Tables::Current {
        return Ok(found);
    }
    client.execute("SELECT pg_advisory_lock($1)", &[&MIGRATION_LOCK]).await.map_err(meaning_of)?;
    // Another node may have migrated them in the meantime.
    let found = tables(&client).await?;
    if found == Tables::Current {
        return Ok(found);
    }
    match migrations::runner().set_grouped(true).run_async(&mut *client).await {
        Ok(_) => Ok(found),
        Err(error) => {
            // refinery creates its history table before the transaction; without rows it must not be left behind.
            if found == Tables::Missing {
                let _ = client.batch_execute(&format!("DROP TABLE IF EXISTS {HISTORY}")).await;
            }
            Err(not_migrated(error))
        }
    }
    // The lock is released when the connection closes.
}

/// Reads the state of the tables without changing them.
pub(super) async fn read_tables(connector: &Connector) -> Result<Tables, OpenError> {
    connect_and_read(connector).await.map(|(_, tables)| tables)
}

async fn connect_and_read(connector: &Connector) -> Result<(Connected, Tables), OpenError> {
    let read = async {
        let client = connected(connector).await?;
        let found = tables(&client).await;
        if !matches!(found, Err(OpenError::OtherProgram)) {
            return found.map(|found| (client, found));
        }
        // Another node may be in the middle of the first migration: wait for its lock.
        client.execute("SELECT pg_advisory_lock_shared($1)", &[&MIGRATION_LOCK]).await.map_err(meaning_of)?;
        let found = tables(&client).await?;
        client.execute("SELECT pg_advisory_unlock_shared($1)", &[&MIGRATION_LOCK]).await.map_err(meaning_of)?;
        Ok((client, found))
    };
    timeout(READ_WITHIN, read).await.map_err(|_| no_answer())?
}

/// A connection that is closed when this value is dropped.
pub(super) struct Connected {
    pub(super) client: Client,
    task: tokio::task::JoinHandle<()>,
}

impl std::ops::Deref for Connected {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl std::ops::DerefMut for Connected {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Connects to a server that is new enough.
pub(super) async fn connected(connector: &Connector) -> Result<Connected, OpenError> {
    let (client, task) = connector.open_in_time(None).await.map_err(|_| no_answer())?.map_err(meaning_of)?;
    let connected = Connected { client, task };
    let version = server_version(&connected).await?;
    let major = version.split(|c: char| !c.is_ascii_digit()).next().and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(major) if major >= OLDEST_POSTGRES => Ok(connected),
        _ => Err(OpenError::TooOld(version)),
    }
}

/// Uses the simple query protocol, since an old server or a proxy may not support more.
pub(super) async fn server_version(client: &Client) -> Result<String, OpenError> {
    let said = client.simple_query("SHOW server_version").await.map_err(meaning_of)?;
    let version = said.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    version.ok_or_else(|| OpenError::Unreachable("it does not tell its version".to_owned()))
}

pub(super) async fn tables(client: &Client) -> Result<Tables, OpenError> {
    // Tables that belong to an extension do not count.
    let there = "SELECT to_regclass($1) IS NOT NULL, EXISTS (SELECT FROM pg_catalog.pg_class c \
                 JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                 WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND c.relname <> $1 \
                 AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass \
                 AND d.objid = c.oid AND d.deptype = 'e')), to_regclass($2) IS NOT NULL AND to_regclass($3) IS NOT NULL";
    let [one, other] = TABLES_OF_OURS;
    let there = client.query_one(there, &[&HISTORY, &one, &other]).await.map_err(meaning_of)?;
    let (has_history, other_tables, tables_of_ours): (bool, bool, bool) = (there.get(0), there.get(1), there.get(2));
    let history = if has_history { Some(history(client).await?) } else { None };
    ExistingTables { history, other_tables, tables_of_ours }.judge(migrations::runner().get_migrations())
}

async fn history(client: &Client) -> Result<Vec<Applied>, OpenError> {
    // Another program's history may have columns of other types, or be something else entirely.
    let lines = format!(
        "SELECT CAST(version AS BIGINT), CAST(name AS TEXT), CAST(checksum AS TEXT) FROM {HISTORY} ORDER BY version"
    );
    let lines = client.query(&lines, &[]).await.map_err(|error| match error.code() {
        Some(&SqlState::UNDEFINED_COLUMN) => OpenError::OtherProgram,
        _ => meaning_of(error),
    })?;
    let line = |row: &Row| -> Result<Applied, Error> {
        Ok(Applied { version: row.try_get(0)?, name: row.try_get(1)?, checksum: row.try_get(2)? })
    };
    // We never write a row with an empty column.
    lines.iter().map(line).collect::<Result<_, _>>().map_err(|_| OpenError::OtherProgram)
}

pub(super) fn no_answer() -> OpenError {
    OpenError::Unreachable("it does not answer in time".to_owned())
}

/// The error for an operator when the server rejects a connection or a statement at the start.
pub(super) fn meaning_of(error: Error) -> OpenError {
    let Some(rejected) = error.as_db_error() else {
        return match &error {
            error if takes_no_writes(error) => OpenError::TakesNoWrites,
            // The client library reports this only in its text.
            error if error.to_string().contains("TLS handshake") => OpenError::Unencrypted(causes(error)),
            error => OpenError::Unreachable(causes(error)),
        };
    };
    meaning(rejected).unwrap_or_else(|| OpenError::Store(super::fault::failure(error)))
}

fn not_migrated(error: refinery::Error) -> OpenError {
    let rejected = match error.kind() {
        Kind::Connection(_, source) => source.downcast_ref::<Error>().and_then(Error::as_db_error),
        _ => None,
    };
    rejected.and_then(meaning).unwrap_or_else(|| OpenError::Store(StoreError::unavailable(error)))
}

/// The errors that an operator can do something about.
fn meaning(rejected: &DbError) -> Option<OpenError> {
    let reason = rejected.message().to_owned();
    let about_trigrams = reason.contains("extension") && reason.contains("pg_trgm");
    Some(match rejected.code() {
        // The user lacks the rights, a cloud provider does not permit it, or its files are missing.
        &SqlState::INSUFFICIENT_PRIVILEGE | &SqlState::FEATURE_NOT_SUPPORTED | &SqlState::UNDEFINED_FILE
            if about_trigrams =>
        {
            OpenError::NoTrigrams(reason)
        }
        &SqlState::INSUFFICIENT_PRIVILEGE | &SqlState::INVALID_SCHEMA_NAME => OpenError::MissingRights(reason),
        &SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION => OpenError::NotLetIn(reason),
        &SqlState::INVALID_CATALOG_NAME => OpenError::NoDatabase(reason),
        &SqlState::READ_ONLY_SQL_TRANSACTION => OpenError::TakesNoWrites,
        &SqlState::TOO_MANY_CONNECTIONS | &SqlState::CANNOT_CONNECT_NOW => OpenError::Unreachable(reason),
        _ => return None,
    })
}

/// Whether none of the hosts accepts writes; the client library has an error of its own for that.
fn takes_no_writes(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|source| {
        source.kind() == io::ErrorKind::PermissionDenied && source.to_string().contains("does not allow writes")
    })
}

/// The causes of an error in one line; the error itself if it has none.
fn causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source()).map(ToString::to_string);
    causes.reduce(|line, cause| format!("{line}: {cause}")).unwrap_or_else(|| error.to_string())
}
