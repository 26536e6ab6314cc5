//! The source tree that the tests were built from.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The names of our crates.
pub(crate) fn crates() -> BTreeSet<String> {
    let folders = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let crates = folders.filter(|folder| folder.join("Cargo.toml").exists());
    crates.map(|folder| folder.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

/// Every file under `crates` whose name ends in `ending`: its path from the root, and its text.
pub(crate) fn files(ending: &str) -> Vec<(String, String)> {
    let (mut found, mut folders) = (Vec::new(), vec![root().join("crates")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_str().unwrap().ends_with(ending) {
                let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(!found.is_empty(), "there are files that end in {ending}");
    found
}
