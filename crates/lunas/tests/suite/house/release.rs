//! Everything that names the version names the same one, and releases are recorded.

use std::fs;

use super::source_rules::none;
use crate::support::repository::root;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

#[test]
fn clients_documents_and_the_changelog_name_the_version_of_the_program() {
    let (line, _) = VERSION.rsplit_once('.').unwrap();
    let named = [
        ("clients/php/src/Transport.php", format!("'lunas-client-php/{VERSION}'")),
        ("clients/python/pyproject.toml", format!("\nversion = \"{VERSION}\"\n")),
        ("clients/python/lunas/transport.py", format!("\"lunas-client-python/{VERSION}\"")),
        ("clients/typescript/package.json", format!("\"version\": \"{VERSION}\"")),
        ("clients/typescript/src/transport.js", format!("\"lunas-client-typescript/{VERSION}\"")),
        ("docs/install.md", format!("lunas_{VERSION}-1_amd64.deb")),
        ("docs/install.md", format!("lunas-{VERSION}-x86_64-linux.tar.gz")),
        ("SECURITY.md", format!("at present that is the line {line}.")),
        ("CHANGELOG.md", format!("\n## {VERSION} — ")),
    ];
    let missing = named.iter().filter(|(file, words)| !text(file).contains(words));
    none(missing.map(|(file, words)| format!("{file} does not name {words:?}")).collect());
}

/// A commit cannot name itself, so a version's line follows with the next commit; the changelog has its section before.
#[test]
fn each_recorded_release_has_a_version_of_the_changelog_a_date_and_a_whole_commit() {
    let (changelog, releases) = (text("CHANGELOG.md"), text("packaging/releases"));
    let lines: Vec<&str> = releases.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(!lines.is_empty());
    let is_wrong = |line: &&&str| {
        let [version, date, commit] = line.split(' ').collect::<Vec<_>>()[..] else { return true };
        let is_hash = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        !is_hash || !changelog.contains(&format!("\n## {version} — {date}\n"))
    };
    none(lines.iter().filter(is_wrong).map(|line| format!("packaging/releases: {line}")).collect());
}

/// Packages are built by a profile that inherits from `release`, and would take over what that leaves out.
#[test]
fn packages_optimise_every_crate_that_a_build_to_try_leaves_unoptimised() {
    let manifest = text("Cargo.toml");
    let (_, release) = manifest.split_once("\n[profile.release.package]\n").unwrap();
    let (release, dist) = release.split_once("\n[profile.dist.package]\n").unwrap();
    let left: Vec<&str> = release.lines().filter_map(|line| line.strip_suffix(" = { opt-level = 0 }")).collect();
    assert!(!left.is_empty());
    let is_left = |name: &&&str| !dist.lines().any(|line| line == format!("{name} = {{ opt-level = 3 }}"));
    none(left.iter().filter(is_left).map(|name| format!("the profile dist leaves {name} unoptimised")).collect());
}
