//! `lunas serve` refuses to start while something that safety needs is missing, with one line for each reason.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use testkit::{Api, Ran, Running};

use crate::support::commands::{program, secret_key};

fn run(mut command: Command) -> Ran {
    command.output().unwrap().into()
}

/// Checks that `lunas serve` refuses for exactly these reasons, one line each, in any order.
#[track_caller]
fn refuses(command: Command, reasons: &[&str]) {
    let ran = run(command);
    let lines = ran.failed(1);
    assert_eq!(lines.len(), reasons.len(), "one line per reason: {lines:?}");
    for reason in reasons {
        assert!(lines.iter().any(|line| line.contains(reason)), "no line says `{reason}`: {lines:?}");
    }
}

#[tokio::test]
async fn it_serves_when_everything_is_there() {
    let program = program();
    let key = secret_key();
    let serving = program.serve(&key);
    assert_eq!(serving.said("base_url"), "https://api.lunas.test");
    Api::new(serving.address(), None).get("/readyz").await.expect(200);
    let arguments = ["project", "create", "--name", "Toko", "--environment", "production", "--json"];
    let project = run(program.served(&arguments, &key)).json(0);
    let id = project["id"].as_str().unwrap();
    let made = run(program.served(&["key", "create", "--project", id, "--name", "live", "--json"], &key)).json(0);
    let api = Api::new(serving.address(), made["key"].as_str());
    assert!(made["key"].as_str().unwrap().starts_with("sk_live_"));
    api.get("/v1/balance").await.refused(403, "PROJECT_UNAVAILABLE");
    run(program.served(&["project", "update", id, "--approve", "--json"], &key)).json(0);
    assert_eq!(api.get("/v1/balance").await.expect(200)["environment"], "production");
    let body = serde_json::json!({ "project_id": id, "title": "Kopi", "amount": 15_000 });
    let link = api.post("/v1/payment-links", &body).await.expect(201);
    assert_eq!(link["url"], format!("https://pay.lunas.test/p/{}", link["id"].as_str().unwrap()));
    assert_eq!(serving.terminate(), Some(0));
}

#[tokio::test]
async fn a_second_server_on_the_same_file_says_so_and_stops_and_commands_work_beside_the_first() {
    let (program, key) = (program(), secret_key());
    let serving = program.serve(&key);
    refuses(program.served(&["serve"], &key), &["another server is running on sqlite:"]);
    for arguments in [&["verify"][..], &["doctor"], &["migrate"], &["project", "list"]] {
        let ran = run(program.served(arguments, &key));
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
    }
    Api::new(serving.address(), None).get("/readyz").await.expect(200);
    // A killed server leaves no lock behind.
    serving.kill();
    assert_eq!(program.serve(&key).terminate(), Some(0));
}

/// Regression: the first start on a link to a file that did not exist yet locked another file than all others.
#[tokio::test]
async fn a_server_that_has_created_its_file_through_a_link_is_the_only_one_by_every_path() {
    let (program, key) = (program(), secret_key());
    let directory = program.directory.path();
    let (link, file) = (directory.join("link.db"), directory.join("served.db"));
    std::os::unix::fs::symlink("served.db", &link).unwrap();
    let at = |path: &Path, arguments: &[&str]| {
        let mut command = program.served(arguments, &key);
        command.env("LUNAS_DATABASE", format!("sqlite:{}", path.display()));
        command
    };
    let serving = Running::start(at(&link, &["serve", "--json"]), directory);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "the file is its owner's alone");
    for path in [&link, &file] {
        refuses(at(path, &["serve"]), &["another server is running on sqlite:"]);
        let from = format!("sqlite:{}", path.display());
        let copy = ["copy", "--from", &from, "--to", "postgres://lunas@127.0.0.1:1/lunas"];
        refuses(program.command(&copy), &["a server is running on sqlite:"]);
    }
    assert_eq!(serving.terminate(), Some(0));
    assert_eq!(program.serve(&key).terminate(), Some(0));
}

#[test]
fn without_a_secret_key_it_does_not_start() {
    let program = program();
    for key in ["", "not base64!", "c2hvcnQ="] {
        refuses(program.served(&["serve"], key), &["LUNAS_SECRET_KEY"]);
    }
    let mut unset = program.served(&["serve"], "");
    unset.env_remove("LUNAS_SECRET_KEY");
    refuses(unset, &["LUNAS_SECRET_KEY"]);
    assert!(!program.directory.path().join("served.db").exists(), "a refusal leaves no database behind");
}

#[test]
fn a_notice_url_that_is_not_safe_does_not_start() {
    let (program, key) = (program(), secret_key());
    let (secret, short) = ("quiet ".repeat(6), "quiet ".repeat(5));
    let fine = "https://93.184.216.34/notices";
    for (url, secret, reason) in [
        (
            "http://93.184.216.34/notices",
            Some(&secret),
            "LUNAS_NOTICE_URL is refused: the URL must start with https://",
        ),
        ("https://10.0.0.7/notices", Some(&secret), "LUNAS_NOTICE_URL is refused: 10.0.0.7 is a private address"),
        ("https://localhost/notices", Some(&secret), "LUNAS_NOTICE_URL is refused: localhost means the server itself"),
        (fine, None, "LUNAS_NOTICE_SECRET is not set"),
        (fine, Some(&short), "LUNAS_NOTICE_SECRET has fewer than 32 characters"),
    ] {
        let mut command = program.served(&["serve"], &key);
        command.env("LUNAS_NOTICE_URL", url);
        if let Some(secret) = secret {
            command.env("LUNAS_NOTICE_SECRET", secret);
        }
        refuses(command, &[reason]);
    }
    assert!(!program.directory.path().join("served.db").exists());
}

#[test]
fn public_addresses_that_are_not_https_do_not_start() {
    let program = program();
    let key = secret_key();
    for (variable, value) in [
        ("LUNAS_BASE_URL", "http://api.lunas.test"),
        ("LUNAS_BASE_URL", ""),
        ("LUNAS_BASE_URL", "api.lunas.test"),
        ("LUNAS_CHECKOUT_URL_BASE", "http://pay.lunas.test"),
        ("LUNAS_CHECKOUT_URL_BASE", "ftp://pay.lunas.test"),
    ] {
        let mut command = program.served(&["serve"], &key);
        command.env(variable, value);
        refuses(command, &[variable]);
    }
    let mut unset = program.served(&["serve"], &key);
    unset.env_remove("LUNAS_BASE_URL");
    refuses(unset, &["LUNAS_BASE_URL"]);
    assert!(!program.directory.path().join("served.db").exists());
}

#[test]
fn a_development_database_is_not_served() {
    let program = program();
    assert_eq!(program.dev().terminate(), Some(0));
    let key = fs::read_to_string(program.data().join("secret.key")).unwrap();
    let mut command = program.served(&["serve"], key.trim());
    command.env("LUNAS_DATABASE", program.database());
    refuses(command, &["development"]);
}

#[test]
fn a_database_that_cannot_be_reached_is_not_served() {
    let program = program();
    let directory = program.directory.path();
    let damaged = directory.join("damaged.db");
    fs::write(&damaged, "this is not a database, however long it may be".repeat(100)).unwrap();
    for path in [directory.join("missing/lunas.db"), directory.to_owned(), damaged] {
        let mut command = program.served(&["serve"], &secret_key());
        command.env("LUNAS_DATABASE", format!("sqlite:{}", path.display()));
        refuses(command, &[path.to_str().unwrap()]);
    }
    assert!(!directory.join("missing").exists());
    let mut other = program.served(&["serve"], &secret_key());
    other.env("LUNAS_DATABASE", "postgres://lunas:quiet@db.lunas.test/lunas");
    let ran = run(other);
    assert_eq!(ran.failed(1).len(), 1);
    assert!(!ran.stderr.contains("quiet"), "a password is not repeated: {}", ran.stderr);
}

#[test]
fn every_reason_is_reported_at_once() {
    let program = program();
    assert_eq!(program.dev().terminate(), Some(0));
    let mut command = program.served(&["serve"], "");
    command
        .env("LUNAS_BASE_URL", "http://api.lunas.test")
        .env("LUNAS_CHECKOUT_URL_BASE", "http://pay.lunas.test")
        .env("LUNAS_DATABASE", program.database());
    refuses(command, &["LUNAS_SECRET_KEY", "LUNAS_BASE_URL", "LUNAS_CHECKOUT_URL_BASE", "development"]);
    let mut command = program.served(&["serve"], "");
    command.env_remove("LUNAS_BASE_URL").env("LUNAS_DATABASE", "sqlite:missing/lunas.db");
    refuses(command, &["LUNAS_SECRET_KEY", "LUNAS_BASE_URL", "missing/lunas.db"]);
}

#[test]
fn another_secret_key_than_the_databases_own_is_refused() {
    let program = program();
    let key = secret_key();
    let arguments = ["project", "create", "--name", "Toko", "--environment", "sandbox", "--json"];
    run(program.served(&arguments, &key)).json(0);
    refuses(program.served(&["serve"], &secret_key()), &["LUNAS_SECRET_KEY"]);
}
