//! Both languages of every surface with pages, and of letters, have the same texts with the same variables.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use crate::support::repository::root;

/// The surfaces with pages, and letters: the name of each crate, which is that of its Fluent files too.
pub(super) const SURFACES: [&str; 4] = ["checkout", "dashboard", "letters", "site"];
pub(super) const LANGUAGES: [&str; 2] = ["id", "en"];
/// Each surface has more texts than this, so that a check of an empty file would be noticed.
const TEXTS_LEAST: [usize; SURFACES.len()] = [100, 100, 100, 40];

/// The keys of a Fluent file, each with the variables of its text. Whether the file is well-formed, the loader checks.
fn keys(file: &str, text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut key = None;
    for line in text.lines() {
        if line.starts_with(|first: char| first.is_ascii_lowercase()) {
            let name = line.split_once(" =").unwrap().0.to_owned();
            assert!(keys.insert(name.clone(), BTreeSet::new()).is_none(), "{file} has {name} twice");
            key = Some(name);
        } else if !line.starts_with(' ') && !line.starts_with('}') {
            key = None;
        }
        let variables = line.split('$').skip(1).filter_map(|rest| rest.split([' ', '}']).next());
        if let Some(key) = &key {
            keys.entry(key.clone()).or_default().extend(variables.map(str::to_owned));
        }
    }
    keys
}

#[test]
fn both_languages_of_each_surface_have_the_same_texts_with_the_same_variables() {
    for (surface, least) in SURFACES.into_iter().zip(TEXTS_LEAST) {
        let [indonesian, english] = LANGUAGES.map(|language| {
            let file = format!("crates/{surface}/locales/{language}/{surface}.ftl");
            keys(&file, &fs::read_to_string(root().join(&file)).unwrap())
        });
        assert!(indonesian.len() > least, "{surface} has {} texts", indonesian.len());
        assert_eq!(indonesian, english, "{surface}");
    }
}

#[test]
fn every_crate_with_texts_is_checked() {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let with_texts = crates.filter(|path| path.join("locales").exists());
    let names: BTreeSet<String> =
        with_texts.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(names, SURFACES.map(str::to_owned).into());
}
