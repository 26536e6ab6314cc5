//! Names the commit that the program is built from, for `lunas --version`: the one that LUNAS_COMMIT states, or else the one that
//! Git has checked out here. A source archive has no repository, so without LUNAS_COMMIT its program names the version alone.

use std::{env, error::Error, path::Path, process::Command};

/// States the commit of a source archive, for those who build packages from it.
const STATED_COMMIT: &str = "LUNAS_COMMIT";
/// How many digits of a commit are shown. Git shows more where these do not name one commit.
const DIGITS: usize = 7;
/// Where this crate is in our repository. Sources that were unpacked inside of another repository are not of its commits.
const PLACE: &str = "crates/lunas/";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={STATED_COMMIT}");
    let stated = env::var(STATED_COMMIT).unwrap_or_default();
    let commit = if stated.is_empty() { checked_out_commit() } else { Some(shorten(&stated)?) };
    let version = env::var("CARGO_PKG_VERSION")?;
    let named = commit.map_or_else(|| version.clone(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=LUNAS_VERSION={named}");
    Ok(())
}

fn shorten(stated: &str) -> Result<String, String> {
    match stated.get(..DIGITS) {
        Some(short) if stated.bytes().all(|byte| byte.is_ascii_hexdigit()) => Ok(short.to_ascii_lowercase()),
        _ => Err(format!("{STATED_COMMIT} must be the hash of a commit, {DIGITS} digits of it or more: {stated}")),
    }
}

/// The commit that is checked out, if this is our repository. Cargo asks again when another one is.
fn checked_out_commit() -> Option<String> {
    let lines = git(&["--show-prefix", &format!("--short={DIGITS}"), "HEAD"])?;
    let commit = lines.strip_prefix(PLACE)?.trim().to_owned();
    let branch = git(&["--symbolic-full-name", "HEAD"])?;
    // Git writes its log of HEAD at every move, if it keeps one; a branch has no file of its own while it is packed.
    let files = git(&["--git-path", "HEAD", "--git-path", "logs/HEAD", "--git-path", branch.trim()])?;
    // A file that is missing would make Cargo build the crate again each time.
    for file in files.lines().filter(|file| Path::new(file).exists()) {
        println!("cargo::rerun-if-changed={file}");
    }
    Some(commit)
}

/// What `git rev-parse` prints, if there is Git and it knows. A hook of another repository must not choose ours.
fn git(arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("rev-parse").args(arguments).env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}
