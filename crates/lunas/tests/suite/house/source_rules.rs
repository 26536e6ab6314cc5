//! Rules for the text of every source file.

use std::fs;

use crate::support::repository::{files, root};

/// The most lines that a file may have.
const LINES_MOST: usize = 500;

/// The lines that `wrong` objects to, as `file:line: text`.
fn lines_where(wrong: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, text) in files(".rs") {
        let numbered = text.lines().enumerate().filter(|(_, line)| wrong(&name, line));
        lines.extend(numbered.map(|(number, line)| format!("{name}:{}: {}", number + 1, line.trim())));
    }
    lines
}

/// Joins the parts of a text that this file must not contain itself.
fn joined(parts: &[&str]) -> String {
    parts.concat()
}

/// Fails with everything that was found.
#[track_caller]
pub(super) fn none(found: Vec<String>) {
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn only_the_clock_reads_the_systems_time() {
    let readings = [joined(&["System", "Time::now"]), joined(&["Utc", "::now"]), joined(&["Timestamp", "::now"])];
    let more = [joined(&["Zoned", "::now"]), joined(&["Local", "::now"]), joined(&["Offset", "DateTime::now"])];
    let wrong = |name: &str, line: &str| {
        name != "crates/engine/src/clock.rs" && readings.iter().chain(&more).any(|reading| line.contains(reading))
    };
    none(lines_where(wrong));
    let clock = fs::read_to_string(root().join("crates/engine/src/clock.rs")).unwrap();
    assert!(clock.contains(&readings[0]), "the clock is where this rule says");
}

#[test]
fn no_file_has_more_than_500_lines() {
    let long = files(".rs").into_iter().map(|(name, text)| (name, text.lines().count()));
    none(long.filter(|(_, lines)| *lines > LINES_MOST).map(|(name, lines)| format!("{name}: {lines} lines")).collect());
}

#[test]
fn no_work_is_left_for_later() {
    let marks = [joined(&["TO", "DO"]), joined(&["FIX", "ME"])];
    let macros = [joined(&["to", "do!("]), joined(&["unimpl", "emented!("]), joined(&["db", "g!("])];
    none(lines_where(|_, line| marks.iter().chain(&macros).any(|mark| line.contains(mark))));
}

#[test]
fn no_file_contains_a_key() {
    let shaped = |text: &str| {
        ["test_", "live_"].iter().any(|environment| {
            let prefix = joined(&["sk_", environment]);
            text.match_indices(&prefix).any(|(at, _)| {
                let rest = text[at + prefix.len()..].bytes();
                rest.take_while(u8::is_ascii_alphanumeric).count() >= 20
            })
        })
    };
    assert!(shaped(&joined(&["sk_", "test_", &"a1B".repeat(8)])), "the check recognises a key");
    for ending in [".rs", ".toml", ".sql", ".json", ".md", ".html"] {
        let Ok(found) = std::panic::catch_unwind(|| files(ending)) else { continue };
        none(found.into_iter().filter(|(_, text)| shaped(text)).map(|(name, _)| name).collect());
    }
}

#[test]
fn every_crate_forbids_unsafe_code_and_keeps_the_workspace_lints() {
    for (name, text) in files("Cargo.toml") {
        let keeps = text.contains("[lints]\nworkspace = true") || text.contains("unsafe_code = \"forbid\"");
        assert!(keeps, "{name} keeps the lints of the workspace");
    }
}

/// A participle says neither who does something nor what is done.
const NO_NAMES: [&str; 5] = ["told", "asked", "known", "answered", "handled"];

/// Whether a line defines a function of one of these names.
fn is_named_badly(line: &str) -> bool {
    let Some((_, after)) = line.split_once("fn ") else { return false };
    let name: String = after.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
    let is_definition = after[name.len()..].starts_with(['(', '<']);
    is_definition && NO_NAMES.contains(&name.as_str())
}

#[test]
fn functions_are_named_by_what_they_do() {
    for (line, expected) in [
        ("pub(crate) async fn told(&self)", true),
        ("fn known<T>(of: T)", true),
        ("fn told_money(columns: u8)", false),
        ("// each fn asked for", false),
    ] {
        assert_eq!(is_named_badly(line), expected, "{line}");
    }
    none(lines_where(|name, line| !name.ends_with("house/source_rules.rs") && is_named_badly(line)));
}
