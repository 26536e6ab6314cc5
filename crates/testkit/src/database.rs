use std::path::{Path, PathBuf};

use store::{CONNECTIONS, Store};
use tokio::sync::OnceCell;

use crate::Cluster;

/// Where a server keeps everything; other servers can be opened on it too.
#[derive(Clone)]
pub enum Database {
    Sqlite(PathBuf),
    Postgres { url: String },
}

impl Database {
    pub fn sqlite_in(directory: &Path) -> Database {
        Database::Sqlite(directory.join("lunas.db"))
    }

    /// A database of the shared cluster that nobody has used.
    pub async fn fresh_postgres() -> Database {
        // To copy the tables takes less time than to make them.
        static TEMPLATE: OnceCell<String> = OnceCell::const_new();
        let template = TEMPLATE.get_or_init(|| async {
            let template = Database::Postgres { url: Cluster::shared().fresh_database() };
            template.open().await.close().await;
            template.url()
        });
        let url = Cluster::shared().fresh_database_like(template.await);
        Database::Postgres { url }
    }

    /// The word for its kind.
    pub fn name(&self) -> &'static str {
        match self {
            Database::Sqlite(_) => "SQLite",
            Database::Postgres { .. } => "PostgreSQL",
        }
    }

    /// What `--database` takes.
    pub fn url(&self) -> String {
        match self {
            Database::Sqlite(path) => format!("sqlite:{}", path.display()),
            Database::Postgres { url } => url.clone(),
        }
    }

    /// One more handle, as another process would have.
    pub async fn open(&self) -> Store {
        match self {
            Database::Sqlite(path) => Store::open_sqlite(path).await.unwrap(),
            Database::Postgres { url } => Store::open_postgres(&url.parse().unwrap(), CONNECTIONS).await.unwrap(),
        }
    }
}
