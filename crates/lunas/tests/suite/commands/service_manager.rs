//! What a service manager such as systemd is told: that the server is ready, that it stops, and that it is healthy.

#![cfg(target_os = "linux")]

use std::{
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use testkit::{Api, Cluster, Program, Running};

use crate::support::{
    commands::{program, secret_key},
    wait::PATIENCE,
};

/// The watchdog's time in these tests, in microseconds: 50 ms between two pings.
const WATCHDOG_USEC: &str = "200000";

/// Longer than several pings take to come.
const SEVERAL_PINGS: Duration = Duration::from_secs(2);

/// A manager that listens at `address`.
struct Manager(UnixDatagram);

impl Manager {
    fn at(path: &Path) -> Manager {
        Manager(UnixDatagram::bind(path).unwrap())
    }

    /// The next message, or none when nothing comes in time.
    fn next_within(&self, patience: Duration) -> Option<String> {
        let mut bytes = [0; 1_024];
        self.0.set_read_timeout(Some(patience)).unwrap();
        let length = self.0.recv(&mut bytes).ok()?;
        Some(String::from_utf8(bytes[..length].to_vec()).unwrap())
    }

    /// Waits for a message that begins like this, and passes over pings.
    #[track_caller]
    fn hears(&self, beginning: &str) -> String {
        loop {
            let message = self.next_within(PATIENCE).unwrap_or_else(|| panic!("nobody says {beginning}"));
            if message.starts_with(beginning) {
                return message;
            }
            assert_eq!(message, "WATCHDOG=1");
        }
    }

    /// Forgets what was said so far.
    fn forget(&self) {
        while self.next_within(Duration::from_millis(1)).is_some() {}
    }
}

/// `lunas serve`, told where its manager listens.
fn managed(program: &Program, socket: &str) -> Command {
    let mut command = program.served(&["serve", "--json"], &secret_key());
    command.env("NOTIFY_SOCKET", socket);
    command
}

fn start(program: &Program, command: Command) -> Running {
    Running::start(command, program.directory.path())
}

#[tokio::test]
async fn the_manager_is_told_once_the_server_serves_and_when_it_stops() {
    let program = program();
    let path = program.directory.path().join("notify");
    let manager = Manager::at(&path);
    let mut serving = start(&program, managed(&program, path.to_str().unwrap()));
    let ready = manager.hears("READY=1\n");
    assert_eq!(ready, format!("READY=1\nSTATUS=serving at {}", serving.address()));
    Api::new(serving.address(), None).get("/readyz").await.expect(200);
    serving.signal("TERM");
    manager.hears("STOPPING=1\n");
    assert_eq!(serving.ended(), Some(0));
    assert_eq!(manager.next_within(Duration::from_millis(1)), None, "without a watchdog nothing else is said");
}

#[test]
fn a_manager_may_listen_at_an_abstract_address() {
    let program = program();
    let name = format!("lunas-test-{}", program.directory.path().display());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let manager = Manager(UnixDatagram::bind_addr(&address).unwrap());
    let serving = start(&program, managed(&program, &format!("@{name}")));
    manager.hears("READY=1\n");
    assert_eq!(serving.terminate(), Some(0));
    manager.hears("STOPPING=1\n");
}

#[tokio::test]
async fn a_manager_that_does_not_listen_is_a_warning_and_the_server_serves() {
    let program = program();
    let nowhere = program.directory.path().join("nowhere");
    let serving = start(&program, managed(&program, nowhere.to_str().unwrap()));
    Api::new(serving.address(), None).get("/readyz").await.expect(200);
    assert!(serving.log().contains("cannot notify the service manager"), "{}", serving.log());
    assert_eq!(serving.terminate(), Some(0));
}

#[test]
fn a_server_that_does_not_start_never_says_that_it_is_ready() {
    let program = program();
    let path = program.directory.path().join("notify");
    let manager = Manager::at(&path);
    let mut command = managed(&program, path.to_str().unwrap());
    assert_eq!(command.env("LUNAS_BASE_URL", "http://pay.lunas.test").output().unwrap().status.code(), Some(1));
    assert_eq!(manager.next_within(Duration::from_millis(1)), None);
}

#[test]
fn a_watchdog_of_another_process_is_not_pinged() {
    let program = program();
    let path = program.directory.path().join("notify");
    let manager = Manager::at(&path);
    let mut command = managed(&program, path.to_str().unwrap());
    command.env("WATCHDOG_USEC", WATCHDOG_USEC).env("WATCHDOG_PID", "1");
    let serving = start(&program, command);
    manager.hears("READY=1\n");
    assert_eq!(manager.next_within(Duration::from_millis(300)), None);
    assert_eq!(serving.terminate(), Some(0));
}

#[test]
fn a_healthy_server_on_a_file_pings_its_watchdog() {
    let program = program();
    let path = program.directory.path().join("notify");
    let manager = Manager::at(&path);
    let mut command = managed(&program, path.to_str().unwrap());
    command.env("WATCHDOG_USEC", WATCHDOG_USEC);
    let serving = start(&program, command);
    manager.hears("READY=1\n");
    for _ in 0..3 {
        manager.hears("WATCHDOG=1");
    }
    assert_eq!(serving.terminate(), Some(0));
}

#[test]
fn the_watchdog_is_pinged_only_while_the_database_answers() {
    let (program, cluster) = (program(), Cluster::start(&[]));
    let path = program.directory.path().join("notify");
    let manager = Manager::at(&path);
    let mut command = managed(&program, path.to_str().unwrap());
    command.env("WATCHDOG_USEC", WATCHDOG_USEC).env("LUNAS_DATABASE", cluster.fresh_database());
    let serving = start(&program, command);
    manager.hears("READY=1\n");
    manager.hears("WATCHDOG=1");

    cluster.pause();
    let paused = Instant::now();
    // One that was sent before may still be on its way.
    while manager.next_within(SEVERAL_PINGS).is_some() {
        assert!(paused.elapsed() < PATIENCE, "it pings though its database hangs");
    }
    assert!(serving.log().contains("the database does not answer"), "{}", serving.log());
    cluster.resume();
    manager.hears("WATCHDOG=1");
    manager.forget();
    manager.hears("WATCHDOG=1");
    assert_eq!(serving.terminate(), Some(0));
}
