//! The real binary as a process, with a directory of its own.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::Api;

/// Longer than a start or a stop takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// How much of its log a process shows when its test fails.
const SHOWN_LINES: usize = 40;

/// The binary, and the directory in which it runs and stores everything.
pub struct Program {
    binary: PathBuf,
    pub directory: TempDir,
}

/// The result of a command.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Program {
    pub fn new(binary: &str) -> Program {
        Program { binary: PathBuf::from(binary), directory: tempfile::tempdir().unwrap() }
    }

    /// The data folder of `lunas dev`.
    pub fn data(&self) -> PathBuf {
        self.directory.path().join("lunas-data")
    }

    /// The database of `lunas dev`, as `--database` takes it.
    pub fn database(&self) -> String {
        format!("sqlite:{}", self.data().join("lunas.db").display())
    }

    /// A command without the environment and the configuration file of the person who runs the tests.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).current_dir(self.directory.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LUNAS_")) {
            command.env_remove(name);
        }
        command.env("LUNAS_CONFIG", "/dev/null");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs a command that must succeed and print one line of JSON.
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        self.run(arguments).json(0)
    }

    /// `lunas dev` on a free port, once it is ready.
    pub fn dev(&self) -> Running {
        self.dev_with(&[])
    }

    pub fn dev_with(&self, arguments: &[&str]) -> Running {
        let usual = ["dev", "--json", "--listen", "127.0.0.1:0", "--data"];
        let data = self.data();
        let mut command = self.command(&usual);
        command.arg(data).args(arguments).env("LUNAS_RATE_LIMIT", "0");
        Running::start(command, self.directory.path())
    }
}

/// `lunas serve` on a database of its own, with everything that it requires.
impl Program {
    /// The database that `lunas serve` works on, as `--database` takes it.
    pub fn served_database(&self) -> String {
        format!("sqlite:{}", self.directory.path().join("served.db").display())
    }

    /// A command with the settings of a real installation.
    pub fn served(&self, arguments: &[&str], secret_key: &str) -> Command {
        let mut command = self.command(arguments);
        command
            .env("LUNAS_DATABASE", self.served_database())
            .env("LUNAS_SECRET_KEY", secret_key)
            .env("LUNAS_LISTEN", "127.0.0.1:0")
            .env("LUNAS_BASE_URL", "https://api.lunas.test")
            .env("LUNAS_CHECKOUT_URL_BASE", "https://pay.lunas.test");
        command
    }

    pub fn serve(&self, secret_key: &str) -> Running {
        Running::start(self.served(&["serve", "--json"], secret_key), self.directory.path())
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// The one line of JSON on standard output, after checking the exit status.
    #[track_caller]
    pub fn json(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "{self:?}");
        assert_eq!(self.stdout.lines().count(), 1, "JSON is one line: {self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Checks that the command failed with nothing on standard output; returns its lines on standard error.
    #[track_caller]
    pub fn failed(&self, code: i32) -> Vec<&str> {
        assert_eq!((self.code, self.stdout.as_str()), (code, ""), "{self:?}");
        let lines: Vec<&str> = self.stderr.lines().collect();
        assert!(!lines.is_empty(), "a failure says why");
        lines
    }
}

/// A process that runs until it is stopped, such as a server. It is killed when this value is dropped.
pub struct Running {
    child: Child,
    lines: mpsc::Receiver<String>,
    log: PathBuf,
    /// What it printed when it was ready.
    pub ready: Value,
    started_at: u64,
}

impl Running {
    /// Starts a program that prints one line of JSON when it is ready. Its log goes to a file in `directory`.
    pub fn start(mut command: Command, directory: &Path) -> Running {
        let log = directory.join("server.log");
        let file = File::options().create(true).append(true).open(&log).unwrap();
        let started_at = file.metadata().unwrap().len();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::from(file)).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        // Reads to the end even when the test has stopped listening, so that the program can always print.
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let line = lines.recv_timeout(PATIENCE).unwrap_or_else(|error| {
            let _ = child.kill();
            panic!("{error}: {}", fs::read_to_string(&log).unwrap())
        });
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| {
            let _ = child.kill();
            panic!("{error} in `{line}`: {}", fs::read_to_string(&log).unwrap())
        });
        Running { child, lines, log, ready, started_at }
    }

    /// A member of the ready line.
    #[track_caller]
    pub fn said(&self, member: &str) -> &str {
        self.ready[member].as_str().unwrap_or_else(|| panic!("no `{member}` in {}", self.ready))
    }

    /// The next line of JSON that it prints.
    #[track_caller]
    pub fn next_line(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|error| panic!("no further line ({error}): {}", self.log()));
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in `{line}`"))
    }

    /// Where it listens. `lunas serve` prints that; `lunas dev` prints its base URL.
    pub fn address(&self) -> SocketAddr {
        let said = self.ready["listen"].as_str().unwrap_or_else(|| self.said("base_url"));
        said.trim_start_matches("http://").parse().unwrap()
    }

    /// Calls the API with the demo key.
    pub fn api(&self) -> Api {
        Api::new(self.address(), Some(self.said("api_key")))
    }

    /// The id of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        let mut text = String::new();
        let mut file = File::open(&self.log).unwrap();
        file.read_to_string(&mut text).unwrap();
        text.split_off(usize::try_from(self.started_at).unwrap())
    }

    /// Kills it as a crash would: nothing is finished, nothing is flushed.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal by name, such as `TERM`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.id().to_string()).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for the process to end; returns its exit code, or `None` when a signal ended it.
    pub fn ended(&mut self) -> Option<i32> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(started.elapsed() < PATIENCE, "the server does not end: {}", self.log());
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// Asks it to stop and waits until it has.
    pub fn terminate(mut self) -> Option<i32> {
        self.signal("TERM");
        self.ended()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if thread::panicking() {
            self.show_log();
        }
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// Says whether it still runs, and what it has logged last. It must not panic, as its test does already.
    fn show_log(&mut self) {
        let ended = self.child.try_wait().ok().flatten();
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n");
        println!("process {}, ended: {ended:?}, the end of {}:\n{last}", self.id(), self.log.display());
    }
}
