//! Programs in other languages that use a running server: the clients' tests, and the example shops.

use std::{
    net::{SocketAddr, TcpListener},
    process::Command,
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

/// An address on loopback that nobody uses, to which the demo project's webhooks go from now on.
pub(crate) fn webhook_address(program: &Program, running: &Running) -> SocketAddr {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{address}/hooks");
    program.json(&["project", "update", running.said("project_id"), "--json", "--webhook-url", &url]);
    address
}
