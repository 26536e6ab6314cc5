//! What the documents say about the source tree is true.

use std::fs;

use super::source_rules::none;
use crate::support::repository::root;

/// The documents that lead readers to files of the source.
const DOCUMENTS: [&str; 6] = [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/contract.md",
    "docs/invariants.md",
    "docs/operating.md",
];

/// The paths of source files in a text: what stands between back quotes, has a folder and ends like a source file.
fn paths(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_path = |quoted: &&str| {
        let plain = quoted.chars().all(|character| character.is_ascii_alphanumeric() || "/_.-".contains(character));
        // What begins with a slash is on the machine of an operator.
        let is_ours = quoted.contains('/') && !quoted.starts_with('/');
        plain && is_ours && [".rs", ".html", ".css", ".toml"].iter().any(|ending| quoted.ends_with(ending))
    };
    quoted.filter(is_path).collect()
}

#[test]
fn every_source_file_that_the_documents_name_is_there() {
    let mut missing = Vec::new();
    let mut seen = 0;
    for document in DOCUMENTS {
        let text = fs::read_to_string(root().join(document)).unwrap();
        // Pieces of code between three back quotes would make quoted and plain text change places.
        let prose: String = text.split("```").step_by(2).collect();
        for path in paths(&prose) {
            seen += 1;
            let homes = ["", "crates", "crates/lunas/tests/suite"];
            if !homes.iter().any(|home| root().join(home).join(path).exists()) {
                missing.push(format!("{document} names {path}"));
            }
        }
    }
    assert!(seen > 50, "{seen} paths");
    none(missing);
}
