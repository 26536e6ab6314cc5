//! The chromedriver that all browsers of a process share, with a directory of its own. A watchdog kills every process that works in
//! that directory once the test process has ended, even by `kill -9`, and removes the directory. It touches nothing else.

use std::{
    env,
    fs::{self, DirBuilder, File},
    io::Read,
    os::unix::{fs::DirBuilderExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::fonts;

/// Longer than chromedriver takes to start on a busy machine.
const START_PATIENCE: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// What chromedriver prints before its port.
const STARTED: &str = "started successfully on port ";
/// Chromium without its own windows, menus and side panels: the same pages for two thirds of the work. Where it is not installed,
/// the tests open the whole of Chromium.
const SHELL: &str = "chromium-headless-shell";
/// The beginning of the directory's name, in the temporary directory.
const PREFIX: &str = "lunas-browser-";

/// The watchdog waits until its standard input ends, which happens even when the test process is killed. Then it kills all
/// processes whose working directory is `$1` or below until none is left: browsers have nothing to save.
const WATCHDOG: &str = r#"
trap '' HUP INT TERM
read -r _
looks=0
while [ $looks -lt 200 ]; do
    left=
    for process in /proc/[0-9]*; do
        case $(readlink "$process/cwd") in "$1" | "$1/"* | "$1 (deleted)") left="$left ${process#/proc/}" ;; esac
    done
    if [ -z "$left" ]; then break; fi
    kill -s KILL $left
    looks=$((looks + 1))
    sleep 0.05
done
rm -rf -- "$1"
"#;

/// A running chromedriver, and the directory of its browsers.
pub(super) struct Driver {
    port: u16,
    browser: PathBuf,
    directory: PathBuf,
    /// Its standard input stays open as long as this process lives.
    _watchdog: Child,
}

impl Driver {
    /// The chromedriver of this process, started on first use. Without Chromium, tests that need it fail; none is skipped.
    pub(super) fn shared() -> &'static Driver {
        static SHARED: OnceLock<Driver> = OnceLock::new();
        SHARED.get_or_init(Driver::start)
    }

    fn start() -> Driver {
        let (browser, driver) = (installed(SHELL).unwrap_or_else(|| program("chromium")), program("chromedriver"));
        // The watchdog compares working directories, which the system reports without symbolic links.
        let temporary = env::temp_dir().canonicalize().unwrap();
        let directory = temporary.join(format!("{PREFIX}{}", random_name()));
        DirBuilder::new().mode(0o700).create(&directory).unwrap();
        let watchdog = watch(&directory);
        let log = directory.join("driver.log");
        let file = File::create(&log).unwrap();
        let mut command = Command::new(driver);
        command.arg("--port=0").current_dir(&directory).stdin(Stdio::null());
        // Chromium keeps caches and keys in its home directory; those of tests must stay in this directory.
        command.env("HOME", &directory).env_remove("XDG_CONFIG_HOME").env_remove("XDG_CACHE_HOME");
        command.env("FONTCONFIG_FILE", fonts::configure(&directory)).env_remove("FONTCONFIG_PATH");
        command.env_remove("CHROMIUM_FLAGS").env_remove("DISPLAY").env_remove("DBUS_SESSION_BUS_ADDRESS");
        // In its own process group, so that Ctrl-C reaches the tests only, and the watchdog cleans up after them.
        command.stdout(file.try_clone().unwrap()).stderr(file).process_group(0);
        let mut child = command.spawn().unwrap();
        let started = Instant::now();
        let port = loop {
            let said = fs::read_to_string(&log).unwrap_or_default();
            if let Some(port) = port_in(&said) {
                break port;
            }
            let waits = child.try_wait().unwrap().is_none() && started.elapsed() < START_PATIENCE;
            assert!(waits, "chromedriver does not start: {said}");
            thread::sleep(POLL_INTERVAL);
        };
        Driver { port, browser, directory, _watchdog: watchdog }
    }

    /// The URL that creates sessions.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/session", self.port)
    }

    /// The path of the browser's program.
    pub(super) fn browser(&self) -> &Path {
        &self.browser
    }

    /// What chromedriver calls the browser.
    pub(super) fn browser_name(&self) -> &'static str {
        if self.browser.ends_with(SHELL) { "chrome-headless-shell" } else { "chrome" }
    }

    /// A new and empty directory for one browser.
    pub(super) fn fresh_directory(&self) -> PathBuf {
        static MADE: AtomicU64 = AtomicU64::new(1);
        let directory = self.directory.join(MADE.fetch_add(1, Ordering::Relaxed).to_string());
        fs::create_dir(&directory).unwrap();
        directory
    }

    #[cfg(test)]
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }
}

/// The port in chromedriver's output, once the line is complete.
fn port_in(said: &str) -> Option<u16> {
    let (port, _) = said.split_once(STARTED)?.1.split_once('.')?;
    port.parse().ok()
}

fn watch(directory: &Path) -> Child {
    assert!(directory.is_absolute(), "the watchdog removes this directory, so its path must be exact");
    let mut command = Command::new("/bin/sh");
    command.args(["-c", WATCHDOG, "watchdog"]).arg(directory).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.process_group(0).spawn().unwrap()
}

fn installed(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|directory| directory.join(name)).find(|program| program.is_file())
}

fn program(name: &str) -> PathBuf {
    installed(name).unwrap_or_else(|| {
        panic!("`{name}` was not found; `make test` installs it, or: apt-get install chromium-driver chromium-headless-shell")
    })
}

fn random_name() -> String {
    let mut bytes = [0; 8];
    File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether the tests run as root, for whom Chromium's sandbox does not work.
pub(super) fn is_root() -> bool {
    let said = Command::new("id").arg("-u").output().unwrap();
    said.stdout.trim_ascii() == b"0"
}
