//! Which commit a build names: `build.rs` runs in source trees as people have them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;
use testkit::Ran;

use crate::support::{commands::git, repository::root};

const VERSION: &str = "cargo::rustc-env=LUNAS_VERSION=";
const WATCHED: &str = "cargo::rerun-if-changed=";

/// The build script as a program, and a directory for source trees.
struct BuildScript {
    directory: TempDir,
}

impl BuildScript {
    fn compile() -> BuildScript {
        let directory = tempfile::tempdir().unwrap();
        let mut compiler = Command::new("rustc");
        compiler.args(["--edition", "2024", "--crate-name", "build_script", "-o"]);
        let source = root().join("crates/lunas/build.rs");
        let ran: Ran = compiler.arg(directory.path().join("script")).arg(source).output().unwrap().into();
        assert_eq!(ran.code, 0, "{ran:?}");
        BuildScript { directory }
    }

    /// A source tree, which is no repository.
    fn tree(&self, name: &str) -> PathBuf {
        let tree = self.directory.path().join(name);
        fs::create_dir_all(tree.join("crates/lunas")).unwrap();
        fs::write(tree.join("crates/lunas/build.rs"), "").unwrap();
        tree
    }

    fn run(&self, tree: &Path, commit: &str) -> Ran {
        let mut command = Command::new(self.directory.path().join("script"));
        command.current_dir(tree.join("crates/lunas")).env("CARGO_PKG_VERSION", "9.8.7").env("LUNAS_COMMIT", commit);
        command.output().unwrap().into()
    }

    /// The version that a build in the tree names, if LUNAS_COMMIT is `commit`.
    fn version(&self, tree: &Path, commit: &str) -> String {
        let ran = self.run(tree, commit);
        let version = ran.stdout.lines().find_map(|line| line.strip_prefix(VERSION));
        version.unwrap_or_else(|| panic!("{ran:?}")).to_owned()
    }

    /// The content of the files at whose change Cargo runs the script again. All of them are there.
    fn read_watched_files(&self, tree: &Path) -> Vec<Vec<u8>> {
        let ran = self.run(tree, "");
        let files = ran.stdout.lines().filter_map(|line| line.strip_prefix(WATCHED));
        files.map(|file| fs::read(tree.join("crates/lunas").join(file)).unwrap()).collect()
    }
}

fn make_repository(directory: &Path) {
    git(directory, &["init", "--quiet", "--initial-branch=main"]);
    git(directory, &["add", "."]);
    commit(directory);
}

fn commit(directory: &Path) {
    git(directory, &["commit", "--quiet", "--allow-empty", "--message=More"]);
}

fn head(directory: &Path) -> String {
    git(directory, &["rev-parse", "--short=7", "HEAD"]).trim().to_owned()
}

#[test]
fn a_build_from_an_archive_names_the_commit_that_is_stated_or_none() {
    let script = BuildScript::compile();
    let tree = script.tree("archive");
    assert_eq!(script.version(&tree, ""), "9.8.7");
    assert_eq!(script.version(&tree, "1a2b3c4"), "9.8.7 (1a2b3c4)");
    assert_eq!(script.version(&tree, &"1A2B3C4D".repeat(5)), "9.8.7 (1a2b3c4)");
    for wrong in ["1a2b3c", "release", "1a2b3c4 (x)"] {
        let ran = script.run(&tree, wrong);
        assert_ne!(ran.code, 0, "{ran:?}");
        assert!(ran.stderr.contains("LUNAS_COMMIT must be the hash of a commit"), "{ran:?}");
    }
}

#[test]
fn an_archive_that_was_unpacked_inside_of_another_repository_has_no_commit() {
    let script = BuildScript::compile();
    let tree = script.tree("theirs/archive");
    make_repository(tree.parent().unwrap());
    assert_eq!(script.version(&tree, ""), "9.8.7");
}

#[test]
fn a_build_in_a_checkout_names_its_commit_and_notices_the_next_one() {
    let script = BuildScript::compile();
    let tree = script.tree("repository");
    make_repository(&tree);
    let beside = script.directory.path().join("beside");
    git(&tree, &["worktree", "add", "--quiet", "-b", "topic", beside.to_str().unwrap()]);
    let detached = script.directory.path().join("detached");
    git(&tree, &["worktree", "add", "--quiet", "--detach", detached.to_str().unwrap()]);
    // Branches have no files of their own after this, as in a repository that Git has tidied up.
    git(&tree, &["pack-refs", "--all"]);
    for checkout in [&tree, &beside, &detached] {
        for _ in 0..2 {
            assert_eq!(script.version(checkout, ""), format!("9.8.7 ({})", head(checkout)));
            let before = script.read_watched_files(checkout);
            assert_eq!(before, script.read_watched_files(checkout));
            commit(checkout);
            assert_ne!(before, script.read_watched_files(checkout));
        }
    }
    assert_eq!(script.version(&tree, "1a2b3c4"), "9.8.7 (1a2b3c4)", "what is stated goes first");
}
