//! The house rules, checked over the source tree itself.

use std::fs;

use crate::support::repository::{files, root};

const LINES_MOST: usize = 500;
/// What the crates below the server must not know, so that each keeps to its one sentence.
const FORBIDDEN: [(&str, &[&str]); 5] = [
    (
        "domain",
        &[
            "tokio",
            "axum",
            "hyper",
            "rusqlite",
            "tokio-postgres",
            "serde",
            "serde_json",
            "reqwest",
            "store",
            "gateway",
            "engine",
            "server",
        ],
    ),
    ("store", &["axum", "hyper", "reqwest", "gateway", "engine", "server"]),
    ("gateway", &["axum", "rusqlite", "tokio-postgres", "store", "engine", "server"]),
    ("engine", &["axum", "hyper", "rusqlite", "tokio-postgres", "askama", "server"]),
    ("server", &["rusqlite", "tokio-postgres"]),
];

/// The lines that `wrong` objects to, as `file:line: text`.
fn lines_where(wrong: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, text) in files(".rs") {
        let numbered = text.lines().enumerate().filter(|(_, line)| wrong(&name, line));
        lines.extend(numbered.map(|(number, line)| format!("{name}:{}: {}", number + 1, line.trim())));
    }
    lines
}

/// Put together here, so that this file does not break its own rules.
fn joined(parts: &[&str]) -> String {
    parts.concat()
}

pub(super) fn none(found: Vec<String>) {
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn one_place_asks_what_time_it_is() {
    let asks = [joined(&["System", "Time::now"]), joined(&["Utc", "::now"]), joined(&["Timestamp", "::now"])];
    let more = [joined(&["Zoned", "::now"]), joined(&["Local", "::now"]), joined(&["Offset", "DateTime::now"])];
    let wrong = |name: &str, line: &str| {
        name != "crates/engine/src/clock.rs" && asks.iter().chain(&more).any(|asks| line.contains(asks))
    };
    none(lines_where(wrong));
    let clock = fs::read_to_string(root().join("crates/engine/src/clock.rs")).unwrap();
    assert!(clock.contains(&asks[0]), "the one place is where this rule says");
}

#[test]
fn no_file_has_more_than_500_lines() {
    let long = files(".rs").into_iter().map(|(name, text)| (name, text.lines().count()));
    none(long.filter(|(_, lines)| *lines > LINES_MOST).map(|(name, lines)| format!("{name}: {lines} lines")).collect());
}

#[test]
fn nothing_is_left_to_do_later() {
    let marks = [joined(&["TO", "DO"]), joined(&["FIX", "ME"])];
    let macros = [joined(&["to", "do!("]), joined(&["unimpl", "emented!("]), joined(&["db", "g!("])];
    none(lines_where(|_, line| marks.iter().chain(&macros).any(|mark| line.contains(mark))));
}

#[test]
fn no_key_stands_in_the_source() {
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

/// The names under `[dependencies]` and its variants; development may use more.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            inside = section.ends_with("dependencies") && !section.ends_with("dev-dependencies");
            if let Some(name) = section.strip_prefix("dependencies.") {
                names.push(name.to_owned());
            }
        } else if inside && let Some((name, _)) = line.split_once(['=', '.']) {
            names.push(name.trim().trim_matches('"').to_owned());
        }
    }
    names
}

#[test]
fn every_crate_depends_only_on_what_it_may_know() {
    let mut broken = Vec::new();
    for (name, forbidden) in FORBIDDEN {
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
        let known = dependencies(&manifest);
        assert!(!known.is_empty(), "{name} depends on something");
        let wrong = known.into_iter().filter(|known| forbidden.contains(&known.as_str()));
        broken.extend(wrong.map(|known| format!("{name} depends on {known}")));
    }
    none(broken);
    assert_eq!(dependencies("[dependencies]\naxum.workspace = true\n[dev-dependencies]\nx = \"1\""), ["axum"]);
}

#[test]
fn what_is_for_development_only_stays_there() {
    let mut broken = Vec::new();
    for name in FORBIDDEN.map(|(name, _)| name) {
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
        let wrong = dependencies(&manifest)
            .into_iter()
            .filter(|known| ["testkit", "tempfile", "proptest"].contains(&known.as_str()));
        broken.extend(wrong.map(|known| format!("{name} depends on {known}")));
    }
    none(broken);
}

#[test]
fn no_crate_may_write_unsafe_code_or_leave_the_house_lints() {
    for (name, text) in files("Cargo.toml") {
        let keeps = text.contains("[lints]\nworkspace = true") || text.contains("unsafe_code = \"forbid\"");
        assert!(keeps, "{name} keeps the lints of the workspace");
    }
}
