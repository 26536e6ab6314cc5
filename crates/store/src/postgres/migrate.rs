//! Brings the tables up to date, once, however many nodes start at the same moment, and tells what stands in the way.

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
    history::{Applied, Found, HISTORY, TABLES_OF_OURS, Tables},
};

refinery::embed_migrations!("migrations/postgres");

/// A number of our own under which nodes take turns.
const TURN: i64 = 0x004c_756e_6173;
/// How long it may take to connect and look; a server that hangs is as good as none.
const LOOK_WITHIN: Duration = Duration::from_secs(10);

/// Brings the tables up to date, and answers how far they were.
pub(super) async fn run(connector: &Connector) -> Result<Tables, OpenError> {
    let (mut client, found) = looked(connector).await?;
    if found == Tables::Current {
        return Ok(found);
    }
    client.execute("SELECT pg_advisory_lock($1)", &[&TURN]).await.map_err(refusal)?;
    // Another node may have been quicker.
    let found = tables(&client).await?;
    if found == Tables::Current {
        return Ok(found);
    }
    match migrations::runner().set_grouped(true).run_async(&mut *client).await {
        Ok(_) => Ok(found),
        Err(error) => {
            // The history itself is made before everything else; without a line in it, nothing is to be left of it.
            if found == Tables::Missing {
                let _ = client.batch_execute(&format!("DROP TABLE IF EXISTS {HISTORY}")).await;
            }
            Err(not_migrated(error))
        }
    }
    // The turn ends with the connection.
}

/// Looks at the database without changing it.
pub(super) async fn look(connector: &Connector) -> Result<Tables, OpenError> {
    looked(connector).await.map(|(_, tables)| tables)
}

async fn looked(connector: &Connector) -> Result<(Connected, Tables), OpenError> {
    let look = async {
        let client = connected(connector).await?;
        let found = tables(&client).await;
        if !matches!(found, Err(OpenError::OtherProgram)) {
            return found.map(|found| (client, found));
        }
        // Another node may be in the middle of making the tables.
        client.execute("SELECT pg_advisory_lock_shared($1)", &[&TURN]).await.map_err(refusal)?;
        let found = tables(&client).await?;
        client.execute("SELECT pg_advisory_unlock_shared($1)", &[&TURN]).await.map_err(refusal)?;
        Ok((client, found))
    };
    timeout(LOOK_WITHIN, look).await.map_err(|_| no_answer())?
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
    let (client, task) = connector.open_in_time(None).await.map_err(|_| no_answer())?.map_err(refusal)?;
    let connected = Connected { client, task };
    let version = server_version(&connected).await?;
    let major = version.split(|c: char| !c.is_ascii_digit()).next().and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(major) if major >= OLDEST_POSTGRES => Ok(connected),
        _ => Err(OpenError::TooOld(version)),
    }
}

/// Asked in the simplest way there is, since an old server or a proxy may not know much.
pub(super) async fn server_version(client: &Client) -> Result<String, OpenError> {
    let said = client.simple_query("SHOW server_version").await.map_err(refusal)?;
    let version = said.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    version.ok_or_else(|| OpenError::Unreachable("it does not tell its version".to_owned()))
}

pub(super) async fn tables(client: &Client) -> Result<Tables, OpenError> {
    // Tables that came with an extension are nobody's.
    let there = "SELECT to_regclass($1) IS NOT NULL, EXISTS (SELECT FROM pg_catalog.pg_class c \
                 JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                 WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND c.relname <> $1 \
                 AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass \
                 AND d.objid = c.oid AND d.deptype = 'e')), to_regclass($2) IS NOT NULL AND to_regclass($3) IS NOT NULL";
    let [one, other] = TABLES_OF_OURS;
    let there = client.query_one(there, &[&HISTORY, &one, &other]).await.map_err(refusal)?;
    let (has_history, other_tables, tables_of_ours): (bool, bool, bool) = (there.get(0), there.get(1), there.get(2));
    let history = if has_history { Some(history(client).await?) } else { None };
    Found { history, other_tables, tables_of_ours }.judge(migrations::runner().get_migrations())
}

async fn history(client: &Client) -> Result<Vec<Applied>, OpenError> {
    // Another program's may have been made with other types, or be no such table at all.
    let lines = format!(
        "SELECT CAST(version AS BIGINT), CAST(name AS TEXT), CAST(checksum AS TEXT) FROM {HISTORY} ORDER BY version"
    );
    let lines = client.query(&lines, &[]).await.map_err(|error| match error.code() {
        Some(&SqlState::UNDEFINED_COLUMN) => OpenError::OtherProgram,
        _ => refusal(error),
    })?;
    let line = |row: &Row| -> Result<Applied, Error> {
        Ok(Applied { version: row.try_get(0)?, name: row.try_get(1)?, checksum: row.try_get(2)? })
    };
    // A line with nothing in a column was not written by us.
    lines.iter().map(line).collect::<Result<_, _>>().map_err(|_| OpenError::OtherProgram)
}

pub(super) fn no_answer() -> OpenError {
    OpenError::Unreachable("it does not answer in time".to_owned())
}

/// What it means that the server refuses us before we have done anything.
pub(super) fn refusal(error: Error) -> OpenError {
    let Some(refused) = error.as_db_error() else {
        return match &error {
            error if takes_no_writes(error) => OpenError::TakesNoWrites,
            // The client has no other way to tell that it was this that failed.
            error if error.to_string().contains("TLS handshake") => OpenError::Unencrypted(causes(error)),
            error => OpenError::Unreachable(causes(error)),
        };
    };
    meaning(refused).unwrap_or_else(|| OpenError::Store(super::fault::failure(error)))
}

fn not_migrated(error: refinery::Error) -> OpenError {
    let refused = match error.kind() {
        Kind::Connection(_, source) => source.downcast_ref::<Error>().and_then(Error::as_db_error),
        _ => None,
    };
    refused.and_then(meaning).unwrap_or_else(|| OpenError::Store(StoreError::unavailable(error)))
}

/// What an operator can do something about.
fn meaning(refused: &DbError) -> Option<OpenError> {
    let reason = refused.message().to_owned();
    let about_trigrams = reason.contains("extension") && reason.contains("pg_trgm");
    Some(match refused.code() {
        // Without the rights for it, without the permission of a cloud's operator, or without its files.
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

/// Whether none of the hosts is one that takes writes; the client tells so by an error of its own.
fn takes_no_writes(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|source| {
        source.kind() == io::ErrorKind::PermissionDenied && source.to_string().contains("does not allow writes")
    })
}

/// What caused an error, in one line; the error itself where nothing did.
fn causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source()).map(ToString::to_string);
    causes.reduce(|line, cause| format!("{line}: {cause}")).unwrap_or_else(|| error.to_string())
}
