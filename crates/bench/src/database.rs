//! The database of a measured installation, opened without a server to fill it or to read from it.

use std::{
    io,
    path::{Path, PathBuf},
};

use store::{CONNECTIONS, Store};

#[derive(Clone)]
pub(crate) enum Database {
    Sqlite(PathBuf),
    Postgres { url: String },
}

impl Database {
    pub(crate) fn sqlite_in(directory: &Path) -> Database {
        Database::Sqlite(directory.join("lunas.db"))
    }

    /// The value of `--database`.
    pub(crate) fn url(&self) -> String {
        match self {
            Database::Sqlite(path) => format!("sqlite:{}", path.display()),
            Database::Postgres { url } => url.clone(),
        }
    }

    pub(crate) async fn open(&self) -> io::Result<Store> {
        let store = match self {
            Database::Sqlite(path) => Store::open_sqlite(path).await,
            Database::Postgres { url } => {
                Store::open_postgres(&url.parse().map_err(io::Error::other)?, CONNECTIONS).await
            }
        };
        store.map_err(io::Error::other)
    }
}
