//! The databases that tests run a server on.

use std::{
    fs,
    path::{Path, PathBuf},
};

use pgcluster::{Cluster, ScratchDatabase};
use store::{CONNECTIONS, Store};
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// The database of a server; a test can open other servers on it too.
#[derive(Clone)]
pub enum Database {
    Sqlite(PathBuf),
    Postgres { url: String },
}

impl Database {
    pub fn sqlite_in(directory: &Path) -> Database {
        Database::Sqlite(file_in(directory))
    }

    /// A file with the tables and nothing in them. To copy the tables takes less time than to create them.
    pub async fn fresh_sqlite(directory: &Path) -> Database {
        static TEMPLATE: OnceCell<Vec<u8>> = OnceCell::const_new();
        let template = TEMPLATE.get_or_init(|| async {
            let template = TempDir::new().unwrap();
            Database::sqlite_in(template.path()).open().await.close().await;
            fs::read(file_in(template.path())).unwrap()
        });
        fs::write(file_in(directory), template.await).unwrap();
        Database::sqlite_in(directory)
    }

    /// A database of the shared cluster with the tables and nothing in them. To copy the tables takes less time than to create
    /// them.
    pub async fn fresh_postgres() -> ScratchDatabase {
        static TEMPLATE: OnceCell<String> = OnceCell::const_new();
        let template = TEMPLATE.get_or_init(|| async {
            let template = Database::Postgres { url: Cluster::shared().fresh_database() };
            template.open().await.close().await;
            template.url()
        });
        ScratchDatabase::copy_of(template.await)
    }

    /// What people call it.
    pub fn name(&self) -> &'static str {
        match self {
            Database::Sqlite(_) => "SQLite",
            Database::Postgres { .. } => "PostgreSQL",
        }
    }

    /// The value of `--database`.
    pub fn url(&self) -> String {
        match self {
            Database::Sqlite(path) => format!("sqlite:{}", path.display()),
            Database::Postgres { url } => url.clone(),
        }
    }

    /// All stored bytes, for a test that searches them; PostgreSQL shows binary columns as hex digits.
    pub fn stored(&self) -> Vec<u8> {
        match self {
            Database::Sqlite(path) => {
                let files = fs::read_dir(path.parent().unwrap()).unwrap();
                files.flat_map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
            }
            Database::Postgres { url } => {
                let run = |sql: &str| Cluster::shared().run(url, sql).unwrap();
                let tables = run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
                tables.lines().flat_map(|table| run(&format!("SELECT t::text FROM {table} t")).into_bytes()).collect()
            }
        }
    }

    /// Makes the database unavailable and disconnects all clients, until [`Database::bring_back`].
    pub fn take_away(&self) {
        match self {
            Database::Sqlite(path) => {
                fs::rename(path, path.with_extension("away")).unwrap();
                fs::create_dir(path).unwrap();
            }
            Database::Postgres { .. } => {
                self.allow_connections(false);
                let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{}'";
                self.run_elsewhere(end);
            }
        }
    }

    pub fn bring_back(&self) {
        match self {
            Database::Sqlite(path) => {
                fs::remove_dir(path).unwrap();
                fs::rename(path.with_extension("away"), path).unwrap();
            }
            Database::Postgres { .. } => self.allow_connections(true),
        }
    }

    fn allow_connections(&self, allowed: bool) {
        self.run_elsewhere(&format!("ALTER DATABASE {{}} ALLOW_CONNECTIONS {allowed}"));
    }

    /// Runs SQL in another database of the same cluster; `{}` stands for the name of this one.
    fn run_elsewhere(&self, sql: &str) {
        let url = self.url();
        let name = url.rsplit('/').next().unwrap();
        Cluster::shared().run("postgres", &sql.replace("{}", name)).unwrap();
    }

    /// Opens one more store on it, as another process would.
    pub async fn open(&self) -> Store {
        match self {
            Database::Sqlite(path) => Store::open_sqlite(path).await.unwrap(),
            Database::Postgres { url } => Store::open_postgres(&url.parse().unwrap(), CONNECTIONS).await.unwrap(),
        }
    }
}

fn file_in(directory: &Path) -> PathBuf {
    directory.join("lunas.db")
}
