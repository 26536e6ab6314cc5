//! `lunas config`: the settings, their values, where these come from, and what is wrong with them.

use std::process::Command;

use serde_json::json;
use testkit::{Program, Ran};

use crate::support::commands::{program, secret_key};

fn run(program: &Program, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command: Command = program.command(arguments);
    command.envs(variables.iter().copied()).output().unwrap().into()
}

#[test]
fn check_shows_what_is_set_where_it_comes_from_and_no_secret() {
    let (program, key) = (program(), secret_key());
    let variables = [
        ("LUNAS_SECRET_KEY", key.as_str()),
        ("LUNAS_DATABASE", "postgres://lunas:quiet@db.example.com/lunas"),
        ("LUNAS_LISTEN", "127.0.0.1:9000"),
    ];
    let ran = run(&program, &["config", "check"], &variables);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let row = |variable: &str| -> Vec<&str> {
        let line = ran.stdout.lines().find(|line| line.split_whitespace().next() == Some(variable));
        line.unwrap_or_else(|| panic!("no {variable} in {}", ran.stdout)).split_whitespace().collect()
    };
    assert_eq!(row("LUNAS_LISTEN"), ["LUNAS_LISTEN", "127.0.0.1:9000", "environment"]);
    assert_eq!(row("LUNAS_RATE_LIMIT"), ["LUNAS_RATE_LIMIT", "100", "default"]);
    assert_eq!(row("LUNAS_SECRET_KEY"), ["LUNAS_SECRET_KEY", "(secret)", "environment"]);
    assert_eq!(row("LUNAS_DATABASE"), ["LUNAS_DATABASE", "(secret)", "environment"]);
    let json = run(&program, &["config", "check", "--json"], &variables);
    assert_eq!((&json.json(0)["ok"], &json.json(0)["mistakes"]), (&json!(true), &json!([])));
    for text in [ran.stdout.as_str(), json.stdout.as_str()] {
        assert!(!text.contains(&key) && !text.contains("quiet"), "{text}");
    }
}

#[test]
fn check_names_every_mistake_of_the_environment_in_a_line() {
    let program = program();
    let variables = [
        ("LUNAS_DATABASE_CONNECTIONS", "7"),
        ("LUNAS_LISTEN", "nowhere"),
        ("LUNAS_RATE_LIMIT", "many"),
        ("LUNAS_BASE_URL", "pay.example.com"),
        ("LUNAS_SECRET_KEY", "quiet"),
        ("LUNAS_LOG", "a=b=c"),
        ("LUNAS_DATABASE", "mysql://lunas:quiet@localhost/lunas"),
    ];
    let ran = run(&program, &["config", "check"], &variables);
    let lines = ran.failed(1);
    assert_eq!(lines.len(), variables.len(), "{lines:#?}");
    for (variable, _) in variables {
        let about = lines.iter().filter(|line| line.starts_with(&format!("lunas: {variable} (environment): ")));
        assert_eq!(about.count(), 1, "{variable}: {lines:#?}");
    }
    assert!(!ran.stderr.contains("quiet"), "a secret is not repeated");
    run(&program, &["config", "chek"], &variables).failed(2);
    run(&program, &["config", "check", "--database-connections", "7"], &[]).failed(2);
    run(&program, &["project", "list"], &variables).failed(2);
    let json = run(&program, &["config", "check", "--json"], &variables);
    assert_eq!(
        (&json.json(1)["ok"], json.json(1)["mistakes"].as_array().unwrap().len()),
        (&json!(false), variables.len())
    );
}

#[test]
fn list_names_each_setting_with_its_variable_its_key_its_flag_and_its_default() {
    let program = program();
    let listed = program.json(&["config", "list", "--json"]);
    let of = |variable: &str| {
        let settings = listed.as_array().unwrap();
        settings.iter().find(|setting| setting["variable"] == variable).unwrap_or_else(|| panic!("no {variable}"))
    };
    let listen = of("LUNAS_LISTEN");
    assert_eq!((&listen["key"], &listen["flag"]), (&json!("listen"), &json!("--listen")));
    assert_eq!(listen["default"], "127.0.0.1:8080");
    let key = of("LUNAS_SECRET_KEY");
    assert_eq!((&key["key"], &key["flag"], &key["default"]), (&json!("secret_key"), &json!(null), &json!(null)));
    assert_eq!(of("LUNAS_CONFIG")["key"], json!(null), "a file does not name the file");
    let text = program.run(&["config", "list"]);
    assert_eq!((text.code, text.stderr.as_str()), (0, ""));
    for setting in listed.as_array().unwrap() {
        assert!(text.stdout.contains(setting["variable"].as_str().unwrap()), "{setting}");
        assert!(text.stdout.contains(setting["meaning"].as_str().unwrap()), "{setting}");
    }
}
