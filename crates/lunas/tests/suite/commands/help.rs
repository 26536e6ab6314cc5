//! The help of every command, and the table of settings, are what the repository has. `CONTRIBUTING.md` says how to renew them.

use std::{collections::BTreeMap, env, fs, path::PathBuf};

use serde_json::Value;
use testkit::Program;

use crate::support::{commands::program, json::text, repository::root};

/// With this variable, the files are written in place of being compared.
const RENEW: &str = "RENEW_SNAPSHOTS";
const COMMANDS_MOST: usize = 200;
const HEAD: &str = "| Variable | Flag | Default | Meaning |\n|---|---|---|---|\n";

fn is_renewed() -> bool {
    env::var_os(RENEW).is_some_and(|value| !value.is_empty())
}

fn help(program: &Program, command: &[String]) -> String {
    let words: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
    let ran = program.command(&words).env_remove("LUNAS_CONFIG").args(["--config", "/dev/null"]).output().unwrap();
    let ran = testkit::Ran::from(ran);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command:?}");
    ran.stdout
}

/// The commands that a help lists.
fn listed(help: &str) -> Vec<String> {
    let Some((_, rest)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let lines = rest.lines().take_while(|line| !line.is_empty());
    let named = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    named.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Every command with its help, found by reading the help: the words after the program's name.
fn helps(program: &Program) -> BTreeMap<Vec<String>, String> {
    let (mut helps, mut open) = (BTreeMap::new(), vec![Vec::new()]);
    while let Some(command) = open.pop() {
        let text = help(program, &command);
        open.extend(listed(&text).into_iter().map(|name| [&command[..], &[name]].concat()));
        helps.insert(command, text);
        assert!(helps.len() < COMMANDS_MOST, "commands have an end");
    }
    helps
}

/// Every command: the words after the program's name.
pub(super) fn commands(program: &Program) -> Vec<Vec<String>> {
    helps(program).into_keys().collect()
}

fn folder() -> PathBuf {
    root().join("crates/lunas/tests/suite/commands/help")
}

#[test]
fn the_help_of_every_command_is_as_written_down() {
    let program = program();
    let name = |command: &[String]| [&["lunas".to_owned()], command].concat().join("-") + ".txt";
    let now: BTreeMap<String, String> =
        helps(&program).into_iter().map(|(command, text)| (name(&command), text)).collect();
    assert!(now.len() > 50, "{:?}", now.keys());
    if is_renewed() {
        let _ = fs::remove_dir_all(folder());
        fs::create_dir_all(folder()).unwrap();
        now.iter().for_each(|(name, text)| fs::write(folder().join(name), text).unwrap());
    }
    let kept = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let kept: BTreeMap<String, String> = kept
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect();
    assert_eq!(kept.keys().collect::<Vec<_>>(), now.keys().collect::<Vec<_>>(), "a file for each command");
    for (name, text) in &now {
        assert_eq!(&kept[name], text, "{name}; {RENEW}=1 renews it");
    }
}

/// The table of settings in Markdown.
fn settings_table(settings: &Value) -> String {
    let code = |value: &Value| value.as_str().map_or_else(|| "–".to_owned(), |value| format!("`{value}`"));
    let row = |setting: &Value| {
        let meaning = text(setting, "meaning").replace('|', "\\|");
        format!(
            "| {} | {} | {} | {meaning} |\n",
            code(&setting["variable"]),
            code(&setting["flag"]),
            code(&setting["default"])
        )
    };
    HEAD.to_owned() + &settings.as_array().unwrap().iter().map(row).collect::<String>()
}

#[test]
fn the_table_of_settings_in_the_docs_is_made_from_the_code() {
    let program = program();
    let table = settings_table(&program.json(&["config", "list", "--json"]));
    let path = root().join("docs/operating.md");
    let document = fs::read_to_string(&path).unwrap();
    let start = document.find(HEAD).expect("the table's head");
    let end = start + document[start..].find("\n\n").unwrap() + 1;
    if is_renewed() {
        return fs::write(&path, format!("{}{table}{}", &document[..start], &document[end..])).unwrap();
    }
    assert_eq!(&document[start..end], table, "{RENEW}=1 renews it");
}
