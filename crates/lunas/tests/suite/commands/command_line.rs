//! What all commands have in common: their output, their exit codes, and what they leave alone.

use std::{fs, path::Path};

use rusqlite::Connection;
use serde_json::{Value, json};
use store::{PaymentWrite, Store};

use crate::support::{
    commands::{program, version_line},
    samples,
};

#[test]
fn wrong_arguments_exit_2_and_do_nothing() {
    let program = program();
    for arguments in [
        &[][..],
        &["frobnicate"],
        &["--frobnicate"],
        &["project"],
        &["project", "create"],
        &["project", "create", "--name", "Toko"],
        &["project", "create", "--name", "Toko", "--environment", "staging"],
        &["project", "show"],
        &["project", "update"],
        &["project", "update", "prj_1", "--active", "maybe"],
        &["project", "update", "prj_1", "--success-status", "done"],
        &["project", "list", "extra"],
        &["key"],
        &["key", "create", "--name", "n"],
        &["key", "create", "--project", "prj_1"],
        &["key", "list"],
        &["key", "revoke"],
        &["event"],
        &["event", "frobnicate"],
        &["link"],
        &["link", "create", "--title", "Kopi"],
        &["link", "create", "--title", "Kopi", "--amount", "many"],
        &["link", "create", "--title", "Kopi", "--amount-min", "1000"],
        &["link", "create", "--title", "Kopi", "--amount", "1000", "--amount-min", "1000", "--amount-max", "2000"],
        &["link", "create", "--title", "Kopi", "--amount", "1000", "--method", "gold"],
        &["link", "create", "--title", "Kopi", "--amount", "1000", "--ask", "age"],
        &["link", "show"],
        &["link", "cancel"],
        &["link", "list", "--limit", "1001"],
        &["payment"],
        &["payment", "create", "--amount", "15000"],
        &["payment", "create", "--amount", "15000", "--reference", "o", "--bank", "gold"],
        &["payment", "create", "--amount", "15000", "--reference", "o", "--metadata", "table"],
        &["payment", "show"],
        &["payment", "list", "--limit", "0"],
        &["payment", "list", "--method", "gold"],
        &["config"],
        &["config", "check", "extra"],
        &["completions"],
        &["completions", "tcsh"],
        &["man"],
        &["webhook"],
        &["webhook", "rotate-secret"],
        &["secret"],
        &["secret", "rotate", "extra"],
        &["pay"],
        &["fail"],
        &["pay", "pay_1", "pay_2"],
        &["verify", "extra"],
        &["migrate", "extra"],
        &["doctor", "extra"],
        &["copy"],
        &["verify", "--database-connections", "7"],
        &["dev", "--listen", "nowhere"],
        &["dev", "--rate-limit", "-1"],
        &["serve", "--listen", "127.0.0.1:99999"],
    ] {
        program.run(arguments).failed(2);
    }
    assert_eq!(fs::read_dir(program.directory.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn a_missing_database_exits_1_and_is_not_made() {
    let program = program();
    let path = program.directory.path().join("none.db");
    let database = format!("sqlite:{}", path.display());
    let id = |prefix: &str| format!("{prefix}_{}", "0".repeat(26));
    let (project, key, payment, event) = (id("prj"), id("key"), id("pay"), id("evt"));
    let account = id("bac");
    for arguments in [
        &["project", "list"][..],
        &["project", "show", &project],
        &["project", "update", &project, "--active", "true"],
        &["key", "create", "--project", &project, "--name", "n"],
        &["key", "list", "--project", &project],
        &["key", "revoke", &key],
        &["user", "create", "a@example.com"],
        &["user", "list"],
        &["user", "password", "a@example.com"],
        &["user", "operator", "a@example.com"],
        &["user", "lift-factor", "a@example.com"],
        &["user", "add", "a@example.com", "--project", &project, "--role", "owner"],
        &["event", "list", "--project", &project],
        &["event", "show", &event],
        &["event", "resend", &event],
        &["event", "recover", "--project", &project, "--since", "2026-11-15T00:00:00Z"],
        &["webhook", "rotate-secret", &project],
        &["secret", "rotate"],
        &["bank", "list"],
        &["bank", "add", "--profile", "bca", "--name", "n"],
        &["bank", "key", &account, "--make"],
        &["bank", "inbound", &account],
        &["bank", "strays"],
        &["pay", &payment],
        &["fail", &payment],
        &["verify"],
    ] {
        for json in [&[][..], &["--json"]] {
            let ran = program.run(&[&["--database", &database], json, arguments].concat());
            let reasons = ran.failed(1);
            assert_eq!(reasons.len(), 1, "{arguments:?}: {reasons:?}");
            assert!(reasons[0].contains("none.db"), "{arguments:?}: {reasons:?}");
        }
    }
    assert_eq!(fs::read_dir(program.directory.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn a_file_of_another_program_or_of_a_newer_version_is_refused_in_one_line() {
    let program = program();
    let (theirs, newer) = (program.directory.path().join("theirs.db"), program.directory.path().join("newer.db"));
    let change = |path: &Path, sql: &str| Connection::open(path).unwrap().execute_batch(sql).unwrap();
    change(&theirs, "CREATE TABLE orders (id INTEGER)");
    program.json(&["migrate", "--json", "--database", &format!("sqlite:{}", newer.display())]);
    change(&newer, "INSERT INTO refinery_schema_history VALUES (99, 'future', '2027-01-15T08:00:00Z', '1')");
    for (path, reason) in [(&theirs, "another program"), (&newer, "a newer version of lunas")] {
        let database = format!("sqlite:{}", path.display());
        for arguments in [&["migrate"][..], &["verify"], &["project", "list"]] {
            let ran = program.run(&[&["--database", &database], arguments].concat());
            let lines = ran.failed(1);
            assert!(lines.len() == 1 && lines[0].contains(reason), "{arguments:?}: {lines:?}");
        }
    }
    let tables = Connection::open(&theirs).unwrap();
    let tables = tables.query_row("SELECT COUNT(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0));
    assert_eq!(tables.unwrap(), 1, "it is left alone");
}

#[test]
fn an_unknown_id_exits_1() {
    let program = program();
    let _running = program.dev();
    let database = program.database();
    let id = |prefix: &str| format!("{prefix}_{}", "0".repeat(26));
    let (project, key, payment) = (id("prj"), id("key"), id("pay"));
    for arguments in [
        &["project", "show", &project][..],
        &["project", "show", "junk\nid"],
        &["project", "update", &project, "--approve"],
        &["key", "create", "--project", &project, "--name", "n"],
        &["key", "list", "--project", "junk"],
        &["key", "revoke", &key],
        &["key", "revoke", ""],
        &["pay", &payment],
        &["pay", "junk"],
        &["fail", &payment],
    ] {
        let ran = program.run(&[&["--json", "--database", &database], arguments].concat());
        assert_eq!(ran.failed(1).len(), 1, "{arguments:?}: {ran:?}");
    }
}

#[test]
fn the_help_explains_every_setting() {
    let program = program();
    let ran = program.run(&["--help"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for words in [
        "LUNAS_DATABASE",
        "LUNAS_DATABASE_CONNECTIONS",
        "LUNAS_LISTEN",
        "LUNAS_BASE_URL",
        "LUNAS_CHECKOUT_URL_BASE",
        "LUNAS_RATE_LIMIT",
        "LUNAS_SECRET_KEY",
        "LUNAS_SECRET_KEY_PREVIOUS",
        "LUNAS_SECRET_KEY_NEXT",
        "LUNAS_URL",
        "LUNAS_API_KEY",
        "LUNAS_WEBHOOK_SECRET",
        "--json",
        "--database",
        "dev",
        "serve",
        "project",
        "key",
        "user",
        "event",
        "pay",
        "fail",
        "listen",
        "trigger",
        "webhook",
        "verify",
        "secret",
        "migrate",
        "copy",
        "doctor",
        "link",
        "payment",
        "config",
        "completions",
        "man",
    ] {
        assert!(ran.stdout.contains(words), "`{words}` is not explained");
    }
    for command in [&["dev", "--help"][..], &["serve", "--help"], &["project", "--help"], &["key", "create", "--help"]]
    {
        assert_eq!(program.run(command).code, 0, "{command:?}");
    }
    let version = program.run(&["--version"]);
    assert_eq!((version.code, version.stdout), (0, version_line()));
}

#[tokio::test]
async fn the_json_flag_works_before_and_after_every_command() {
    let program = program();
    let running = program.dev();
    let (database, project) = (program.database(), running.said("project_id"));
    let mut payments = Vec::new();
    for number in 0..4 {
        let payment =
            running.api().pay(&format!("k-{number}"), &samples::order(running.said("project_id"))).await.expect(201);
        payments.push(payment["id"].as_str().unwrap().to_owned());
    }
    let spare = |name: &str| {
        let arguments = ["key", "create", "--project", project, "--name", name, "--json", "--database", &database];
        program.json(&arguments)["id"].as_str().unwrap().to_owned()
    };
    let (before, after) = (spare("before"), spare("after"));
    let rows: [(&[&str], &[&str], &[&str]); 19] = [
        (
            &["project", "create", "--name", "Satu", "--environment", "sandbox"],
            &[],
            &["id", "environment", "webhook_secret"],
        ),
        (&["project", "update", project, "--merchant-name", "Toko"], &[], &["id", "active", "approved"]),
        (&["project", "list"], &[], &[]),
        (
            &["project", "show", project],
            &[],
            &["id", "environment", "webhook_url", "allowed_origins", "success_status"],
        ),
        (&["key", "list", "--project", project], &[], &[]),
        (&["key", "revoke", &before], &["key", "revoke", &after], &["id", "revoked_at"]),
        (&["user", "create", "a@example.com"], &["user", "create", "b@example.com"], &["id", "email", "password"]),
        (&["user", "list"], &[], &[]),
        (&["user", "password", "a@example.com"], &[], &["id", "email", "password"]),
        (&["user", "operator", "a@example.com"], &[], &["id", "email", "operator"]),
        (&["pay", &payments[0]], &["pay", &payments[1]], &["id", "status"]),
        (&["fail", &payments[2]], &["fail", &payments[3]], &["id", "status"]),
        (&["verify"], &[], &["ok"]),
        (&["secret", "rotate"], &[], &["resealed", "total"]),
        (&["bank", "add", "--profile", "bca", "--name", "BCA"], &[], &["id", "inbound_url", "missing", "next"]),
        (&["bank", "list"], &[], &[]),
        (&["bank", "strays"], &[], &["open", "open_amount", "strays"]),
        (&["migrate"], &[], &["database", "tables"]),
        (&["doctor"], &[], &["ok", "database", "points"]),
    ];
    let options = ["--json", "--database", &database];
    for (first, second, members) in rows {
        let second = if second.is_empty() { first } else { second };
        for answer in [program.json(&[&options, first].concat()), program.json(&[second, &options].concat())] {
            for member in members {
                assert!(
                    answer.get(member).is_some_and(|value| !value.is_null()) || *member == "webhook_url",
                    "{first:?}: {answer}"
                );
            }
            assert_eq!(answer.is_array(), first.get(1) == Some(&"list"), "{first:?}");
        }
    }
}

#[test]
fn the_database_comes_from_the_environment_too_and_the_flag_wins() {
    let program = program();
    let running = program.dev();
    let list = |variable: &str, flag: &[&str]| {
        let mut command = program.command(&[&["project", "list", "--json"], flag].concat());
        testkit::Ran::from(command.env("LUNAS_DATABASE", variable).output().unwrap())
    };
    let database = program.database();
    assert_eq!(list(&database, &[]).json(0)[0]["id"], running.said("project_id"));
    assert_eq!(
        list("sqlite:/nowhere/lunas.db", &["--database", &database]).json(0)[0]["id"],
        running.said("project_id")
    );
    list("sqlite:/nowhere/lunas.db", &[]).failed(1);
    // Without either, commands look where `lunas dev` puts things by default.
    assert_eq!(program.json(&["project", "list", "--json"])[0]["id"], running.said("project_id"));
}

#[test]
fn without_json_people_get_text() {
    let program = program();
    let running = program.dev();
    let project = running.said("project_id");
    for arguments in [
        &["project", "list"][..],
        &["project", "show", project],
        &["key", "list", "--project", project],
        &["user", "list"],
        &["verify"],
    ] {
        let ran = program.run(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
        assert!(serde_json::from_str::<Value>(&ran.stdout).is_err(), "{arguments:?}: {}", ran.stdout);
        assert!(!ran.stdout.contains('\u{1b}'), "no colour codes where nobody sees colours");
    }
}

#[test]
fn a_keys_secret_is_shown_once() {
    let program = program();
    let running = program.dev();
    let (project, database) = (running.said("project_id"), program.database());
    let options = ["--json", "--database", &database];
    let create = [&options[..], &["key", "create", "--project", project, "--name", "toko"]].concat();
    let made = program.json(&create);
    let secret = made["key"].as_str().unwrap();
    assert!(made["id"].as_str().unwrap().starts_with("key_") && secret.starts_with("sk_test_"));
    for arguments in [&["key", "list", "--project", project][..], &["project", "show", project], &["project", "list"]] {
        let answer = program.json(&[&options, arguments].concat()).to_string();
        for hidden in [secret, &secret[8..], running.said("api_key"), running.said("webhook_secret")] {
            assert!(!answer.contains(hidden), "{arguments:?} shows a secret");
        }
    }
    let taken = program.run(&create);
    assert_eq!(taken.failed(1).len(), 1, "a name is unique within its project: {taken:?}");
}

#[test]
fn settings_that_break_a_rule_exit_1_and_change_nothing() {
    let program = program();
    let _running = program.dev();
    let database = program.database();
    let options = ["--json", "--database", &database];
    let production = program.json(
        &[
            &options[..],
            &["project", "create", "--name", "Toko", "--environment", "production", "--merchant-name", "Toko Kopi"],
        ]
        .concat(),
    );
    assert_eq!(production["environment"], "production");
    let id = production["id"].as_str().unwrap();
    let show = || program.json(&[&options[..], &["project", "show", id]].concat());
    let before = show();
    assert_eq!((&before["approved"], &before["merchant_name"]), (&json!(false), &json!("Toko Kopi")));
    for arguments in [
        &["--webhook-url", "http://shop.example/hook"][..],
        &["--webhook-url", "shop.example"],
        &["--webhook-url", "ftp://shop.example"],
        &["--webhook-url", "https://user:pass@shop.example"],
        &["--allow-origin", "*"],
        &["--allow-origin", "shop.example"],
        &["--allow-origin", "https://shop.example/path"],
        &["--allow-origin", "https://shop.example", "--allow-origin", "null"],
    ] {
        let ran = program.run(&[&options[..], &["project", "update", id], arguments].concat());
        assert_eq!(ran.failed(1).len(), 1, "{arguments:?}: {ran:?}");
    }
    for name in ["", "a\nb", &"n".repeat(256)] {
        program
            .run(&[&options[..], &["project", "create", "--environment", "sandbox", "--name", name]].concat())
            .failed(1);
        program.run(&[&options[..], &["key", "create", "--project", id, "--name", name]].concat()).failed(1);
    }
    assert_eq!(show(), before);
    assert_eq!(program.json(&[&options[..], &["key", "list", "--project", id]].concat()), json!([]));
    assert_eq!(program.json(&[&options[..], &["project", "list"]].concat()).as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn verify_names_the_rows_that_break_an_invariant_and_exits_1() {
    let program = program();
    let running = program.dev();
    let (database, payment) =
        (program.database(), running.api().pay("k", &samples::order(running.said("project_id"))).await.expect(201));
    let id = payment["id"].as_str().unwrap();
    let verify = ["--json", "--database", &database, "verify"];
    assert_eq!(program.json(&verify)["ok"], true);
    assert_eq!(running.terminate(), Some(0));
    declare_paid(&program.data().join("lunas.db"), id).await;
    let broken = program.run(&verify).json(1);
    assert_eq!(broken["ok"], false);
    let breaches = broken["breaches"].as_array().unwrap();
    assert!(!breaches.is_empty() && breaches.iter().all(|breach| breach["row"] == id), "{broken}");
    let text = program.run(&["--database", &database, "verify"]);
    assert_eq!(text.code, 1);
    assert!(text.stdout.contains(id), "{text:?}");
}

/// Sets a payment to paid without receipt, posting or event, which no use case does.
async fn declare_paid(path: &Path, id: &str) {
    let store = Store::open_sqlite(path).await.unwrap();
    let payment = store.payment(id.parse().unwrap()).await.unwrap().unwrap();
    let state = domain::payment::State::Paid { at: payment.created_at };
    let write =
        PaymentWrite::Moved { id: payment.id, version: payment.version, state, settles_at: None, link_id: None };
    store.commit(write.into()).await.unwrap();
    store.close().await;
}
