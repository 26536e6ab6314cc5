//! The program beside a library that is loaded before it and allocates before it begins, as monitoring agents and libfaketime do.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use testkit::{Program, Ran, Running};

use crate::support::commands::{program, version_line};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/commands/preloaded.c");

fn compiled_in(directory: &Path) -> PathBuf {
    let library = directory.join("preloaded.so");
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(SOURCE).arg("-ldl").output();
    let compiled = compiled.unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    library
}

fn command(program: &Program, arguments: &[&str]) -> Command {
    let mut command = program.command(arguments);
    command.env("LD_PRELOAD", compiled_in(program.directory.path()));
    command
}

/// Before, mimalloc served the library as well, and was entered again by it before it was ready: the program ended by SIGSEGV.
#[test]
fn a_program_with_a_preloaded_library_that_allocates_first_says_its_version() {
    let program = program();
    let ran: Ran = command(&program, &["--version"]).output().unwrap().into();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, version_line().as_str()), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_a_preloaded_library_that_allocates_first_serves_and_stops() {
    let program = program();
    let mut command = command(&program, &["dev", "--json", "--listen", "127.0.0.1:0", "--data"]);
    command.arg(program.data());
    let running = Running::start(command, program.directory.path());
    running.api().get("/v1/payments").await.expect(200);
    assert_eq!(tokio::task::spawn_blocking(|| running.terminate()).await.unwrap(), Some(0));
}
