//! What people see at a terminal: short lines for requests, and colours only where they are wanted.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdout, Command, Stdio},
};

use serde_json::Value;
use testkit::{Api, Program};

use crate::support::{commands::program, samples};

/// Runs a command of the program at a terminal, by the tool `script`, which every Debian has.
fn at_terminal(program: &Program, arguments: &[&str]) -> Command {
    let usual = program.command(&[]);
    let words = [usual.get_program().to_str().unwrap()].into_iter().chain(arguments.iter().copied());
    let line: Vec<String> = words.map(|word| format!("'{word}'")).collect();
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--flush", "--command", &line.join(" "), "/dev/null"]);
    command
        .current_dir(program.directory.path())
        .env_remove("NO_COLOR")
        .env("TERM", "xterm-256color")
        .env("SHELL", "/bin/sh");
    for (name, value) in usual.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// `lunas dev` at a terminal, and what it has printed.
struct Screen {
    child: Child,
    lines: BufReader<ChildStdout>,
    text: String,
}

impl Screen {
    fn start(program: &Program, arguments: &[&str]) -> Screen {
        let data = program.data();
        let dev = ["dev", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()];
        let mut command = at_terminal(program, &[&dev, arguments].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut screen = Screen { child, lines, text: String::new() };
        screen.read_until("Ctrl-C stops the server");
        screen
    }

    fn read_until(&mut self, words: &str) {
        while !self.text.contains(words) {
            assert!(self.lines.read_line(&mut self.text).unwrap() > 0, "it ended after {}", self.text);
        }
    }

    fn api(&self, key: &str) -> Api {
        let address = self.text.split("http://").nth(1).unwrap().split_whitespace().next().unwrap();
        Api::new(address.parse().unwrap(), Some(key))
    }

    /// Presses Ctrl-C; returns all that was printed.
    fn stop(mut self) -> String {
        self.child.stdin.take().unwrap().write_all(b"\x03").unwrap();
        self.read_until("stopped");
        self.child.wait().unwrap();
        self.text
    }
}

/// Makes requests at a `lunas dev` at a terminal; returns what it printed after its block.
async fn printed_after_block(arguments: &[&str]) -> String {
    let program = program();
    let ready = program.dev().ready.clone();
    let said = |member: &str| ready[member].as_str().unwrap().to_owned();
    let screen = Screen::start(&program, arguments);
    let api = screen.api(&said("api_key"));
    let payment: Value = api.pay("k", &samples::order(&said("project_id"))).await.expect(201);
    api.get(&format!("/v1/payments/{}", payment["id"].as_str().unwrap())).await.expect(200);
    api.get("/v1/payments?page=0").await.refused(400, "VALIDATION_ERROR");
    let all = screen.stop();
    all.split_once("Ctrl-C stops the server").unwrap().1.to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dev_shows_a_request_as_one_short_line() {
    let after = printed_after_block(&[]).await;
    let requests: Vec<&str> = after.lines().filter(|line| line.contains("/v1/")).map(str::trim_end).collect();
    let [created, read, refused] = requests[..] else { panic!("a line for each request: {after}") };
    assert!(created.starts_with("201 POST   /v1/payments ") && created.ends_with(" ms"), "{created}");
    assert!(read.starts_with("200 GET    /v1/payments/pay_") && refused.starts_with("400 GET "), "{after}");
    assert!(requests.iter().all(|line| line.chars().count() <= 80), "{after}");
    assert!(!after.contains("request_id") && !after.contains('\u{1b}'), "{after}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dev_shows_no_request_when_it_is_quiet() {
    let after = printed_after_block(&["--quiet"]).await;
    assert!(!after.contains("/v1/") && after.contains("stopped"), "{after}");
}

#[test]
fn help_has_colours_at_a_terminal_and_none_with_no_color() {
    let program = program();
    let shown = |no_color: Option<&str>| {
        let mut command = at_terminal(&program, &["--help"]);
        if let Some(value) = no_color {
            command.env("NO_COLOR", value);
        }
        String::from_utf8(command.stdin(Stdio::null()).output().unwrap().stdout).unwrap()
    };
    assert!(shown(None).contains("\u{1b}[") && shown(None).contains("Commands:"));
    assert!(!shown(Some("1")).contains('\u{1b}') && shown(Some("1")).contains("Commands:"));
}

#[test]
fn tables_at_a_terminal_are_plain_text() {
    let program = program();
    let _running = program.dev();
    for arguments in [&["payment", "list"][..], &["link", "list"], &["project", "list"]] {
        let output = at_terminal(&program, arguments).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.starts_with("ID "), "{arguments:?}: {text}");
        assert!(!text.contains('\u{1b}'), "{arguments:?}: {text}");
    }
}
