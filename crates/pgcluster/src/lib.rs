//! Starts, stops and throws away private PostgreSQL clusters for tests.
//!
//! A cluster is a directory and the processes that work in it. This crate never stops, changes or removes anything else.

mod databases;
mod directory;
mod faults;
mod host;
mod initdb;
mod sessions;
mod shared;
#[cfg(test)]
mod tests;
mod watchdog;

use std::{
    fs::{self, File},
    io::Write,
    net::TcpListener,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    thread,
    time::Instant,
};

pub use databases::ScratchDatabase;
use directory::new_directory;
pub use faults::StopMode;
use host::Host;
use initdb::Initialised;
use sessions::Sessions;
use shared::{PATIENCE, POLL_INTERVAL, ROLE, finish, random};
use watchdog::Watchdog;

/// Below the ports that the system hands out by itself, so that it gives nobody the port of a cluster that is stopped.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
/// Another process may take a port after we saw that it is free and before the server binds it.
const PORTS_TRIED: u32 = 8;
/// How many lines of the server's log a failure shows.
const LOG_LINES: usize = 40;
/// Every cluster has these settings; those that its creator gives come later in the file and win.
const SETTINGS: [(&str, &str); 5] = [
    ("listen_addresses", "127.0.0.1"),
    ("max_connections", "300"),
    ("shared_buffers", "64MB"),
    // A killed server's writes are in the system's page cache already; only a power cut would lose them.
    ("fsync", "off"),
    // Keeps shared memory in the directory, so that it is removed with everything else after the server was killed.
    ("dynamic_shared_memory_type", "mmap"),
];
/// What the shared cluster has besides. Nobody kills it, so it need not recover from anything, and its databases live for a
/// second or so, so that there is nothing to vacuum. A small cache makes it quick to drop a database, as the server looks
/// through all of the cache then. A login by SCRAM takes three times as long as one by MD5; on clusters that tests have for
/// themselves, logins are by SCRAM, as they are on servers of people.
const SHARED_SETTINGS: [(&str, &str); 4] =
    [("full_page_writes", "off"), ("autovacuum", "off"), ("shared_buffers", "32MB"), ("password_encryption", "md5")];

/// A PostgreSQL server with a directory and a port of its own. Both are gone with this value, or with the process.
pub struct Cluster {
    directory: PathBuf,
    port: u16,
    password: String,
    /// The postmaster, while it runs.
    server: Mutex<Option<Child>>,
    sessions: Sessions,
    watchdog: Watchdog,
}

impl Cluster {
    /// The cluster that all tests of a process share; the first caller starts it.
    pub fn shared() -> &'static Cluster {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(|| {
            let cluster = Cluster::start(&SHARED_SETTINGS);
            // Stores the password as the cluster is told to store passwords.
            cluster.administer(&format!("ALTER ROLE {ROLE} PASSWORD '{}'", cluster.password));
            cluster
        })
    }

    /// A new and empty cluster, with these settings in its `postgresql.conf`.
    pub fn start(settings: &[(&str, &str)]) -> Cluster {
        let initialised = Initialised::get();
        let cluster = Cluster::prepare(initialised.password().to_owned(), free_port());
        initialised.copy_to(&cluster.directory);
        cluster.configure(&SETTINGS);
        cluster.configure(settings);
        cluster.first_start()
    }

    /// A standby of this cluster, once it streams from it; `name` is the standby's `application_name`.
    pub fn standby_of(&self, name: &str, settings: &[(&str, &str)]) -> Cluster {
        self.standby_at(free_port(), name, settings)
    }

    /// Removes this cluster and starts a standby of `primary` on its port, so that clients find the standby at the old address.
    pub fn replaced_by_standby_of(self, primary: &Cluster, name: &str, settings: &[(&str, &str)]) -> Cluster {
        let port = self.port;
        drop(self);
        let standby = primary.standby_at(port, name, settings);
        assert_eq!(standby.port, port, "another process has taken the port meanwhile");
        standby
    }

    fn standby_at(&self, port: u16, name: &str, settings: &[(&str, &str)]) -> Cluster {
        let standby = Cluster::prepare(self.password.clone(), port);
        let mut backup = self.tool("pg_basebackup");
        backup.current_dir(&standby.directory).env("PGHOST", "127.0.0.1").env("PGAPPNAME", name);
        backup.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--pgdata"]).arg(standby.data());
        finish(backup, "").unwrap_or_else(|error| panic!("pg_basebackup failed: {error}\n{}", self.log_tail()));
        standby.configure(&[("hot_standby", "on")]);
        standby.configure(settings);
        let standby = standby.first_start();
        let streams = "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'";
        standby.wait_until("streams from its primary", || {
            self.run("postgres", streams).is_ok_and(|names| names.lines().any(|known| known == name))
        });
        standby
    }

    /// Creates the directory, and first of all the watchdog that will remove it: a panic from here on leaves nothing behind.
    fn prepare(password: String, port: u16) -> Cluster {
        let (directory, watchdog) = new_directory();
        Cluster { directory, port, password, server: Mutex::default(), sessions: Sessions::default(), watchdog }
    }

    /// Appends to `postgresql.conf`, where the last line for a setting counts.
    fn configure(&self, settings: &[(&str, &str)]) {
        let mut file = File::options().append(true).open(self.data().join("postgresql.conf")).unwrap();
        for (name, value) in settings {
            writeln!(file, "{name} = '{}'", value.replace('\\', r"\\").replace('\'', "''")).unwrap();
        }
    }

    fn first_start(mut self) -> Cluster {
        let mut tried = 1;
        while !self.launch() {
            let taken = self.log_tail().contains("could not bind");
            assert!(taken && tried < PORTS_TRIED, "PostgreSQL does not start:\n{}", self.log_tail());
            self.port = free_port();
            tried += 1;
        }
        self
    }

    /// Starts the server and waits until it accepts connections; false if it exits instead.
    fn launch(&self) -> bool {
        let mut server = self.lock();
        assert!(server.is_none(), "the server runs already");
        let log = File::options().create(true).append(true).open(self.log()).unwrap();
        let mut command = Host::get().command(Host::get().program("postgres"), &self.directory);
        // As arguments and not in the file, because a standby has a copy of its primary's file.
        command.arg("-D").arg(self.data()).arg("-k").arg(&self.directory).args(["-p", &self.port.to_string()]);
        command.stdout(log.try_clone().unwrap()).stderr(log).process_group(0);
        let child = server.insert(command.spawn().unwrap());
        let mut exited = false;
        self.wait_until("accepts connections", || {
            exited = child.try_wait().unwrap().is_some();
            exited || self.is_ready(child.id())
        });
        if exited {
            *server = None;
        }
        !exited
    }

    /// Whether this postmaster says in its lock file that it accepts connections. A killed server leaves its lock file, so the
    /// process id in it must be the right one.
    fn is_ready(&self, postmaster: u32) -> bool {
        let lock_file = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        let mut lines = lock_file.lines().map(str::trim);
        lines.next() == Some(&postmaster.to_string()) && lines.nth(6) == Some("ready")
    }
}

/// Its parts.
impl Cluster {
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where the data, the socket and the log are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn lock(&self) -> MutexGuard<'_, Option<Child>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    fn log(&self) -> PathBuf {
        self.directory.join("server.log")
    }

    fn log_tail(&self) -> String {
        let log = fs::read(self.log()).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
    }

    /// One of PostgreSQL's client programs, pointed at this server.
    fn tool(&self, name: &str) -> Command {
        let mut command = Host::get().tool(name, &self.directory);
        command.env("PGHOST", &self.directory).env("PGPORT", self.port.to_string()).env("PGCONNECT_TIMEOUT", "10");
        command.env("PGUSER", ROLE).env("PGPASSWORD", &self.password);
        command
    }

    #[track_caller]
    fn wait_until(&self, what: &str, mut condition: impl FnMut() -> bool) {
        let started = Instant::now();
        while !condition() {
            let waited = started.elapsed();
            assert!(waited < PATIENCE, "no sign after {waited:?} that PostgreSQL {what}:\n{}", self.log_tail());
            thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.watchdog.finish();
        if let Some(mut server) = self.lock().take() {
            // The watchdog has ended it; this only collects its exit status.
            let _ = server.wait();
        }
        assert!(thread::panicking() || !self.directory.exists(), "{} is still there", self.directory.display());
    }
}

fn free_port() -> u16 {
    let candidates = (0..1_000).map(|_| PORTS.start + u16::from_be_bytes(random()) % (PORTS.end - PORTS.start));
    let mut free = candidates.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.next().expect("there is a free port")
}
