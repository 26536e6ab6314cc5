//! Fresh databases for the tests, one of each kind.

use std::path::PathBuf;

use pgcluster::{Cluster, ScratchDatabase};
use rusqlite::Connection;
use store::{CONNECTIONS, Change, CommitError, Guard, OpenError, Store, StoreError, Tables, Write};
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::short_ids::{shortened, text_of};

/// Writes of one commit, where there are many. PostgreSQL must end a commit within ten seconds, and a busy machine needs longer
/// than that for 10,000 payments, which are 30,000 statements.
const COMMITTED_TOGETHER: usize = 500;

/// Runs tests, which are functions that take a [`Database`], on every kind of database.
macro_rules! on_every_database {
    ($($test:ident),* $(,)?) => {
        mod on_sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $test() {
                    super::$test(crate::database::Database::sqlite()).await;
                }
            )*
        }

        mod on_postgres {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $test() {
                    super::$test(crate::database::Database::postgres().await).await;
                }
            )*
        }
    };
}

pub(crate) use on_every_database;

/// Removes triggers, foreign keys and checks from a PostgreSQL database.
const WITHOUT_CHECKS: &str = "SET session_replication_role = replica; \
    DO $$ DECLARE c record; BEGIN \
    FOR c IN SELECT conrelid::regclass AS place, conname FROM pg_constraint \
    WHERE contype = 'c' AND connamespace = 'public'::regnamespace LOOP \
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.place, c.conname); END LOOP; END $$;";

/// A database that is not open yet. It is deleted with this value.
pub(crate) enum Database {
    Sqlite(TempDir),
    Postgres(ScratchDatabase),
}

impl Database {
    pub(crate) fn sqlite() -> Database {
        Database::Sqlite(TempDir::new().unwrap())
    }

    /// A PostgreSQL database with the tables in it. To copy them takes less time than to create them.
    pub(crate) async fn postgres() -> Database {
        static TEMPLATE: OnceCell<String> = OnceCell::const_new();
        let template = TEMPLATE.get_or_init(|| async {
            let url = Cluster::shared().fresh_database();
            open_postgres(&url).await.unwrap().close().await;
            url
        });
        Database::Postgres(ScratchDatabase::copy_of(template.await))
    }

    /// Another database of the same kind, as new as this one was.
    pub(crate) async fn another(&self) -> Database {
        match self {
            Database::Sqlite(_) => Database::sqlite(),
            Database::Postgres(_) => Database::postgres().await,
        }
    }

    /// Another database of the same kind without anything in it.
    pub(crate) fn empty(&self) -> Database {
        match self {
            Database::Sqlite(_) => Database::sqlite(),
            Database::Postgres(_) => Database::Postgres(ScratchDatabase::empty()),
        }
    }

    /// Another database of the same kind with the same rows. No store may have this one open.
    pub(crate) fn copied(&self) -> Database {
        match self {
            Database::Sqlite(directory) => {
                let copy = TempDir::new().unwrap();
                std::fs::copy(file_in(directory), file_in(&copy)).unwrap();
                Database::Sqlite(copy)
            }
            Database::Postgres(scratch) => Database::Postgres(ScratchDatabase::copy_of(scratch.url())),
        }
    }

    /// Another handle on this database, as another process would have.
    pub(crate) async fn open(&self) -> Store {
        self.try_open().await.unwrap()
    }

    pub(crate) async fn try_open(&self) -> Result<Store, OpenError> {
        match self {
            Database::Sqlite(directory) => Store::open_sqlite(&file_in(directory)).await,
            Database::Postgres(scratch) => open_postgres(scratch.url()).await,
        }
    }

    /// Another database of the same kind with the tables of the first version, and its row in the history of migrations.
    pub(crate) fn first_version(&self) -> Database {
        let database = self.empty();
        let tables = match self {
            Database::Sqlite(_) => include_str!("../../migrations/sqlite/V1__initial.sql"),
            Database::Postgres(_) => include_str!("../../migrations/postgres/V1__initial.sql"),
        };
        let checksum = refinery::Migration::unapplied("V1__initial", tables).unwrap().checksum();
        let history = format!(
            "CREATE TABLE refinery_schema_history (version int4 PRIMARY KEY, name VARCHAR(255), \
             applied_on VARCHAR(255), checksum VARCHAR(255)); \
             INSERT INTO refinery_schema_history VALUES (1, 'initial', '2027-01-15T08:00:00Z', '{checksum}');"
        );
        database.run_beside(&format!("{tables}\n{history}")).unwrap();
        database
    }

    /// The same with the tables of the second version, which was released too.
    pub(crate) fn second_version(&self) -> Database {
        let database = self.first_version();
        database.raise_to_second_version();
        database
    }

    /// Gives a database of the first version the tables of the second.
    pub(crate) fn raise_to_second_version(&self) {
        let tables = match self {
            Database::Sqlite(_) => include_str!("../../migrations/sqlite/V2__people.sql"),
            Database::Postgres(_) => include_str!("../../migrations/postgres/V2__people.sql"),
        };
        let checksum = refinery::Migration::unapplied("V2__people", tables).unwrap().checksum();
        let history =
            format!("INSERT INTO refinery_schema_history VALUES (2, 'people', '2027-01-15T08:00:00Z', '{checksum}');");
        // As when the store migrates: tables that others refer to are built anew.
        let before = if self.is_typed() { "" } else { "PRAGMA foreign_keys = OFF;" };
        self.run_beside(&format!("{before}\n{tables}\n{history}")).unwrap();
    }

    /// The state of the tables.
    pub(crate) async fn tables(&self) -> Tables {
        match self {
            Database::Sqlite(directory) => Store::sqlite_tables(&file_in(directory)).await.unwrap(),
            Database::Postgres(scratch) => Store::postgres_tables(&scratch.url().parse().unwrap()).await.unwrap(),
        }
    }

    /// The columns whose values are bytes, as `table.column`, by name.
    pub(crate) fn columns_of_bytes(&self) -> Vec<String> {
        match self {
            Database::Sqlite(directory) => {
                let columns = "SELECT t.name || '.' || c.name FROM sqlite_master t, pragma_table_info(t.name) c \
                               WHERE t.type = 'table' AND c.type = 'BLOB' AND t.name NOT LIKE '%_search_%' ORDER BY 1";
                strings(&connect(directory), columns)
            }
            Database::Postgres(scratch) => {
                let columns = "SELECT table_name || '.' || column_name FROM information_schema.columns \
                               WHERE table_schema = 'public' AND data_type = 'bytea' ORDER BY 1";
                let columns = Cluster::shared().run(scratch.url(), columns).unwrap();
                columns.lines().map(str::to_owned).collect()
            }
        }
    }

    /// Whether a column accepts values of its own type only.
    pub(crate) fn is_typed(&self) -> bool {
        matches!(self, Database::Postgres(_))
    }

    /// Whether rows of every table refer to their project by a key that the database checks.
    pub(crate) fn refers_to_projects(&self) -> bool {
        matches!(self, Database::Sqlite(_))
    }

    /// Empties the search indexes, which then still count as complete.
    pub(crate) fn empty_search_index(&self) {
        for index in ["payment_search", "link_search"] {
            let sql = match self {
                Database::Sqlite(_) => format!("INSERT INTO {index} ({index}) VALUES ('delete-all')"),
                Database::Postgres(_) => format!("DELETE FROM {index}"),
            };
            self.run_beside(&sql).unwrap();
        }
    }

    /// Runs SQL without the store. Constraints and triggers of the database still hold.
    pub(crate) fn run_beside(&self, sql: &str) -> Result<(), String> {
        match self {
            Database::Sqlite(directory) => {
                let connection = connect(directory);
                connection.execute_batch(&shortened(&connection, sql)).map_err(|error| error.to_string())
            }
            Database::Postgres(scratch) => Cluster::shared().run(scratch.url(), sql).map(drop),
        }
    }

    /// Damages the stored rows: runs SQL without triggers, checks and foreign keys.
    pub(crate) fn damage(&self, sql: &str) {
        match self {
            Database::Sqlite(directory) => {
                let connection = connect(directory);
                connection.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").unwrap();
                for trigger in strings(&connection, "SELECT name FROM sqlite_master WHERE type = 'trigger'") {
                    connection.execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
                }
                let sql = shortened(&connection, sql);
                connection.execute_batch(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
            Database::Postgres(scratch) => {
                let sql = format!("{WITHOUT_CHECKS} {sql}");
                Cluster::shared().run(scratch.url(), &sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
        }
    }

    /// Every row of every table as text, so that a test can check that nothing has changed.
    pub(crate) fn rows(&self) -> Vec<String> {
        match self {
            Database::Sqlite(directory) => {
                let connection = connect(directory);
                // The rows of a virtual table are in the tables that implement it.
                let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' \
                              ORDER BY name";
                let tables = strings(&connection, tables);
                tables.iter().flat_map(|table| rows_of(&connection, table)).collect()
            }
            Database::Postgres(scratch) => {
                let run = |sql: &str| Cluster::shared().run(scratch.url(), sql).unwrap();
                let tables = run("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename");
                let rows = |table| format!("SELECT '{table}: ' || t::text FROM {table} t ORDER BY 1;");
                // In one go, because each call connects anew.
                let rows = run(&tables.lines().map(rows).collect::<String>());
                rows.lines().map(str::to_owned).collect()
            }
        }
    }
}

async fn open_postgres(url: &str) -> Result<Store, OpenError> {
    Store::open_postgres(&url.parse().unwrap(), CONNECTIONS).await
}

pub(crate) fn file_in(directory: &TempDir) -> PathBuf {
    directory.path().join("lunas.db")
}

fn connect(directory: &TempDir) -> Connection {
    let connection = Connection::open(file_in(directory)).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = ON").unwrap();
    connection
}

fn strings(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Texts are shown unchanged, so that a row can be found by an id in it.
fn rows_of(connection: &Connection, table: &str) -> Vec<String> {
    let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let types = strings(connection, &format!("SELECT type FROM pragma_table_xinfo('{table}')"));
    let shown = |row: &rusqlite::Row<'_>| {
        let values = types
            .iter()
            .enumerate()
            .map(|(column, of)| format!("{:?}", row.get_ref(column).map(|value| text_of(connection, value, of))));
        Ok(format!("{table}: {}", values.collect::<Vec<_>>().join(", ")))
    };
    let mut rows: Vec<String> = statement.query_map([], shown).unwrap().map(Result::unwrap).collect();
    rows.sort();
    rows
}

/// The outcome of a commit, in a form that can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Kept,
    Conflict(Guard),
    Unexpected,
    Unavailable,
    Undecided,
}

pub(crate) async fn commit(store: &Store, change: impl Into<Change>) -> Outcome {
    match store.commit(change.into()).await {
        Ok(()) => Outcome::Kept,
        Err(CommitError::Conflict(guard)) => Outcome::Conflict(guard),
        Err(CommitError::Store(StoreError::Unexpected(_))) => Outcome::Unexpected,
        Err(CommitError::Store(StoreError::Unavailable(_))) => Outcome::Unavailable,
        Err(CommitError::Store(StoreError::Undecided(_))) => Outcome::Undecided,
    }
}

/// Commits a change that must succeed.
pub(crate) async fn keep(store: &Store, change: impl Into<Change>) {
    store.commit(change.into()).await.unwrap();
}

/// Commits many writes that must succeed, some of them at a time.
pub(crate) async fn keep_many<W: Into<Write>>(store: &Store, writes: impl IntoIterator<Item = W>) {
    let mut writes = writes.into_iter().peekable();
    while writes.peek().is_some() {
        keep(store, Change::default().with_all(writes.by_ref().take(COMMITTED_TOGETHER))).await;
    }
}
