//! A database in which nobody else can write for a while, so that a commit waits for as long as a test wants.

use std::{thread::JoinHandle, time::Duration};

use testkit::{Cluster, Database};

use super::wait::until;

/// Keeps everybody from writing: to SQLite at all, on PostgreSQL to one table.
pub(crate) enum HeldWrites {
    Sqlite(rusqlite::Connection),
    Postgres { url: String, session: JoinHandle<()> },
}

impl HeldWrites {
    pub(crate) async fn of(database: &Database, table: &str) -> HeldWrites {
        match database {
            Database::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path).unwrap();
                connection.busy_timeout(Duration::from_secs(10)).unwrap();
                connection.execute_batch("BEGIN IMMEDIATE").unwrap();
                HeldWrites::Sqlite(connection)
            }
            Database::Postgres { url } => HeldWrites::locked(url, table, ("SHARE", "ShareLock")).await,
        }
    }

    /// The same on PostgreSQL, and nobody can read the table either.
    pub(crate) async fn and_reads_of(url: &str, table: &str) -> HeldWrites {
        HeldWrites::locked(url, table, ("ACCESS EXCLUSIVE", "AccessExclusiveLock")).await
    }

    /// Locks a table in a mode, by its names in statements and among the locks.
    async fn locked(url: &str, table: &str, (mode, lock): (&str, &str)) -> HeldWrites {
        let locking = format!("BEGIN; LOCK TABLE {table} IN {mode} MODE; SELECT 'held', pg_sleep(600)");
        let held = url.to_owned();
        let session = std::thread::spawn(move || {
            Cluster::shared().run(&held, &locking).unwrap_err();
        });
        let is_held = format!(
            "SELECT COUNT(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation \
             WHERE c.relname = '{table}' AND l.mode = '{lock}' AND l.granted \
             AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        );
        let counted = || Cluster::shared().run(url, &is_held).unwrap();
        until(async || tokio::task::block_in_place(counted).trim() == "1").await;
        HeldWrites::Postgres { url: url.to_owned(), session }
    }

    /// Lets everybody write again. What waits is committed.
    pub(crate) fn end(self) {
        match self {
            HeldWrites::Sqlite(connection) => connection.execute_batch("ROLLBACK").unwrap(),
            HeldWrites::Postgres { url, session } => {
                terminate(&url, "query LIKE '%''held''%'");
                tokio::task::block_in_place(|| session.join().unwrap());
            }
        }
    }

    /// The same once the process that waits has been killed: PostgreSQL would still commit what that process has sent.
    pub(crate) fn end_of_the_dead(self) {
        if let HeldWrites::Postgres { url, .. } = &self {
            terminate(url, "query NOT LIKE '%''held''%'");
        }
        self.end();
    }
}

/// Ends the other sessions in this database.
fn terminate(url: &str, which: &str) {
    let end = format!(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE {which} \
         AND datname = current_database() AND pid <> pg_backend_pid()"
    );
    tokio::task::block_in_place(|| Cluster::shared().run(url, &end)).unwrap();
}
