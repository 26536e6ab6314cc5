//! A server raises its limit of open files, and warns when even the highest possible one is too low.

#![cfg(target_os = "linux")]

use std::{fs, process::Command};

use testkit::Running;

use crate::support::commands::{program, secret_key};

/// The same command, started from a shell that has set a limit.
fn limited(ulimit: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!(r#"ulimit {ulimit} && exec "$0" "$@""#));
    shell.arg(command.get_program()).args(command.get_args()).current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// The soft and the hard limit of a process.
fn limits(running: &Running) -> (String, String) {
    let text = fs::read_to_string(format!("/proc/{}/limits", running.id())).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let mut numbers = line.split_whitespace().map(str::to_owned);
    (numbers.next().unwrap(), numbers.next().unwrap())
}

#[test]
fn a_server_may_open_as_many_files_as_its_user_may() {
    let (program, key) = (program(), secret_key());
    let dev = program.command(&["dev", "--json", "--listen", "127.0.0.1:0"]);
    for command in [dev, program.served(&["serve", "--json"], &key)] {
        let running = Running::start(limited("-Sn 256", &command), program.directory.path());
        let (soft, hard) = limits(&running);
        assert!(soft == hard && hard != "256", "{soft} of {hard}");
        assert_eq!(running.terminate(), Some(0));
    }
}

#[test]
fn a_limit_that_is_too_low_for_full_load_is_a_warning_with_what_to_do() {
    let program = program();
    let dev = program.command(&["dev", "--json", "--listen", "127.0.0.1:0"]);
    let running = Running::start(limited("-n 256", &dev), program.directory.path());
    let log = running.log();
    let warnings: Vec<&str> = log.lines().filter(|line| line.contains("WARN")).collect();
    assert_eq!(warnings.len(), 1, "{log}");
    for words in ["only 256 files may be open", "LimitNOFILE=", "limits.conf"] {
        assert!(warnings[0].contains(words), "{log}");
    }
}
