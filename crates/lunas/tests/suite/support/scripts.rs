//! Programs in other languages that use a running server: the clients' tests, and the example shops.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    process::{self, Child, Command},
    sync::atomic::{AtomicU16, Ordering},
};

use testkit::{Program, Running};

use crate::support::repository::root;

/// A command at the root of the repository that finds the server, its project and its secrets in its environment.
pub(crate) fn script(words: &[&str], running: &Running) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(root()).env("PYTHONDONTWRITEBYTECODE", "1");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LUNAS_")) {
        command.env_remove(name);
    }
    command
        .env("LUNAS_URL", running.said("base_url"))
        .env("LUNAS_API_KEY", running.said("api_key"))
        .env("LUNAS_PROJECT_ID", running.said("project_id"))
        .env("LUNAS_WEBHOOK_SECRET", running.said("webhook_secret"));
    command
}

/// Below the ports that the kernel hands out, so that no other test is given the port before the script listens on it.
const FIRST_PORT: u16 = 20_000;
/// Processes that run tests side by side begin their search this far apart, most of the time.
const PORTS_OF_A_PROCESS: u16 = 10;

/// An address on loopback that nobody uses.
pub(crate) fn unused_address() -> SocketAddr {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    let process = u16::try_from(process::id() % 1_000).unwrap();
    loop {
        let port = FIRST_PORT + process * PORTS_OF_A_PROCESS + TAKEN.fetch_add(1, Ordering::Relaxed);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

/// An address on loopback that nobody uses, to which the demo project's webhooks go from now on.
pub(crate) fn webhook_address(program: &Program, running: &Running) -> SocketAddr {
    let address = unused_address();
    let url = format!("http://{address}/hooks");
    program.json(&["project", "update", running.said("project_id"), "--json", "--webhook-url", &url]);
    address
}

/// Sends a signal, by name, to a process that leads a group, and to all that it has started.
pub(crate) fn signal_group(leader: &Child, name: &str) {
    // The group may have ended already.
    let _ = Command::new("kill").args([&format!("-{name}"), "--", &format!("-{}", leader.id())]).status();
}
