//! The databases of a cluster: creating, copying and dropping them, and running SQL in them.

use std::{
    fs,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio_postgres::Config;

use crate::{
    Cluster,
    sessions::{Pending, Sessions},
    shared::{ROLE, finish},
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Administrative statements run here, so that no other database is in use because of them.
const ADMINISTRATION: &str = "postgres";
/// The first version that offers ways to copy a database. Older ones copy the files, which takes a third of the time that
/// newer ones take by default.
const OFFERS_STRATEGIES: u32 = 15;

/// A database of the shared cluster, dropped with this value whether clients are connected to it or not.
pub struct ScratchDatabase {
    url: String,
}

impl ScratchDatabase {
    pub fn empty() -> ScratchDatabase {
        ScratchDatabase { url: Cluster::shared().fresh_database() }
    }

    /// A copy of a database of the shared cluster, given by name or URL, that no client is connected to.
    pub fn copy_of(template: &str) -> ScratchDatabase {
        ScratchDatabase { url: Cluster::shared().fresh_database_like(template) }
    }

    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for ScratchDatabase {
    fn drop(&mut self) {
        // No test waits for this: the name is never used again, and a database that is left goes with the cluster.
        drop(Cluster::shared().start_to_drop(&self.url));
    }
}

impl Cluster {
    /// Where a client finds a database.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{ROLE}:{}@127.0.0.1:{}/{database}", self.password, self.port)
    }

    /// Creates an empty database and returns its URL.
    pub fn fresh_database(&self) -> String {
        self.create_database("template1")
    }

    /// Copies a database, given by name or URL, that no client is connected to; returns the URL of the copy.
    pub fn fresh_database_like(&self, template: &str) -> String {
        self.create_database(name_of(template))
    }

    fn create_database(&self, template: &str) -> String {
        // One count for all clusters of the process, because a standby has its primary's databases.
        static CREATED: AtomicU64 = AtomicU64::new(1);
        let name = format!("fresh_{}", CREATED.fetch_add(1, Ordering::Relaxed));
        let strategy = if self.version() >= OFFERS_STRATEGIES { " STRATEGY = FILE_COPY" } else { "" };
        self.administer(&format!("CREATE DATABASE {name} TEMPLATE {}{strategy}", quoted(template)));
        self.url(&name)
    }

    /// Drops a database, given by name or URL, and disconnects its clients first.
    pub fn drop_database(&self, url_or_name: &str) {
        self.checked(self.start_to_drop(url_or_name), "DROP DATABASE");
    }

    fn start_to_drop(&self, url_or_name: &str) -> Pending {
        self.start_to_administer(format!("DROP DATABASE {} WITH (FORCE)", quoted(name_of(url_or_name))))
    }

    pub(crate) fn administer(&self, sql: &str) {
        self.checked(self.start_to_administer(sql.to_owned()), sql);
    }

    fn start_to_administer(&self, sql: String) -> Pending {
        self.sessions.administer(self.config(ADMINISTRATION), sql)
    }

    fn checked(&self, pending: Pending, what: &str) {
        pending.wait().unwrap_or_else(|error| panic!("{what}: {error}\n{}", self.log_tail()));
    }

    /// Runs SQL in a database, given by name or URL. Several statements are one transaction, unless they say otherwise. Returns
    /// one line per row, its columns separated by `|`, or the server's error.
    pub fn run(&self, database: &str, sql: &str) -> Result<String, String> {
        Sessions::run(self.config(name_of(database)), sql.to_owned()).wait()
    }

    /// Runs a script of psql, which may contain data for COPY, in a database given by name or URL. Returns what psql prints, or
    /// its error.
    pub fn run_script(&self, database: &str, script: &str) -> Result<String, String> {
        let arguments = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-"];
        self.run_program("psql", database, &arguments, script)
    }

    /// Runs another of PostgreSQL's programs, such as pgbench, on a database given by name or URL, over the network as clients
    /// do. Returns what it prints, or its error.
    pub fn run_program(&self, name: &str, database: &str, arguments: &[&str], input: &str) -> Result<String, String> {
        let mut program = self.tool(name);
        program.env("PGHOST", "127.0.0.1").env("PGDATABASE", name_of(database)).args(arguments);
        finish(program, input)
    }

    fn config(&self, database: &str) -> Config {
        let mut config = Config::new();
        config.host_path(self.directory()).port(self.port()).dbname(database).user(ROLE).password(&self.password);
        config.connect_timeout(CONNECT_TIMEOUT).application_name("pgcluster");
        config
    }

    /// The server's major version.
    fn version(&self) -> u32 {
        let version = fs::read_to_string(self.data().join("PG_VERSION")).unwrap();
        version.trim().parse().expect("since version 10 it is one number")
    }
}

/// The database of a URL, or the name itself.
pub(crate) fn name_of(url_or_name: &str) -> &str {
    match url_or_name.strip_prefix("postgres://") {
        Some(rest) => rest.split_once('/').expect("the URL names a database").1.split('?').next().unwrap_or_default(),
        None => url_or_name,
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
