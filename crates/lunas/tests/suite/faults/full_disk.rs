//! A disk that is full, for the database and for the log: requests are answered, the health check says that commits
//! fail, and all recovers by itself.

#![cfg(target_os = "linux")]

use std::process::Command;

use rlimit::{INFINITY, Resource, prlimit};
use testkit::{Api, Running};

use crate::support::{
    commands::{program, secret_key},
    samples,
    wait::until,
};

/// The same command, started by a shell with these words of its own.
fn started_by(script: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script);
    shell.arg(command.get_program()).args(command.get_args()).current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// Lets a process write nothing beyond the first byte of a file, or lets it write as before.
fn fill_disk(running: &Running, full: bool) {
    let most = if full { 1 } else { INFINITY };
    prlimit(running.id().try_into().unwrap(), Resource::FSIZE, Some((most, INFINITY)), None).unwrap();
}

/// Regression: a log line that could not be written made the request that it told of end without an answer, and the
/// health check said that all was well while no commit succeeded.
#[tokio::test]
async fn requests_are_answered_and_the_server_is_not_ready_until_there_is_room_again() {
    let program = program();
    let dev = program.command(&["dev", "--json", "--listen", "127.0.0.1:0"]);
    // A write beyond the limit of file sizes fails, instead of ending the process.
    let running = Running::start(started_by(r#"trap '' XFSZ && exec "$0" "$@""#, &dev), program.directory.path());
    let (api, anonymous) = (running.api(), Api::new(running.address(), None));
    let order = samples::order(running.said("project_id"));
    let ready = async || anonymous.get("/readyz").await.status == 200;
    assert!(ready().await);
    api.pay("k-1", &order).await.expect(201);

    fill_disk(&running, true);
    api.get("/v1/payments").await.expect(200);
    api.pay("k-2", &order).await.refused(503, "SERVICE_UNAVAILABLE");
    until(async || !ready().await).await;
    anonymous.get("/readyz").await.refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(anonymous.get("/healthz").await.status, 200);
    api.pay("k-1", &order).await.expect(200);

    fill_disk(&running, false);
    until(ready).await;
    api.pay("k-2", &order).await.expect(201);
    let log = running.log();
    let told = log.lines().find(|line| line.contains("this many of its lines were lost since the start"));
    assert!(told.is_some_and(|line| line.contains("lost=")), "{log}");
    assert_eq!(running.terminate(), Some(0));
    program.json(&["--json", "--database", &program.database(), "verify"]);
}

#[tokio::test]
async fn a_log_that_can_never_be_written_stops_no_server() {
    let (program, key) = (program(), secret_key());
    let mut serve = program.served(&["serve", "--json"], &key);
    serve.env("LUNAS_LOG", "debug");
    let running = Running::start(started_by(r#"exec "$0" "$@" 2>/dev/full"#, &serve), program.directory.path());
    let anonymous = Api::new(running.address(), None);
    for _ in 0..3 {
        assert_eq!(anonymous.get("/readyz").await.status, 200);
        anonymous.get("/v1/balance").await.refused(401, "UNAUTHORIZED");
    }
    assert_eq!(running.terminate(), Some(0));
}
