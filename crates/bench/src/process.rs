//! The servers that are measured, each a process of its own.

use std::{
    fs, io,
    net::SocketAddr,
    process::Stdio,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use engine::{Engine, SecretKey, Settings, SystemClock};
use pgcluster::Cluster;
use serde::Deserialize;
use store::Store;

use crate::{database::Database, directory::Directory};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// Worker threads of every server, product and ceiling alike.
pub(crate) const WORKER_THREADS: &str = "2";
/// Warnings, but for the calls to a bank that is silent on purpose.
const LOG: &str = "warn,engine::banks::outbound=error";
const READY_WITHIN: Duration = Duration::from_secs(60);
/// How long a killed server may take to end, and how often it is looked for.
const ENDED_WITHIN: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The files of an installation: the directory of `lunas dev`, and its database.
pub(crate) struct Home {
    pub(crate) directory: Directory,
    pub(crate) database: Database,
}

impl Home {
    pub(crate) fn on_sqlite() -> io::Result<Home> {
        let directory = Directory::new()?;
        let database = Database::sqlite_in(directory.path());
        Ok(Home { directory, database })
    }

    /// On a new database of the cluster.
    pub(crate) fn on_postgres(cluster: &Cluster) -> io::Result<Home> {
        let database = Database::Postgres { url: cluster.fresh_database() };
        Ok(Home { directory: Directory::new()?, database })
    }

    /// The same installation for a further node: two servers never share a directory.
    pub(crate) fn for_another_node(&self) -> io::Result<Home> {
        let directory = Directory::new()?;
        for entry in fs::read_dir(self.directory.path())? {
            let entry = entry?;
            fs::copy(entry.path(), directory.path().join(entry.file_name()))?;
        }
        Ok(Home { directory, database: self.database.clone() })
    }

    /// The installation without a server, to set up what a group needs. The store is to be closed.
    pub(crate) async fn engine(&self) -> io::Result<(Store, Engine)> {
        let key = fs::read_to_string(self.directory.path().join("secret.key"))?;
        let key = SecretKey::from_base64(&key.trim().to_owned().into()).map_err(io::Error::other)?;
        let store = self.database.open().await?;
        let engine = Engine::new(store.clone(), Arc::new(SystemClock), Settings::default(), key);
        Ok((store, engine))
    }

    /// A `lunas` command for this installation; an installation of the person who measures is not used. The binary is the
    /// one that `BENCH_LUNAS` names, or the product as it was built into this one.
    pub(crate) fn lunas(&self, words: &[&str]) -> io::Result<Command> {
        let mut command = match std::env::var_os("BENCH_LUNAS") {
            Some(binary) => Command::new(binary),
            None => {
                let mut own = Command::new(std::env::current_exe()?);
                own.arg("lunas");
                own
            }
        };
        command.args(words).env_remove("LUNAS_SECRET_KEY");
        command.env("LUNAS_DATA", self.directory.path()).env("LUNAS_DATABASE", self.database.url());
        Ok(command)
    }
}

/// Who calls: a project and a key of it.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) project_id: String,
    pub(crate) api_key: String,
}

/// A running server; it ends when this is dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) ready: Ready,
    pub(crate) ready_after: Duration,
}

/// The first line that a server prints.
#[derive(Deserialize)]
pub(crate) struct Ready {
    base_url: String,
    #[serde(default)]
    pub(crate) project_id: String,
    #[serde(default)]
    pub(crate) api_key: String,
}

impl Drop for Served {
    /// Waits until the server has ended, since the next one may use the same directory.
    fn drop(&mut self) {
        let (began, _) = (Instant::now(), self.child.start_kill());
        while began.elapsed() < ENDED_WITHIN && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Served {
    /// The product on this installation, without a rate limit and with warnings logged only.
    pub(crate) async fn lunas(home: &Home) -> io::Result<Served> {
        Served::start(Served::command(home)?).await
    }

    /// The same with so many webhooks of a project in flight at most.
    pub(crate) async fn with_in_flight(home: &Home, most: u64) -> io::Result<Served> {
        let mut command = Served::command(home)?;
        command.env("LUNAS_WEBHOOK_IN_FLIGHT", most.to_string());
        Served::start(command).await
    }

    fn command(home: &Home) -> io::Result<Command> {
        let mut command = home.lunas(&["dev", "--json", "--listen", "127.0.0.1:0"])?;
        command.env("LUNAS_RATE_LIMIT", "0").env("LUNAS_LOG", LOG).env_remove("LUNAS_WEBHOOK_IN_FLIGHT");
        Ok(command)
    }

    pub(crate) async fn ceiling(words: &[&str]) -> io::Result<Served> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("ceiling").args(words);
        Served::start(command).await
    }

    /// The demo project and its key.
    pub(crate) fn caller(&self) -> Caller {
        Caller { project_id: self.ready.project_id.clone(), api_key: self.ready.api_key.clone() }
    }

    async fn start(mut command: Command) -> io::Result<Served> {
        let began = Instant::now();
        let mut child = command
            .env("TOKIO_WORKER_THREADS", WORKER_THREADS)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("a server has no standard output"))?;
        let mut line = String::new();
        let mut reader = BufReader::new(stdout);
        tokio::time::timeout(READY_WITHIN, reader.read_line(&mut line)).await??;
        let ready_after = began.elapsed();
        let ready: Ready = serde_json::from_str(&line).map_err(io::Error::other)?;
        let address = ready.base_url.trim_start_matches("http://").parse().map_err(io::Error::other)?;
        Ok(Served { child, address, ready, ready_after })
    }

    /// Resident memory in KiB.
    pub(crate) fn resident_kib(&self) -> io::Result<u64> {
        figure(&self.id()?.to_string(), "status", "VmRSS:")
    }

    /// The bytes that it has had written to disks so far. Memory file systems do not count.
    pub(crate) fn written_bytes(&self) -> io::Result<u64> {
        written_bytes(&self.id()?.to_string())
    }

    /// The processor time of all its threads so far.
    pub(crate) fn processor_time(&self) -> io::Result<Duration> {
        let figures = std::fs::read_to_string(format!("/proc/{}/stat", self.id()?))?;
        // The second field is the program's name in brackets, which may contain anything; the two fields we need are in
        // hundredths of a second.
        let figures = figures.rsplit_once(") ").map(|(_, rest)| rest).unwrap_or_default();
        let ticks = figures.split(' ').skip(11).take(2).map(str::parse::<u64>);
        let ticks: u64 = ticks.sum::<Result<_, _>>().map_err(io::Error::other)?;
        Ok(Duration::from_millis(ticks * 10))
    }

    fn id(&self) -> io::Result<u32> {
        self.child.id().ok_or_else(|| io::Error::other("the server has ended"))
    }

    /// Kills the server and waits for its end.
    pub(crate) async fn end(mut self) -> io::Result<()> {
        self.child.kill().await
    }
}

/// The bytes that a process, or `self`, has had written to disks so far.
pub(crate) fn written_bytes(process: &str) -> io::Result<u64> {
    figure(process, "io", "write_bytes:")
}

/// A number that the system reports about a process.
fn figure(process: &str, file: &str, name: &str) -> io::Result<u64> {
    let figures = std::fs::read_to_string(format!("/proc/{process}/{file}"))?;
    let line = figures.lines().find_map(|line| line.strip_prefix(name));
    let digits = line.and_then(|line| line.split_whitespace().next()).and_then(|digits| digits.parse().ok());
    digits.ok_or_else(|| io::Error::other(format!("the system does not report {name}")))
}
