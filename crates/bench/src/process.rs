//! Servers under measurement, each a process of its own.

use std::{
    io,
    net::SocketAddr,
    process::Stdio,
    time::{Duration, Instant},
};

use serde::Deserialize;
use tempfile::TempDir;
use testkit::{Cluster, Database};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// Worker threads of every server, product and ceiling alike.
pub(crate) const WORKER_THREADS: &str = "2";
/// Webhooks of one project on their way at once: as by default, and as many as there are connections elsewhere.
const IN_FLIGHT: &str = "4";
const IN_FLIGHT_LIFTED: &str = "64";
const READY_WITHIN: Duration = Duration::from_secs(60);

/// Where an installation keeps everything: the directory of `lunas dev`, and its database.
pub(crate) struct Home {
    pub(crate) directory: TempDir,
    pub(crate) database: Database,
}

impl Home {
    pub(crate) fn on_sqlite() -> io::Result<Home> {
        let directory = tempfile::tempdir()?;
        let database = Database::sqlite_in(directory.path());
        Ok(Home { directory, database })
    }

    /// On a new database of the cluster.
    pub(crate) fn on_postgres(cluster: &Cluster) -> io::Result<Home> {
        let database = Database::Postgres { url: cluster.fresh_database() };
        Ok(Home { directory: tempfile::tempdir()?, database })
    }

    /// A `lunas` command that sees this installation, and none that whoever measures may have.
    pub(crate) fn lunas(&self, words: &[&str]) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("lunas").args(words).env_remove("LUNAS_SECRET_KEY");
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

/// What a server says on its first line.
#[derive(Deserialize)]
pub(crate) struct Ready {
    base_url: String,
    #[serde(default)]
    pub(crate) project_id: String,
    #[serde(default)]
    pub(crate) api_key: String,
}

impl Served {
    /// The product at home there, without limits and with its log at warnings. Several at one home are nodes of it.
    pub(crate) async fn lunas(home: &Home) -> io::Result<Served> {
        Served::dev(home, IN_FLIGHT).await
    }

    /// The same, with one project's limit on webhooks lifted.
    pub(crate) async fn lunas_sending_freely(home: &Home) -> io::Result<Served> {
        Served::dev(home, IN_FLIGHT_LIFTED).await
    }

    async fn dev(home: &Home, webhooks_in_flight: &str) -> io::Result<Served> {
        let mut command = home.lunas(&["dev", "--json", "--listen", "127.0.0.1:0"])?;
        command
            .env("LUNAS_RATE_LIMIT", "0")
            .env("LUNAS_WEBHOOK_IN_FLIGHT", webhooks_in_flight)
            .env("LUNAS_LOG", "warn");
        Served::start(command).await
    }

    pub(crate) async fn ceiling(words: &[&str]) -> io::Result<Served> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("ceiling").args(words);
        Served::start(command).await
    }

    /// The one who owns the demo project.
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
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()?))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let digits = line.and_then(|line| line.split_whitespace().next()).and_then(|digits| digits.parse().ok());
        digits.ok_or_else(|| io::Error::other("no resident size is known"))
    }

    /// How long its threads have had a core until now.
    pub(crate) fn processor_time(&self) -> io::Result<Duration> {
        let figures = std::fs::read_to_string(format!("/proc/{}/stat", self.id()?))?;
        // The second is the program's name in brackets, which may hold anything; the two wanted are in hundredths of a second.
        let figures = figures.rsplit_once(") ").map(|(_, rest)| rest).unwrap_or_default();
        let ticks = figures.split(' ').skip(11).take(2).map(str::parse::<u64>);
        let ticks: u64 = ticks.sum::<Result<_, _>>().map_err(io::Error::other)?;
        Ok(Duration::from_millis(ticks * 10))
    }

    fn id(&self) -> io::Result<u32> {
        self.child.id().ok_or_else(|| io::Error::other("the server has ended"))
    }

    /// Ends it at once and waits for it.
    pub(crate) async fn end(mut self) -> io::Result<()> {
        self.child.kill().await
    }
}
