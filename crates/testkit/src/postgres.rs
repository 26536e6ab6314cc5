//! PostgreSQL for tests: private clusters, run by the server's own programs and thrown away with all that is in them.
//!
//! A cluster is a directory, and whatever process works in that directory. Nothing here stops, changes or removes anything else.

mod host;
#[cfg(test)]
mod tests;
mod watchdog;

use std::{
    fs::{self, DirBuilder, File},
    io::{Read, Write},
    net::TcpListener,
    os::unix::{fs::DirBuilderExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use host::Host;
use watchdog::Watchdog;

/// Longer than anything takes that works on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Below the ports that systems hand out, so that nobody is given a cluster's port while it is stopped.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
/// Another process may take a port between our look and the server's start.
const PORTS_TRIED: u32 = 8;
/// How much of the server's log a failure shows.
const LOG_LINES: usize = 40;
/// The one role, which may do everything.
const ROLE: &str = "lunas";
/// What every cluster starts from; a setting given to it comes later and wins.
const SETTINGS: [(&str, &str); 5] = [
    ("listen_addresses", "127.0.0.1"),
    ("max_connections", "300"),
    ("shared_buffers", "64MB"),
    // A killed server leaves its files to the system, which still has them; only a power cut would lose them.
    ("fsync", "off"),
    // In the directory, where a killed server's memory is removed with everything else.
    ("dynamic_shared_memory_type", "mmap"),
];

/// How a server is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopMode {
    /// Clients are disconnected, transactions undone, everything written out.
    Fast,
    /// Nothing is written out; the next start recovers from the log.
    Immediate,
}

/// A PostgreSQL server with a directory, a port and a password of its own. It is removed with this value, or with the process.
pub struct Cluster {
    directory: PathBuf,
    port: u16,
    password: String,
    /// The postmaster, while there is one.
    server: Mutex<Option<Child>>,
    watchdog: Watchdog,
}

impl Cluster {
    /// The cluster that all tests of a process share, started when first wanted.
    pub fn shared() -> &'static Cluster {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(|| Cluster::start(&[]))
    }

    /// A new and empty cluster, with these lines in its `postgresql.conf`.
    pub fn start(settings: &[(&str, &str)]) -> Cluster {
        let cluster = Cluster::prepare(hex(&random::<16>()), free_port());
        let password_file = cluster.directory.join("password");
        fs::write(&password_file, &cluster.password).unwrap();
        Host::get().own(&password_file);
        // Not every system has the first of these; both order text by its bytes.
        let made = cluster.initialise(&password_file, "C.UTF-8").or_else(|_| cluster.initialise(&password_file, "C"));
        made.unwrap_or_else(|error| panic!("initdb failed: {error}"));
        fs::remove_file(&password_file).unwrap();
        cluster.configure(&SETTINGS);
        cluster.configure(settings);
        cluster.first_start()
    }

    /// A copy of this cluster that follows it by streaming, once it does so; `name` is its `application_name` there.
    pub fn standby_of(&self, name: &str, settings: &[(&str, &str)]) -> Cluster {
        self.standby_at(free_port(), name, settings)
    }

    /// The same in the place of this cluster, which is removed: whoever knows its address finds the copy there.
    pub fn replaced_by_standby_of(self, primary: &Cluster, name: &str, settings: &[(&str, &str)]) -> Cluster {
        let port = self.port;
        drop(self);
        let standby = primary.standby_at(port, name, settings);
        assert_eq!(standby.port, port, "somebody else has taken the port meanwhile");
        standby
    }

    fn standby_at(&self, port: u16, name: &str, settings: &[(&str, &str)]) -> Cluster {
        let standby = Cluster::prepare(self.password.clone(), port);
        let mut backup = self.tool("pg_basebackup", &standby.directory);
        backup.env("PGHOST", "127.0.0.1").env("PGAPPNAME", name);
        backup.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--pgdata"]).arg(standby.data());
        finish(backup, "").unwrap_or_else(|error| panic!("pg_basebackup failed: {error}\n{}", self.log_tail()));
        standby.configure(&[("hot_standby", "on")]);
        standby.configure(settings);
        let standby = standby.first_start();
        let streams = "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'";
        standby.wait_until("follows its primary", || {
            self.run("postgres", streams).is_ok_and(|names| names.lines().any(|known| known == name))
        });
        standby
    }

    /// The directory and what will remove it; a panic from here on leaves nothing behind.
    fn prepare(password: String, port: u16) -> Cluster {
        let host = Host::get();
        // Processes are known by their working directory, which the system tells without symbolic links.
        let temporary = std::env::temp_dir().canonicalize().unwrap();
        let directory = temporary.join(format!("lunas-postgres-{}", hex(&random::<8>())));
        DirBuilder::new().mode(0o700).create(&directory).unwrap();
        host.own(&directory);
        let watchdog = Watchdog::start(&directory);
        Cluster { directory, port, password, server: Mutex::default(), watchdog }
    }

    fn initialise(&self, password_file: &Path, locale: &str) -> Result<String, String> {
        let mut initdb = self.tool("initdb", &self.directory);
        initdb.args(["--auth=scram-sha-256", "--encoding=UTF8", "--no-sync", "--username", ROLE]);
        initdb.arg(format!("--locale={locale}")).arg("--pwfile").arg(password_file).arg("--pgdata").arg(self.data());
        finish(initdb, "")
    }

    /// Adds to `postgresql.conf`, where the last word counts.
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

    /// Starts the server and waits until it takes connections; false when it ends instead.
    fn launch(&self) -> bool {
        let mut server = self.lock();
        assert!(server.is_none(), "the server runs already");
        let log = File::options().create(true).append(true).open(self.log()).unwrap();
        let mut command = Host::get().command(Host::get().program("postgres"), &self.directory);
        // Not in the file, as a standby has a copy of its primary's.
        command.arg("-D").arg(self.data()).arg("-k").arg(&self.directory).args(["-p", &self.port.to_string()]);
        command.stdout(log.try_clone().unwrap()).stderr(log).process_group(0);
        let child = server.insert(command.spawn().unwrap());
        let mut ended = false;
        self.wait_until("takes connections", || {
            ended = child.try_wait().unwrap().is_some();
            ended || self.is_ready()
        });
        if ended {
            *server = None;
        }
        !ended
    }

    fn is_ready(&self) -> bool {
        finish(self.tool("pg_isready", &self.directory), "").is_ok()
    }
}

/// Databases.
impl Cluster {
    /// Where a client finds a database.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{ROLE}:{}@127.0.0.1:{}/{database}", self.password, self.port)
    }

    /// A new and empty database; answers its URL.
    pub fn fresh_database(&self) -> String {
        self.create_database("")
    }

    /// A new copy of a database, given by name or URL, that nobody is connected to; answers its URL.
    pub fn fresh_database_like(&self, template: &str) -> String {
        self.create_database(&format!(" TEMPLATE {}", quoted(name_of(template))))
    }

    fn create_database(&self, rest: &str) -> String {
        // Of the process and not of the cluster, as a standby has its primary's databases.
        static MADE: AtomicU64 = AtomicU64::new(1);
        let name = format!("fresh_{}", MADE.fetch_add(1, Ordering::Relaxed));
        self.administer(&format!("CREATE DATABASE {name}{rest}"));
        self.url(&name)
    }

    /// Removes a database, given by name or URL, whoever is connected to it.
    pub fn drop_database(&self, url_or_name: &str) {
        self.administer(&format!("DROP DATABASE {} WITH (FORCE)", quoted(name_of(url_or_name))));
    }

    fn administer(&self, sql: &str) {
        self.run("postgres", sql).unwrap_or_else(|error| panic!("{sql}: {error}\n{}", self.log_tail()));
    }

    /// Runs SQL in a database, given by name or URL: answers what psql prints, or its complaint.
    pub fn run(&self, database: &str, sql: &str) -> Result<String, String> {
        let mut psql = self.tool("psql", &self.directory);
        psql.env("PGDATABASE", name_of(database)).args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-"]);
        finish(psql, sql)
    }
}

/// Faults, for a cluster of a test's own.
impl Cluster {
    /// Stops the server, a paused one too, and waits until it is gone.
    pub fn stop(&self, mode: StopMode) {
        let signal = match mode {
            StopMode::Fast => "INT",
            StopMode::Immediate => "QUIT",
        };
        send(signal, &[self.postmaster()]);
        send("CONT", &self.processes());
        self.await_end();
    }

    /// Kills every process of the server, as a crash would: nothing is finished, nobody is told.
    pub fn kill(&self) {
        // The postmaster first, so that it cannot start another.
        send("KILL", &[self.postmaster()]);
        send("KILL", &self.processes());
        self.await_end();
    }

    /// Starts a server that was stopped or killed, on the same port and data.
    pub fn start_again(&self) {
        assert!(self.launch(), "PostgreSQL does not start again:\n{}", self.log_tail());
    }

    /// Makes the server hang: connections stay open and nothing is answered, until [`Cluster::resume`].
    pub fn pause(&self) {
        // The postmaster first, so that it cannot start another.
        let postmaster = self.postmaster();
        send("STOP", &[postmaster]);
        self.wait_until("stands still", || is_paused(postmaster));
        send("STOP", &self.processes());
        self.wait_until("stands still", || self.processes().into_iter().all(is_paused));
    }

    /// Lets a paused server go on.
    pub fn resume(&self) {
        send("CONT", &self.processes());
        self.wait_until("goes on", || !self.processes().into_iter().any(is_paused) && self.is_ready());
    }

    /// Makes a standby a server of its own, and waits until it takes writes.
    pub fn promote(&self) {
        let promoted = self.run("postgres", &format!("SELECT pg_promote(true, {})", PATIENCE.as_secs()));
        assert_eq!(promoted.as_deref(), Ok("t"), "the standby is not promoted:\n{}", self.log_tail());
    }

    /// Whether it follows another cluster.
    pub fn is_standby(&self) -> bool {
        let said = self.run("postgres", "SELECT pg_is_in_recovery()");
        said.unwrap_or_else(|error| panic!("{error}\n{}", self.log_tail())) == "t"
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where everything is: the data, the socket and the log.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn postmaster(&self) -> u32 {
        self.lock().as_ref().expect("the server runs").id()
    }

    fn await_end(&self) {
        let mut server = self.lock();
        self.wait_until("ends", || {
            let ended = server.as_mut().is_none_or(|child| child.try_wait().unwrap().is_some());
            ended && self.processes().is_empty()
        });
        *server = None;
    }

    /// The server's processes: a postmaster works in its data, and those that it starts do too.
    fn processes(&self) -> Vec<u32> {
        let data = self.data();
        let all = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        all.filter(|id: &u32| fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|path| path == data)).collect()
    }
}

impl Cluster {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.server.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
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

    /// A program of PostgreSQL's that talks to this server and works in `directory`; it is ended when it takes too long.
    fn tool(&self, name: &str, directory: &Path) -> Command {
        let mut command = Host::get().command("timeout", directory);
        command.args(["--kill-after=5", &PATIENCE.as_secs().to_string()]).arg(Host::get().program(name));
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
            thread::sleep(LOOK_AGAIN);
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.watchdog.finish();
        if let Some(mut server) = self.lock().take() {
            // The watchdog has ended it.
            let _ = server.wait();
        }
        assert!(thread::panicking() || !self.directory.exists(), "{} is still there", self.directory.display());
    }
}

/// Gives a program its input and waits for its end; answers what it printed, or what it complained of.
fn finish(mut command: Command, input: &str) -> Result<String, String> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = thread::scope(|scope| {
        // Beside reading, as a program may print before it has read everything. One that ends early has said why.
        scope.spawn(move || drop(stdin.write_all(input.as_bytes())));
        child.wait_with_output().unwrap()
    });
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("{} ({})", text(&output.stderr), output.status)),
    }
}

/// Sends a signal to processes, some of which may have ended; whoever calls waits for the effect.
fn send(signal: &str, processes: &[u32]) {
    if !processes.is_empty() {
        let numbers = processes.iter().map(u32::to_string);
        Command::new("kill").args(["-s", signal]).args(numbers).stderr(Stdio::null()).status().unwrap();
    }
}

fn is_paused(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The state comes after the name, which is in parentheses and may hold anything.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

/// The database of a URL, or the name itself.
fn name_of(url_or_name: &str) -> &str {
    match url_or_name.strip_prefix("postgres://") {
        Some(rest) => rest.split_once('/').expect("the URL names a database").1.split('?').next().unwrap_or_default(),
        None => url_or_name,
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn free_port() -> u16 {
    let candidates = (0..1_000).map(|_| PORTS.start + u16::from_be_bytes(random()) % (PORTS.end - PORTS.start));
    let mut free = candidates.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.next().expect("there is a free port")
}

fn random<const BYTES: usize>() -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    bytes
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
