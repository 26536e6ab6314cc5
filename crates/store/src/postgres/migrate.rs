//! Brings the tables up to date, once, however many nodes start at the same moment, and tells what stands in the way.

use refinery::error::Kind;
use tokio_postgres::{Client, Error, error::SqlState};

use super::connect::Connector;
use crate::error::StoreError;

refinery::embed_migrations!("migrations/postgres");

/// The oldest PostgreSQL that has all we use.
const OLDEST: u32 = 13;
/// A number of our own under which nodes take turns.
const TURN: i64 = 0x004c_756e_6173;
/// Where refinery notes what it has done.
const HISTORY: &str = "refinery_schema_history";

/// Why a database was not opened. Nothing of it was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    #[error("the server does not let this user in: {0}")]
    NotLetIn(String),
    #[error("the server runs PostgreSQL {0}, and {OLDEST} is the oldest that will do")]
    TooOld(String),
    #[error("this user may not make what is missing: {0}")]
    MissingRights(String),
    #[error("it holds the tables of another program; use a database of its own")]
    OtherProgram,
    #[error("it was made by a newer version of lunas; use that one")]
    Newer,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How far the tables of a database are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    Missing,
    Behind,
    Current,
}

pub(super) async fn run(connector: &Connector) -> Result<(), OpenError> {
    let mut client = connected(connector).await?;
    if tables(&client).await? == Tables::Current {
        return Ok(());
    }
    client.execute("SELECT pg_advisory_lock($1)", &[&TURN]).await.map_err(refusal)?;
    // Another node may have been quicker.
    tables(&client).await?;
    let migrated = migrations::runner().set_grouped(true).run_async(&mut *client).await;
    migrated.map(drop).map_err(not_migrated)
    // The turn ends with the connection.
}

/// Looks at the database without changing it.
pub(super) async fn look(connector: &Connector) -> Result<Tables, OpenError> {
    tables(&connected(connector).await?.client).await
}

/// A connection that ends with this value.
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
    let (client, task) = connector.open_in_time(None).await?.map_err(refusal)?;
    let connected = Connected { client, task };
    let version = connected.query_one("SHOW server_version", &[]).await.map_err(refusal)?;
    let version: String = version.try_get(0).map_err(refusal)?;
    let major = version.split(|c: char| !c.is_ascii_digit()).next().and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(major) if major >= OLDEST => Ok(connected),
        _ => Err(OpenError::TooOld(version)),
    }
}

async fn tables(client: &Client) -> Result<Tables, OpenError> {
    let there = "SELECT to_regclass($1) IS NOT NULL, EXISTS (SELECT FROM pg_catalog.pg_class c \
                 JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                 WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND c.relname <> $1)";
    let there = client.query_one(there, &[&HISTORY]).await.map_err(refusal)?;
    let (has_history, has_others): (bool, bool) = (there.get(0), there.get(1));
    if !has_history {
        return if has_others { Err(OpenError::OtherProgram) } else { Ok(Tables::Missing) };
    }
    let applied = format!("SELECT version, name, checksum FROM {HISTORY} ORDER BY version");
    let applied = client.query(&applied, &[]).await.map_err(refusal)?;
    let ours = migrations::runner().get_migrations().clone();
    for row in &applied {
        let (version, name, checksum): (i32, String, String) = (row.get(0), row.get(1), row.get(2));
        match ours.iter().find(|migration| i64::from(migration.version()) == i64::from(version)) {
            Some(migration) if migration.name() == name && migration.checksum().to_string() == checksum => {}
            Some(_) => return Err(OpenError::OtherProgram),
            None if has_tables_of_ours(client).await? => return Err(OpenError::Newer),
            None => return Err(OpenError::OtherProgram),
        }
    }
    Ok(match applied.len() {
        0 if has_others => return Err(OpenError::OtherProgram),
        0 => Tables::Missing,
        some if some < ours.len() => Tables::Behind,
        _ => Tables::Current,
    })
}

async fn has_tables_of_ours(client: &Client) -> Result<bool, OpenError> {
    let there = "SELECT to_regclass('installation') IS NOT NULL AND to_regclass('payments') IS NOT NULL";
    Ok(client.query_one(there, &[]).await.map_err(refusal)?.get(0))
}

/// What it means that the server refuses us before we have done anything.
fn refusal(error: Error) -> OpenError {
    let Some(refused) = error.as_db_error() else {
        return OpenError::Unreachable(chain(&error));
    };
    let reason = refused.message().to_owned();
    match refused.code() {
        &SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION => OpenError::NotLetIn(reason),
        &SqlState::INVALID_CATALOG_NAME => OpenError::NotLetIn(reason),
        &SqlState::INSUFFICIENT_PRIVILEGE => OpenError::MissingRights(reason),
        _ => OpenError::Store(super::fault::failure(error)),
    }
}

fn not_migrated(error: refinery::Error) -> OpenError {
    let refused = match error.kind() {
        Kind::Connection(_, source) => source.downcast_ref::<Error>().and_then(Error::as_db_error),
        _ => None,
    };
    match refused {
        Some(refused) if *refused.code() == SqlState::INSUFFICIENT_PRIVILEGE => {
            OpenError::MissingRights(refused.message().to_owned())
        }
        _ => OpenError::Store(StoreError::unavailable(error)),
    }
}

/// An error and what caused it, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |line, cause| format!("{line}: {cause}"))
}
