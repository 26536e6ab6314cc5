//! Which crates each of our crates may depend on: the drawing in ARCHITECTURE.md, as far as a Cargo.toml can break it.

use std::{collections::BTreeSet, fs};

use super::source_rules::none;
use crate::support::repository::{crates, root};

struct Rule {
    name: &'static str,
    /// Our own crates that it may depend on.
    may_use: &'static [&'static str],
    /// Other people's crates that it must not depend on, so that it keeps to its one job.
    must_not_use: &'static [&'static str],
}

/// Every crate that is part of what we ship. What Cargo.toml names for tests alone is not looked at.
const RULES: [Rule; 16] = [
    Rule {
        name: "domain",
        may_use: &[],
        must_not_use: &[
            "askama",
            "axum",
            "hyper",
            "reqwest",
            "rusqlite",
            "serde",
            "serde_json",
            "tokio",
            "tokio-postgres",
            "utoipa",
        ],
    },
    Rule {
        name: "wire",
        may_use: &["domain", "picture"],
        must_not_use: &["askama", "axum", "hyper", "reqwest", "rusqlite", "tokio", "tokio-postgres"],
    },
    Rule {
        name: "picture",
        may_use: &["domain"],
        must_not_use: &["askama", "axum", "hyper", "reqwest", "rusqlite", "serde_json", "tokio", "tokio-postgres"],
    },
    Rule {
        name: "wording",
        may_use: &["domain"],
        must_not_use: &["askama", "axum", "hyper", "reqwest", "rusqlite", "serde_json", "tokio", "tokio-postgres"],
    },
    Rule {
        name: "letters",
        may_use: &["domain", "wording"],
        must_not_use: &["axum", "hyper", "reqwest", "rusqlite", "serde_json", "tokio", "tokio-postgres"],
    },
    Rule { name: "store", may_use: &["domain"], must_not_use: &["askama", "axum", "hyper", "reqwest", "serde_json"] },
    Rule { name: "gateway", may_use: &["domain"], must_not_use: &["askama", "axum", "rusqlite", "tokio-postgres"] },
    Rule {
        name: "engine",
        may_use: &["domain", "gateway", "letters", "picture", "store", "wire"],
        must_not_use: &["askama", "axum", "hyper", "reqwest", "rusqlite", "tokio-postgres"],
    },
    Rule {
        name: "web",
        may_use: &["domain", "engine", "wording"],
        must_not_use: &["reqwest", "rusqlite", "tokio-postgres"],
    },
    Rule {
        name: "api",
        may_use: &["domain", "engine", "web", "wire"],
        must_not_use: &["askama", "reqwest", "rusqlite", "tokio-postgres"],
    },
    Rule {
        name: "checkout",
        may_use: &["domain", "engine", "picture", "web"],
        must_not_use: &["reqwest", "rusqlite", "tokio-postgres", "utoipa"],
    },
    Rule {
        name: "dashboard",
        may_use: &["domain", "engine", "picture", "web", "wire"],
        must_not_use: &["reqwest", "rusqlite", "tokio-postgres", "utoipa"],
    },
    Rule {
        name: "site",
        may_use: &["domain", "web"],
        must_not_use: &["reqwest", "rusqlite", "tokio-postgres", "utoipa"],
    },
    Rule {
        name: "snap",
        may_use: &["domain", "engine", "gateway", "web"],
        must_not_use: &["askama", "reqwest", "rusqlite", "tokio-postgres", "utoipa"],
    },
    // The rehearsal bank shares no code with what it tests.
    Rule { name: "demobank", may_use: &[], must_not_use: &["hmac", "rusqlite", "sha2", "tokio-postgres"] },
    Rule {
        name: "lunas",
        may_use: &[
            "api",
            "checkout",
            "dashboard",
            "demobank",
            "domain",
            "engine",
            "gateway",
            "site",
            "snap",
            "store",
            "web",
            "wire",
        ],
        must_not_use: &["askama", "rusqlite", "tokio-postgres"],
    },
];

/// Crates of ours that only development needs. No crate that we ship may depend on one.
const FOR_DEVELOPMENT: [&str; 3] = ["bench", "pgcluster", "testkit"];

/// Other people's crates that only tests need.
const FOR_TESTS: [&str; 2] = ["proptest", "tempfile"];

/// The names under `[dependencies]` and its variants, without those for tests alone.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            inside = section.ends_with("dependencies") && !section.ends_with("dev-dependencies");
            if let Some(name) = section.strip_prefix("dependencies.") {
                names.insert(name.to_owned());
            }
        } else if inside && let Some((name, _)) = line.split_once(['=', '.']) {
            names.insert(name.trim().trim_matches('"').to_owned());
        }
    }
    names
}

fn dependencies_of(name: &str) -> BTreeSet<String> {
    let path = root().join("crates").join(name).join("Cargo.toml");
    dependencies(&fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

#[test]
fn a_manifest_is_read_without_what_is_for_tests_alone() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\naxum.workspace = true\nserde = { version = \"1\" }\n\
                    [dependencies.url]\nversion = \"2\"\n[build-dependencies]\ncc = \"1\"\n\
                    [dev-dependencies]\ntempfile = \"3\"";
    assert_eq!(dependencies(manifest).into_iter().collect::<Vec<_>>(), ["axum", "cc", "serde", "url"]);
}

#[test]
fn every_crate_has_its_place_in_the_drawing() {
    let named = RULES.iter().map(|rule| rule.name).chain(FOR_DEVELOPMENT);
    assert_eq!(named.map(str::to_owned).collect::<BTreeSet<_>>(), crates());
}

#[test]
fn every_crate_depends_only_on_what_it_may_know() {
    let ours = crates();
    let mut broken = Vec::new();
    for rule in RULES {
        let wrong = dependencies_of(rule.name).into_iter().filter(|name| {
            let is_ours = ours.contains(name) && !rule.may_use.contains(&name.as_str());
            is_ours || rule.must_not_use.contains(&name.as_str()) || FOR_TESTS.contains(&name.as_str())
        });
        broken.extend(wrong.map(|name| format!("{} depends on {name}", rule.name)));
    }
    none(broken);
}
