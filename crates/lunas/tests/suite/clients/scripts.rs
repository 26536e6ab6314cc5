//! Each client passes its own tests, has all that the OpenAPI document has, calls every endpoint of a running server, and does
//! what its README and docs/clients.md show.

use std::process::Command;

use testkit::Ran;

use crate::support::{
    commands::dev,
    repository::root,
    scripts::{script, webhook_address},
};

#[track_caller]
fn passes(mut command: Command) {
    let ran = Ran::from(command.output().unwrap());
    // The command as a whole would show the key in its environment.
    let arguments: Vec<_> = command.get_args().collect();
    assert_eq!(ran.code, 0, "{arguments:?}\n{}\n{}", ran.stdout, ran.stderr);
}

/// Runs a client's own tests, then its three scripts against a server.
#[track_caller]
fn holds(own_tests: &[&str], runtime: &str, folder: &str, ending: &str) {
    let (program, running) = dev();
    passes(script(own_tests, &running));
    for name in ["against-openapi", "documents"] {
        passes(script(&[runtime, &format!("{folder}/{name}.{ending}")], &running));
    }
    let project = running.said("project_id");
    let database = program.database();
    let spare =
        program.json(&["key", "create", "--project", project, "--name", "spare", "--database", &database, "--json"]);
    // The script knows the old secret: webhooks carry two signatures now, and its own is the second.
    program.json(&["webhook", "rotate-secret", project, "--database", &database, "--json"]);
    let port = webhook_address(&program, &running).port().to_string();
    let mut command = script(&[runtime, &format!("{folder}/against-server.{ending}")], &running);
    command.env("LUNAS_SPARE_KEY_ID", spare["id"].as_str().unwrap()).env("LUNAS_WEBHOOK_PORT", port);
    passes(command);
}

#[test]
#[ignore = "needs the tools that `make test` installs"]
fn the_typescript_client_holds_against_the_document_and_the_server() {
    let folder = "clients/typescript/test";
    holds(&["node", "--test", "clients/typescript/test/unit.test.js"], "node", folder, "js");
}

#[test]
#[ignore = "needs the tools that `make test` installs"]
fn the_php_client_holds_against_the_document_and_the_server() {
    holds(&["php", "clients/php/test/unit.php"], "php", "clients/php/test", "php");
}

#[test]
#[ignore = "needs the tools that `make test` installs"]
fn the_python_client_holds_against_the_document_and_the_server() {
    let own_tests = ["python3", "-m", "unittest", "discover", "clients/python/test"];
    holds(&own_tests, "python3", "clients/python/test", "py");
}

#[test]
#[ignore = "needs the tools that `make test` installs"]
fn the_types_of_the_typescript_client_allow_what_is_right_and_refuse_what_is_wrong() {
    let compiler = root().join("target/typescript/node_modules/typescript/bin/tsc");
    assert!(compiler.exists(), "{} is not there: run `make typescript`", compiler.display());
    let mut command = Command::new("node");
    command.arg(compiler).args(["--project", "clients/typescript/test/tsconfig.json"]).current_dir(root());
    passes(command);
}
