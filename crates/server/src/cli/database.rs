//! Which database a command works on, and how it is opened. Only commands that are meant to may make one.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::{Engine, SecretKey, Settings, SystemClock};
use gateway::{Providers, Simulator};
use store::Store;

use super::{
    error::{CliError, chain},
    files,
    options::{GlobalOptions, default_database_file},
    secret_key,
};

const SCHEME: &str = "sqlite:";

/// The SQLite file of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Database {
    path: PathBuf,
}

impl Database {
    pub(crate) fn of(options: &GlobalOptions) -> Result<Database, CliError> {
        match options.database() {
            Some(url) => Database::parse(url),
            None => Ok(Database::at(default_database_file())),
        }
    }

    pub(crate) fn at(path: PathBuf) -> Database {
        Database { path }
    }

    /// Reads `sqlite:PATH`. Other addresses may hold passwords, so they are never repeated.
    fn parse(url: &str) -> Result<Database, CliError> {
        let Some(path) = url.strip_prefix(SCHEME) else {
            return Err(CliError::new("the database must be given as sqlite:PATH; this build knows no other kind"));
        };
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() || path.contains('\0') || path.starts_with(":memory:") {
            let example = "such as sqlite:./lunas-data/lunas.db";
            return Err(CliError::new(format!(
                "the database `{}` names no file; name one, {example}",
                url.escape_debug()
            )));
        }
        Ok(Database::at(PathBuf::from(path)))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn exists(&self) -> bool {
        self.path.exists()
    }

    pub(crate) fn has_directory(&self) -> bool {
        let directory = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        directory.is_none_or(Path::is_dir)
    }

    /// Opens the database, and makes it when it is missing, but never the directory it is in.
    pub(crate) async fn open(&self) -> Result<Store, CliError> {
        if !self.has_directory() {
            return Err(CliError::new(format!("cannot open {self}: its directory does not exist; make it first")));
        }
        // SQLite would make a file that everyone on the machine can read. It takes an empty one for a new database.
        files::make_private_file(&self.path).map_err(|error| CliError::new(format!("cannot open {self}: {error}")))?;
        let opened = Store::open_sqlite(&self.path).await;
        opened.map_err(|error| CliError::new(format!("cannot open {self}: {}", chain(&error))))
    }

    async fn open_existing(&self) -> Result<Store, CliError> {
        if !self.exists() {
            let what_to_do = "start `lunas dev` or `lunas serve` first, or `lunas project create` makes one";
            return Err(CliError::new(format!("no database at {}; {what_to_do}", self.path.display())));
        }
        self.open().await
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.path.display())
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
        let key = match secret_key::find(database.path())? {
            Some(found) => found.key,
            None => secret_key::unused()?,
        };
        Ok(Installation::new(database.open_existing().await?, settings, key))
    }

    /// An installation that new secrets can be sealed in; the database is made when it is missing.
    pub(crate) async fn sealing(options: &GlobalOptions) -> Result<Installation, CliError> {
        let database = Database::of(options)?;
        let Some(found) = secret_key::find(database.path())? else {
            let (variable, file, how) = (secret_key::VARIABLE, secret_key::FILE, secret_key::HOW_TO_MAKE);
            let why = format!("{variable} is not set and there is no {file} beside {}", database.path().display());
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

    #[test]
    fn a_database_is_a_sqlite_file() {
        for (url, path) in [
            ("sqlite:./lunas-data/lunas.db", "./lunas-data/lunas.db"),
            ("sqlite:/var/lib/lunas.db", "/var/lib/lunas.db"),
            ("sqlite:///var/lib/lunas.db", "/var/lib/lunas.db"),
            ("sqlite:lunas.db", "lunas.db"),
            ("sqlite:with space?.db", "with space?.db"),
        ] {
            assert_eq!(Database::parse(url).unwrap().path(), Path::new(path), "{url}");
        }
    }

    #[test]
    fn other_databases_are_refused_without_repeating_a_password() {
        for url in [
            "",
            "lunas.db",
            "/lunas.db",
            "postgres://u:quiet@h/d",
            "SQLITE:x",
            "sqlite:",
            "sqlite://",
            "sqlite::memory:",
        ] {
            let error = Database::parse(url).unwrap_err();
            assert_eq!(error.reasons().len(), 1);
            assert!(!error.reasons()[0].contains("quiet"), "{url}");
        }
    }

    #[tokio::test]
    async fn opening_never_makes_a_directory_and_existing_never_makes_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let nowhere = Database::at(directory.path().join("missing/lunas.db"));
        assert!(nowhere.open().await.is_err());
        let absent = Database::at(directory.path().join("lunas.db"));
        assert!(absent.open_existing().await.is_err());
        assert!(!absent.exists());
        absent.open().await.unwrap().close().await;
        assert!(absent.exists());
        absent.open_existing().await.unwrap().close().await;
    }
}
