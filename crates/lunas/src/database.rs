//! Which database a command works on, and how it is opened. Only commands that are meant to may make one.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::{Engine, SecretKey, Settings, SystemClock};
use gateway::{Providers, Simulator};
use store::{OpenError, PostgresUrl, Store, Tables};

use crate::{
    error::{CliError, chain},
    files,
    options::{GlobalOptions, data_directory, default_database_file},
    secret_key,
};

const SQLITE: &str = "sqlite:";
const POSTGRES: [&str; 2] = ["postgres://", "postgresql://"];
const WHAT_MAKES_ONE: &str = "start `lunas dev` or `lunas serve` first, or `lunas migrate` makes one";

/// Where an installation keeps its data.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    /// A file of its own.
    Sqlite(PathBuf),
    /// A database on a server, and how many connections to open to it at most.
    Postgres(Box<PostgresUrl>, usize),
}

impl Database {
    pub(crate) fn of(options: &GlobalOptions) -> Result<Database, CliError> {
        match options.database() {
            Some(url) => Database::parse(url, options.database_connections()),
            None => Ok(Database::Sqlite(default_database_file())),
        }
    }

    /// Reads `sqlite:PATH` or `postgres://…`. Such an address may hold a password, so it is never repeated whole.
    pub(crate) fn parse(url: &str, connections: usize) -> Result<Database, CliError> {
        if POSTGRES.iter().any(|scheme| url.starts_with(scheme)) {
            let url = url
                .parse()
                .map_err(|error| CliError::new(format!("the database's address cannot be used: {}", chain(&error))))?;
            return Ok(Database::Postgres(Box::new(url), connections));
        }
        let Some(path) = url.strip_prefix(SQLITE) else {
            let kinds = "sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE";
            return Err(CliError::new(format!("the database must be given as {kinds}; no other kind is known")));
        };
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() || path.contains('\0') || path.starts_with(":memory:") {
            let example = "such as sqlite:./lunas-data/lunas.db";
            return Err(CliError::new(format!(
                "the database `{}` names no file; name one, {example}",
                url.escape_debug()
            )));
        }
        Ok(Database::Sqlite(PathBuf::from(path)))
    }

    /// The directory of what belongs to the installation and is not in its database: the secret key and the demo's
    /// credentials. That is where the file is, or where `lunas dev` puts them when there is none.
    pub(crate) fn home(&self) -> PathBuf {
        match self {
            Database::Sqlite(path) => path.parent().map(Path::to_owned).unwrap_or_default(),
            Database::Postgres(..) => data_directory(),
        }
    }

    /// How far its tables are, for whoever must not make any.
    pub(crate) async fn look(&self) -> Result<Tables, CliError> {
        let looked = match self {
            Database::Sqlite(path) if !path.exists() => Ok(Tables::Missing),
            Database::Sqlite(path) => Store::sqlite_tables(path).await,
            Database::Postgres(url, _) => Store::postgres_tables(url).await,
        };
        looked.map_err(|error| self.unopened(&error))
    }

    pub(crate) fn has_directory(&self) -> bool {
        let Database::Sqlite(path) = self else { return true };
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        directory.is_none_or(Path::is_dir)
    }

    /// Opens the database, and makes it when it is missing, but never the directory it is in, nor a server's database.
    pub(crate) async fn open(&self) -> Result<Store, CliError> {
        self.make_file()?;
        let opened = match self {
            Database::Sqlite(path) => Store::open_sqlite(path).await,
            Database::Postgres(url, connections) => Store::open_postgres(url, *connections).await,
        };
        opened.map_err(|error| self.unopened(&error))
    }

    /// Brings the tables up to date, and answers how far they were.
    pub(crate) async fn migrate(&self) -> Result<Tables, CliError> {
        self.make_file()?;
        let migrated = match self {
            Database::Sqlite(path) => Store::migrate_sqlite(path).await,
            Database::Postgres(url, _) => Store::migrate_postgres(url).await,
        };
        migrated.map_err(|error| self.unopened(&error))
    }

    /// SQLite would make a file that everyone on the machine can read. It takes an empty one for a new database.
    fn make_file(&self) -> Result<(), CliError> {
        let Database::Sqlite(path) = self else { return Ok(()) };
        if !self.has_directory() {
            return Err(CliError::new(format!("cannot open {self}: its directory does not exist; make it first")));
        }
        files::make_private_file(path).map_err(|error| CliError::new(format!("cannot open {self}: {error}")))
    }

    pub(crate) async fn open_existing(&self) -> Result<Store, CliError> {
        match self {
            Database::Sqlite(path) if !path.exists() => {
                Err(CliError::new(format!("no database at {}; {WHAT_MAKES_ONE}", path.display())))
            }
            Database::Postgres(..) if self.look().await? == Tables::Missing => {
                Err(CliError::new(format!("no tables of lunas in {self}; {WHAT_MAKES_ONE}")))
            }
            _ => self.open().await,
        }
    }

    fn unopened(&self, error: &OpenError) -> CliError {
        CliError::new(format!("cannot open {self}: {}", chain(error)))
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Database::Sqlite(path) => write!(f, "{SQLITE}{}", path.display()),
            Database::Postgres(url, _) => url.fmt(f),
        }
    }
}

/// A database that is open, and the use cases on it.
pub(crate) struct Installation {
    pub(crate) store: Store,
    pub(crate) engine: Engine,
}

impl Installation {
    pub(crate) fn new(store: Store, settings: Settings, key: SecretKey) -> Installation {
        let providers = Providers { sandbox: Simulator::default(), production: None };
        let engine = Engine::new(store.clone(), providers, Arc::new(SystemClock), settings, key);
        Installation { store, engine }
    }

    /// What is there already, for commands that neither seal a secret nor open one.
    pub(crate) async fn existing(options: &GlobalOptions, settings: Settings) -> Result<Installation, CliError> {
        let database = Database::of(options)?;
        let key = match secret_key::find(&database.home())? {
            Some(found) => found.key,
            None => secret_key::unused()?,
        };
        Ok(Installation::new(database.open_existing().await?, settings, key))
    }

    /// An installation that new secrets can be sealed in; the database is made when it is missing.
    pub(crate) async fn sealing(options: &GlobalOptions) -> Result<Installation, CliError> {
        let database = Database::of(options)?;
        let Some(found) = secret_key::find(&database.home())? else {
            let (variable, how) = (secret_key::VARIABLE, secret_key::HOW_TO_MAKE);
            let file = secret_key::file_in(&database.home());
            let why = format!("{variable} is not set and there is no {}", file.display());
            return Err(CliError::new(format!("there is no secret key: {why}; {how}, and `lunas dev` makes its own")));
        };
        let installation = Installation::new(database.open().await?, Settings::default(), found.key);
        installation.check_key(&found.origin).await?;
        Ok(installation)
    }

    /// The same where nothing is to be made.
    pub(crate) async fn sealing_existing(options: &GlobalOptions) -> Result<Installation, CliError> {
        Database::of(options)?.open_existing().await?.close().await;
        Installation::sealing(options).await
    }

    /// Makes sure that the key is the one this installation's secrets were sealed with.
    pub(crate) async fn check_key(&self, origin: &str) -> Result<(), CliError> {
        let Some(project) = self.engine.projects().await?.into_iter().next() else { return Ok(()) };
        match self.engine.webhook_secret(project.id).await {
            Ok(_) => Ok(()),
            Err(engine::Error::Vault(_)) => {
                let what =
                    format!("the secret key in {origin} is not the one this database's secrets were sealed with");
                Err(CliError::new(format!("{what}; use the key that it was made with")))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for what is being written and closes the files.
    pub(crate) async fn close(self) {
        self.store.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Database, CliError> {
        Database::parse(url, store::CONNECTIONS)
    }

    #[test]
    fn a_database_is_a_sqlite_file_or_on_a_postgresql_server() {
        for (url, shown) in [
            ("sqlite:./lunas-data/lunas.db", "sqlite:./lunas-data/lunas.db"),
            ("sqlite:/var/lib/lunas.db", "sqlite:/var/lib/lunas.db"),
            ("sqlite:///var/lib/lunas.db", "sqlite:/var/lib/lunas.db"),
            ("sqlite:lunas.db", "sqlite:lunas.db"),
            ("sqlite:with space?.db", "sqlite:with space?.db"),
            ("postgres://u:quiet@h/d", "postgres://u@h:5432/d"),
            ("postgresql://u:quiet@h:6432,i:6433/d", "postgres://u@h:6432,i:6433/d"),
        ] {
            assert_eq!(parse(url).unwrap().to_string(), shown);
        }
        assert_eq!(parse("sqlite:/var/lib/lunas.db").unwrap().home(), Path::new("/var/lib"));
        assert_eq!(parse("sqlite:lunas.db").unwrap().home(), Path::new(""));
        assert_eq!(parse("postgres://u@h/d").unwrap().home(), data_directory());
    }

    #[test]
    fn other_databases_are_refused_without_repeating_a_password() {
        for url in [
            "",
            "lunas.db",
            "/lunas.db",
            "mysql://u:quiet@h/d",
            "POSTGRES://u:quiet@h/d",
            "SQLITE:x",
            "sqlite:",
            "sqlite://",
            "sqlite::memory:",
            "postgres://u:quiet@h",
            "postgres://u:quiet@/d",
            "postgres://:quiet@h/d",
            "postgres://h/d",
            "postgres://u:quiet@h/d?unknown=1",
            "postgres://u:quiet@h/d?sslmode=quiet",
            "postgres://u:quiet@h:quiet/d",
            "postgres://u:qui@et@h/d",
        ] {
            let error = parse(url).unwrap_err();
            assert_eq!(error.reasons().len(), 1);
            assert!(!error.reasons()[0].contains("quiet"), "{url}: {:?}", error.reasons());
        }
    }

    #[tokio::test]
    async fn opening_never_makes_a_directory_and_existing_never_makes_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let nowhere = Database::Sqlite(directory.path().join("missing/lunas.db"));
        assert!(nowhere.open().await.is_err());
        let path = directory.path().join("lunas.db");
        let absent = Database::Sqlite(path.clone());
        assert!(absent.open_existing().await.is_err());
        assert_eq!(absent.look().await.unwrap(), Tables::Missing);
        assert!(!path.exists());
        absent.open().await.unwrap().close().await;
        assert_eq!(absent.look().await.unwrap(), Tables::Current);
        absent.open_existing().await.unwrap().close().await;
    }
}
