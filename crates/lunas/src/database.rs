//! Which database a command uses, how it is opened, and the installation on it: store and engine. Only commands that are meant to
//! create a database may do so; all others fail where there is none.

use std::{
    fmt,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::{Engine, SecretKeys, Settings, SystemClock};
use store::{OpenError, PostgresUrl, Store, Tables};

use crate::{
    error::{CliError, chain},
    options::{GlobalOptions, data_directory, default_database_file},
    private_files,
    secret_key::{self, FoundKeys},
};

const SQLITE: &str = "sqlite:";
const POSTGRES: [&str; 2] = ["postgres://", "postgresql://"];
/// Links that are followed one after the other, as many as Linux follows.
const LINKS_MOST: usize = 40;
const HOW_TO_CREATE: &str = "`lunas dev`, `lunas serve` and `lunas migrate` create one";

/// The database of an installation.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A database on a PostgreSQL server, and the most connections to open to it.
    Postgres(Box<PostgresUrl>, usize),
}

impl Database {
    pub(crate) fn of(options: &GlobalOptions) -> Result<Database, CliError> {
        match options.database() {
            Some(url) => Database::parse(url, options.database_connections()),
            None => Ok(Database::Sqlite(default_database_file())),
        }
    }

    /// Parses `sqlite:PATH` or `postgres://…`. Such a URL may contain a password, so no message repeats it whole.
    pub(crate) fn parse(url: &str, connections: usize) -> Result<Database, CliError> {
        if POSTGRES.iter().any(|scheme| url.starts_with(scheme)) {
            let url = url
                .parse()
                .map_err(|error| CliError::new(format!("the URL of the database cannot be used: {}", chain(&error))))?;
            return Ok(Database::Postgres(Box::new(url), connections));
        }
        let Some(path) = url.strip_prefix(SQLITE) else {
            let kinds = "sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE";
            return Err(CliError::new(format!("the database must be given as {kinds}; there is no other kind")));
        };
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() || path.contains('\0') || path.starts_with(":memory:") {
            let example = "such as sqlite:./lunas-data/lunas.db";
            return Err(CliError::new(format!(
                "the database `{}` names no file; give one, {example}",
                url.escape_debug()
            )));
        }
        Ok(Database::Sqlite(PathBuf::from(path)))
    }

    /// The directory of the files beside the database, which are the secret key and the demo's credentials: that of the SQLite
    /// file, or the data directory of `lunas dev` where the database is on a server.
    pub(crate) fn home(&self) -> PathBuf {
        match self {
            Database::Sqlite(path) => path.parent().map(Path::to_owned).unwrap_or_default(),
            Database::Postgres(..) => data_directory(),
        }
    }

    /// The state of its tables. It creates none.
    pub(crate) async fn table_state(&self) -> Result<Tables, CliError> {
        let looked = match self {
            Database::Sqlite(path) if !path.exists() => Ok(Tables::Missing),
            Database::Sqlite(path) => Store::sqlite_tables(path).await,
            Database::Postgres(url, _) => Store::postgres_tables(url).await,
        };
        looked.map_err(|error| self.open_error(&error))
    }

    /// Whether the directory of the SQLite file exists; true for a server.
    pub(crate) fn has_directory(&self) -> bool {
        let Database::Sqlite(path) = self else { return true };
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        directory.is_none_or(Path::is_dir)
    }

    /// Opens the database, and creates a missing SQLite file. It never creates a directory or a server's database.
    pub(crate) async fn open(&self) -> Result<Store, CliError> {
        self.create_file()?;
        let opened = match self {
            Database::Sqlite(path) => Store::open_sqlite(path).await,
            Database::Postgres(url, connections) => Store::open_postgres(url, *connections).await,
        };
        opened.map_err(|error| self.open_error(&error))
    }

    /// Brings the tables up to date, and returns their state before that.
    pub(crate) async fn migrate(&self) -> Result<Tables, CliError> {
        self.create_file()?;
        let migrated = match self {
            Database::Sqlite(path) => Store::migrate_sqlite(path).await,
            Database::Postgres(url, _) => Store::migrate_postgres(url).await,
        };
        migrated.map_err(|error| self.open_error(&error))
    }

    /// Creates a missing SQLite file, private to its owner. SQLite itself would create one that all users of the machine can read;
    /// it takes an empty file for a new database.
    fn create_file(&self) -> Result<(), CliError> {
        let Database::Sqlite(path) = self else { return Ok(()) };
        if !self.has_directory() {
            return Err(CliError::new(format!("cannot open {self}: its directory does not exist; create it first")));
        }
        // Through a link that leads to no file yet, only SQLite would create one.
        let created = private_files::create_private_file(&file_behind(path));
        created.map_err(|error| CliError::new(format!("cannot open {self}: {error}")))
    }

    /// Opens the database; an error where there is none.
    pub(crate) async fn open_existing(&self) -> Result<Store, CliError> {
        match self {
            Database::Sqlite(path) if !path.exists() => {
                Err(CliError::new(format!("there is no database at {}; {HOW_TO_CREATE}", path.display())))
            }
            Database::Postgres(..) if self.table_state().await? == Tables::Missing => {
                Err(CliError::new(format!("there are no tables of Lunas in {self}; {HOW_TO_CREATE}")))
            }
            _ => self.open().await,
        }
    }

    /// Takes the lock that a server holds on a SQLite file for as long as it runs; it is an error if another server holds it. A
    /// database on a server has none, since many nodes may share it. Commands take no lock, as they work beside a server, but
    /// for `lunas copy`.
    pub(crate) fn lock_for_server(&self) -> Result<Option<File>, CliError> {
        let Database::Sqlite(path) = self else { return Ok(None) };
        let what_to_do = "stop it first, or use PostgreSQL for several servers";
        let running =
            || CliError::new(format!("another server is running on {self}, or `lunas copy` reads it; {what_to_do}"));
        lock_file(path)?.map(Some).ok_or_else(running)
    }

    /// Takes the same lock for a copy, so that no server accepts payments which would be missing in it.
    pub(crate) fn lock_for_copy(&self) -> Result<Option<File>, CliError> {
        let Database::Sqlite(path) = self else { return Ok(None) };
        let why = "what it accepts during a copy and after it would be missing in the new database";
        let running = || CliError::new(format!("a server is running on {self}; stop it first: {why}"));
        lock_file(path)?.map(Some).ok_or_else(running)
    }

    fn open_error(&self, error: &OpenError) -> CliError {
        CliError::new(format!("cannot open {self}: {}", chain(error)))
    }
}

/// Locks a SQLite file for one server; none where another process holds the lock. Whichever way a path leads to the file, the
/// lock is the same.
fn lock_file(path: &Path) -> Result<Option<File>, CliError> {
    let lock = file_behind(path).with_added_extension("lock");
    private_files::try_lock(&lock).map_err(|error| CliError::file("lock", &lock, &error))
}

/// The file that a path leads to, whether or not it exists; the path itself where that cannot be found out.
fn file_behind(path: &Path) -> PathBuf {
    follow(path).unwrap_or_else(|_| path.to_owned())
}

fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MOST {
        match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return found,
        }
        // A file that does not exist yet is found by its directory, unless it is a link to such a file.
        let name = path.file_name().ok_or(io::ErrorKind::NotFound)?;
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let directory = directory.canonicalize()?;
        let file = directory.join(name);
        match file.read_link() {
            Ok(target) => path = directory.join(target),
            Err(_) => return Ok(file),
        }
    }
    Err(io::Error::other("too many links lead from one to the next"))
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Database::Sqlite(path) => write!(f, "{SQLITE}{}", path.display()),
            Database::Postgres(url, _) => url.fmt(f),
        }
    }
}

/// An open database, and the engine on it.
pub(crate) struct Installation {
    pub(crate) store: Store,
    pub(crate) engine: Engine,
    /// What keeps other servers away until this one has closed the database.
    locks: Vec<File>,
}

impl Installation {
    pub(crate) fn new(store: Store, settings: Settings, keys: SecretKeys) -> Installation {
        let engine = Engine::new(store.clone(), Arc::new(SystemClock), settings, keys);
        Installation { store, engine, locks: Vec::new() }
    }

    /// Holds locks until it is closed.
    pub(crate) fn holding(self, locks: impl IntoIterator<Item = File>) -> Installation {
        Installation { locks: locks.into_iter().collect(), ..self }
    }

    /// An existing installation, for commands that neither encrypt nor decrypt a secret.
    pub(crate) async fn existing(options: &GlobalOptions, settings: Settings) -> Result<Installation, CliError> {
        let database = Database::of(options)?;
        let keys = match secret_key::find(&database.home())? {
            Some(found) => found.keys,
            None => secret_key::placeholder()?,
        };
        Ok(Installation::new(database.open_existing().await?, settings, keys))
    }

    /// An installation for commands that encrypt secrets, so it must have the secret key. A missing database is created.
    pub(crate) async fn sealing(options: &GlobalOptions) -> Result<Installation, CliError> {
        Installation::sealing_with(options, Settings::default()).await
    }

    async fn sealing_with(options: &GlobalOptions, settings: Settings) -> Result<Installation, CliError> {
        let database = Database::of(options)?;
        let Some(found) = secret_key::find(&database.home())? else {
            let (variable, how) = (secret_key::VARIABLE, secret_key::HOW_TO_GENERATE);
            let file = secret_key::file_in(&database.home());
            let why = format!("{variable} is not set and there is no {}", file.display());
            return Err(CliError::new(format!(
                "there is no secret key: {why}; {how}, and `lunas dev` generates its own"
            )));
        };
        let installation = Installation::new(database.open().await?, settings, found.keys.clone());
        installation.check_keys(&found).await?;
        Ok(installation)
    }

    /// Like [`Installation::sealing`], but a missing database is an error.
    pub(crate) async fn sealing_existing(
        options: &GlobalOptions,
        settings: Settings,
    ) -> Result<Installation, CliError> {
        Database::of(options)?.open_existing().await?.close().await;
        Installation::sealing_with(options, settings).await
    }

    /// Checks that no key is missing that this installation's secrets were encrypted with. A single secret that is damaged is only
    /// logged, since everything else works without it.
    pub(crate) async fn check_keys(&self, keys: &FoundKeys) -> Result<(), CliError> {
        let found = self.engine.examine_secrets().await?;
        if let Some(reason) = keys.missing_for(&found.unopened) {
            return Err(CliError::new(reason));
        }
        for secret in &found.unopened {
            tracing::error!(place = secret.place, "a stored secret does not open: it is damaged or was moved there");
        }
        Ok(())
    }

    /// Waits for pending writes and closes the database.
    pub(crate) async fn close(self) {
        self.store.close().await;
        drop(self.locks);
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

    #[test]
    fn every_path_to_a_file_leads_to_the_same_one_before_and_after_it_exists() {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().canonicalize().unwrap();
        let file = home.join("data/lunas.db");
        std::fs::create_dir(home.join("data")).unwrap();
        let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, home.join(name)).unwrap();
        link("data", "linked");
        link("data/lunas.db", "relative.db");
        link(file.to_str().unwrap(), "absolute.db");
        link("linked/../relative.db", "further.db");
        link("loop.db", "loop.db");
        let ways = ["data/lunas.db", "linked/lunas.db", "relative.db", "absolute.db", "further.db"];
        for _ in 0..2 {
            for way in ways {
                assert_eq!(file_behind(&home.join(way)), file, "{way}");
            }
            std::fs::write(&file, "").unwrap();
        }
        for nowhere in ["loop.db", "missing/lunas.db"] {
            assert_eq!(file_behind(&home.join(nowhere)), home.join(nowhere));
        }
    }

    #[tokio::test]
    async fn open_never_creates_a_directory_and_open_existing_never_creates_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let nowhere = Database::Sqlite(directory.path().join("missing/lunas.db"));
        assert!(nowhere.open().await.is_err());
        let path = directory.path().join("lunas.db");
        let absent = Database::Sqlite(path.clone());
        assert!(absent.open_existing().await.is_err());
        assert_eq!(absent.table_state().await.unwrap(), Tables::Missing);
        assert!(!path.exists());
        absent.open().await.unwrap().close().await;
        assert_eq!(absent.table_state().await.unwrap(), Tables::Current);
        absent.open_existing().await.unwrap().close().await;
    }
}
