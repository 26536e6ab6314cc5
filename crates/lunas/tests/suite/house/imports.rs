//! No crate has a circle of imports: of two files, at most one knows the other, directly or by way of more files. A file
//! knows what its `use` lines import and what its code names by a path.

use super::{module_graph::ModuleGraph, source_rules::none};
use crate::support::repository;

/// The circles in a made-up crate: the path of each file under `src`, and its text.
fn circles(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<_> = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    ModuleGraph::read(&files).circles()
}

const NO_CIRCLE: [&str; 0] = [];

#[test]
fn no_crate_has_a_circle_of_imports() {
    let mut all_files = repository::files(".rs");
    all_files.sort();
    let mut found = Vec::new();
    for name in repository::crates() {
        let folder = format!("crates/{name}/src/");
        let files = all_files.iter().filter_map(|(path, text)| Some((path.strip_prefix(&folder)?, text)));
        let files: Vec<(String, String)> = files.map(|(path, text)| (path.to_owned(), text.clone())).collect();
        assert!(!files.is_empty(), "{folder} has files");
        found.extend(ModuleGraph::read(&files).circles().into_iter().map(|circle| format!("{folder}: {circle}")));
    }
    none(found);
}

#[test]
fn a_circle_of_three_files_in_different_folders_is_named() {
    let found = circles(&[
        ("lib.rs", "mod account; mod desk; mod front; pub struct House;"),
        ("account.rs", "use std::fmt;\nuse crate::{House, front::{self as door, forms::{\n    Form,\n    Field,\n}}};"),
        ("desk/mod.rs", "mod reads;"),
        ("desk/reads.rs", "use crate::House; fn late() { if true { use super::super::account::Account; } }"),
        ("front.rs", "pub mod forms;"),
        ("front/forms.rs", "use crate::desk::reads::Read;"),
    ]);
    let circle = "account.rs → front/forms.rs → desk/reads.rs → account.rs";
    assert_eq!(found, [format!("3 files import each other; the shortest circle is {circle}")]);
}

#[test]
fn a_name_that_is_passed_on_counts_where_it_is_defined() {
    let passing_on = ["pub use keys::Key;", "pub use self::keys::{Key, Keys};", "pub use keys::*;", "use keys::Key;"];
    for passed_on in passing_on {
        let found = circles(&[
            ("desk.rs", "use crate::Key; pub struct Desk;"),
            ("keys.rs", "use crate::desk::Desk; pub struct Key;"),
            ("lib.rs", &format!("mod desk; mod keys; {passed_on}")),
        ]);
        assert_eq!(
            found,
            ["2 files import each other; the shortest circle is desk.rs → keys.rs → desk.rs"],
            "{passed_on}"
        );
    }
}

#[test]
fn a_child_may_import_its_parent_as_long_as_the_parent_does_not_import_it() {
    let check = |parent: &str| {
        circles(&[
            ("lib.rs", "mod engine;"),
            ("engine.rs", parent),
            ("engine/keys.rs", "use super::Engine; impl Engine { pub fn key() {} } pub struct Key;"),
        ])
    };
    assert_eq!(check("mod keys; pub struct Engine;"), NO_CIRCLE);
    assert_eq!(check("mod keys; pub use keys::Key; pub struct Engine;"), NO_CIRCLE);
    let circle = "engine.rs → engine/keys.rs → engine.rs";
    for parent in ["use self::keys::Key; pub struct Engine(Key);", "pub struct Engine(keys::Key);"] {
        assert_eq!(
            check(&format!("mod keys; {parent}")),
            [format!("2 files import each other; the shortest circle is {circle}")],
            "{parent}"
        );
    }
}

#[test]
fn a_circle_by_a_path_within_code_is_named() {
    for code in [
        "pub struct Desk { key: crate::keys::Key }",
        "pub struct Desk(Vec<super::keys::Key>);",
        "pub struct Desk; impl Desk { fn open() { if true { crate::keys::Key::new(1) } } }",
        "pub struct Desk; fn open() { let _ = Vec::<crate::keys::Key>::new(); }",
        "pub struct Desk; mod drawer { type Key = super::super::keys::Key; }",
        "#[shown(by = crate::keys::Key)] pub struct Desk;",
    ] {
        let found = circles(&[
            ("desk.rs", code),
            ("keys.rs", "use crate::desk::Desk; pub struct Key;"),
            ("lib.rs", "mod desk; mod keys;"),
        ]);
        assert_eq!(found, ["2 files import each other; the shortest circle is desk.rs → keys.rs → desk.rs"], "{code}");
    }
}

#[test]
fn a_path_that_begins_with_an_imported_name_counts_where_the_name_is_defined() {
    let check = |desk: &str| {
        circles(&[
            ("desk.rs", desk),
            ("lib.rs", "mod desk; mod words; pub use words::Key;"),
            ("words.rs", "mod keys; pub use keys::Key;"),
            ("words/keys.rs", "use crate::desk::Desk; pub struct Key;"),
        ])
    };
    let circle = "desk.rs → words/keys.rs → desk.rs";
    let found = [format!("2 files import each other; the shortest circle is {circle}")];
    assert_eq!(check("use crate::words; pub struct Desk(words::Key);"), found);
    assert_eq!(check("use crate::words as terms; pub struct Desk(terms::Key);"), found);
    assert_eq!(check("pub struct Desk(crate::Key);"), found);
    assert_eq!(check("use crate::words; pub struct Desk;"), NO_CIRCLE);
    assert_eq!(check("use dictionary::words; pub struct Desk(words::Key);"), NO_CIRCLE, "of another crate");
}

#[test]
fn paths_in_comments_texts_visibilities_and_unit_tests_do_not_count() {
    let found = circles(&[
        ("lib.rs", "mod engine;"),
        ("engine.rs", "mod keys; pub struct Engine(keys::Key);"),
        (
            "engine/keys.rs",
            "//! As crate::engine::Engine has it.\n/* super::Engine::new() */\npub(in crate::engine) struct Key;\n\
             const NAME: &str = \"crate::engine::Engine\";\nconst RAW: &str = r#\"\"super::Engine::new()\"#;\n\
             #[cfg(test)] fn sample() -> super::Engine { super::Engine::new() }\n\
             #[cfg(test)] mod tests { fn engine() { crate::engine::Engine::new(); } }",
        ),
    ]);
    assert_eq!(found, NO_CIRCLE);
}

#[test]
fn a_crate_whose_arrows_run_one_way_has_no_circle() {
    let found = circles(&[
        ("lib.rs", "mod desk; mod keys; pub mod words { pub use crate::keys::Key; } pub use desk::Desk;"),
        ("main.rs", "use house::Desk;"),
        ("desk.rs", "use crate::{keys::Key as Named, words}; use serde::Serialize; pub struct Desk;"),
        (
            "keys.rs",
            "// use crate::desk::Desk;\n/* use crate::desk::Desk; */ const A: &str = \"use crate::desk::Desk;\";",
        ),
    ]);
    assert_eq!(found, NO_CIRCLE);
}

#[test]
fn what_only_unit_tests_import_does_not_count() {
    let check = |tests: &str| {
        circles(&[
            ("desk.rs", "use crate::keys::Key; pub struct Desk;"),
            ("keys.rs", &format!("pub struct Key; const QUOTE: char = '\"'; {tests} const MORE: &[&str] = &[];")),
            ("keys/tests.rs", "use crate::desk::Desk;"),
            ("lib.rs", "mod desk; mod keys; #[cfg(test)] use crate::desk::Desk;"),
        ])
    };
    assert_eq!(check("#[cfg(test)] mod tests { use crate::desk::Desk; }"), NO_CIRCLE);
    assert_eq!(check("#[cfg(test)]\nmod tests; use tests::Sample;"), NO_CIRCLE);
    let circle = "desk.rs → keys.rs → desk.rs";
    let found = [format!("2 files import each other; the shortest circle is {circle}")];
    assert_eq!(check("mod tests { use crate::desk::Desk; }"), found, "the check sees what is for more than tests");
}
