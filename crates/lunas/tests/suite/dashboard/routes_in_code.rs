//! The addresses of the dashboard as its code declares them.

use std::{collections::BTreeSet, fs, path::Path};

/// Every `.route(…)` of the dashboard's code, as a path and a method. A path is a text, or a constant of that file or
/// of the one above.
pub(super) fn routes_in_code() -> BTreeSet<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dashboard/src");
    let mut found = BTreeSet::new();
    for (file, code) in sources(&folder) {
        let constant = |name: &str, code: &str| {
            let definition = code.split(&format!("const {name}: &str = \"")).nth(1)?;
            definition.split('"').next().map(str::to_owned)
        };
        let above = file.parent().unwrap().join("mod.rs");
        for call in code.split(".route(").skip(1) {
            let (argument, rest) = call.trim_start().split_once(',').unwrap();
            let methods: Vec<&str> = ["get", "post"]
                .into_iter()
                .filter(|method| rest.lines().next().unwrap().contains(&format!("{method}(")))
                .collect();
            let path = match argument.strip_prefix('"') {
                Some(text) => text.trim_end_matches('"').to_owned(),
                // The decisions about a project are one line of code, and so are those about a user.
                None if argument.starts_with("&format!") => {
                    let (subject, decisions): (_, &[&str]) = match argument.contains("{{user}}") {
                        true => ("users/{user}", &["activate", "deactivate", "remove"]),
                        false => ("projects/{project}", &["approve", "withdraw-approval", "activate", "deactivate"]),
                    };
                    for word in decisions {
                        for method in ["GET", "POST"] {
                            let path = format!("/dashboard/operator/{subject}/{word}");
                            found.insert((path, method.to_owned()));
                        }
                    }
                    continue;
                }
                None => constant(argument, &code)
                    .or_else(|| constant(argument, &fs::read_to_string(&above).unwrap()))
                    .unwrap_or_else(|| panic!("what is {argument} in {}?", file.display())),
            };
            assert!(!methods.is_empty(), "{path} in {}: a route says its methods on the same line", file.display());
            found.extend(methods.iter().map(|method| (path.clone(), method.to_uppercase())));
        }
    }
    found
}

fn sources(folder: &Path) -> Vec<(std::path::PathBuf, String)> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources.extend(self::sources(&path)),
            false => sources.push((path.clone(), fs::read_to_string(&path).unwrap())),
        }
    }
    sources
}
