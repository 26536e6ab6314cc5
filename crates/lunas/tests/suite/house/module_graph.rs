//! Which files of a crate import from which others, and the circles among them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::use_lines::{Import, InlinePath, Source};

/// Names of modules from the crate's root down to one of them.
type ModulePath = Vec<String>;

/// The modules of a crate and the files that they stand in.
pub(super) struct ModuleGraph {
    /// The names of the files, as they are told to people.
    files: Vec<String>,
    /// The module that each file is.
    modules_of_files: Vec<ModulePath>,
    sources: Vec<Source>,
    /// The file that each module stands in; inline modules stand in that of their parent.
    files_of_modules: BTreeMap<ModulePath, usize>,
}

impl ModuleGraph {
    /// Reads a crate: the path of each file under `src`, and its text.
    pub(super) fn read(files: &[(String, String)]) -> ModuleGraph {
        let sources: Vec<(ModulePath, &String, Source)> =
            files.iter().map(|(path, text)| (module_of(path), path, Source::read(text))).collect();
        let below = |module: &ModulePath, more: &ModulePath| [&module[..], &more[..]].concat();
        let for_tests: Vec<ModulePath> = sources
            .iter()
            .flat_map(|(module, _, source)| source.test_modules.iter().map(move |more| below(module, more)))
            .collect();
        let mut graph = ModuleGraph {
            files: Vec::new(),
            modules_of_files: Vec::new(),
            sources: Vec::new(),
            files_of_modules: BTreeMap::new(),
        };
        for (module, path, source) in sources {
            if for_tests.iter().any(|test| module.starts_with(test)) {
                continue;
            }
            let file = graph.files.len();
            // A library's root comes before that of a program beside it, which nobody imports from.
            graph.files_of_modules.entry(module.clone()).or_insert(file);
            for inline in &source.inline_modules {
                graph.files_of_modules.insert(below(&module, inline), file);
            }
            graph.files.push(path.clone());
            graph.modules_of_files.push(module);
            graph.sources.push(source);
        }
        graph
    }

    /// One sentence for each group of files that import each other, with a shortest way round.
    pub(super) fn circles(&self) -> Vec<String> {
        let arrows: Vec<BTreeSet<usize>> = (0..self.files.len()).map(|file| self.imported_by(file)).collect();
        let mut circles: Vec<Vec<usize>> = (0..self.files.len()).filter_map(|file| way_back(&arrows, file)).collect();
        circles.sort_by_key(Vec::len);
        let mut told = BTreeSet::new();
        let mut sentences = Vec::new();
        for circle in circles {
            if told.contains(&circle[0]) {
                continue;
            }
            let reached = reached_from(&arrows, circle[0]);
            let group: BTreeSet<usize> =
                reached.keys().copied().filter(|file| reached_from(&arrows, *file).contains_key(&circle[0])).collect();
            let names: Vec<&str> = circle.iter().chain(&circle[..1]).map(|file| self.files[*file].as_str()).collect();
            sentences.push(format!(
                "{} files import each other; the shortest circle is {}",
                group.len(),
                names.join(" → ")
            ));
            told.extend(group);
        }
        sentences
    }

    /// The other files that a file imports from, or names by a path within its code.
    fn imported_by(&self, file: usize) -> BTreeSet<usize> {
        let module = &self.modules_of_files[file];
        let imports = self.sources[file].imports.iter();
        let targets = imports.filter_map(|import| {
            let target = self.file_behind(&self.absolute(file, import)?, &mut BTreeSet::new())?;
            // A parent that passes on what its children define knows nothing of it.
            let is_passed_on = import.is_public && self.modules_of_files[target].starts_with(module);
            (target != file && !is_passed_on).then_some(target)
        });
        let inline_paths = self.sources[file].inline_paths.iter();
        let named = inline_paths.filter_map(|inline| {
            let target = self.file_behind(&self.origin(file, inline)?, &mut BTreeSet::new())?;
            (target != file).then_some(target)
        });
        targets.chain(named).collect()
    }

    /// The path of an import from the crate's root; `None` for what comes from another crate.
    fn absolute(&self, file: usize, import: &Import) -> Option<ModulePath> {
        self.path_from_root(file, &import.inside, &import.path)
    }

    /// The same for a path within code, whose first word may be an imported name.
    fn origin(&self, file: usize, inline: &InlinePath) -> Option<ModulePath> {
        let mut imports = self.sources[file].imports.iter().filter(|import| import.inside == inline.inside);
        match imports.find(|import| import.name == inline.path[0]) {
            Some(import) => Some([&self.absolute(file, import)?[..], &inline.path[1..]].concat()),
            None => self.path_from_root(file, &inline.inside, &inline.path),
        }
    }

    /// The path from the crate's root of one that is written in a file, in an inline module of it or in none.
    fn path_from_root(&self, file: usize, inside: &[String], path: &[String]) -> Option<ModulePath> {
        let mut module = [&self.modules_of_files[file][..], inside].concat();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => {
                module.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|segment| segment == "super") {
                    module.pop();
                    rest = &rest[1..];
                }
            }
            // The name of a child module needs no word before it.
            child => {
                module.push(child.to_owned());
                if !self.files_of_modules.contains_key(&module) {
                    return None;
                }
                rest = &rest[1..];
            }
        }
        module.extend_from_slice(rest);
        Some(module)
    }

    /// The file that defines what a path names. Imports on the way are followed to where the name comes from.
    fn file_behind(&self, path: &[String], followed: &mut BTreeSet<ModulePath>) -> Option<usize> {
        if !followed.insert(path.to_vec()) {
            return None;
        }
        let depth = (0..=path.len()).rev().find(|depth| self.files_of_modules.contains_key(&path[..*depth]))?;
        let (module, rest) = path.split_at(depth);
        let file = self.files_of_modules[module];
        let Some(name) = rest.first().filter(|name| *name != "*") else { return Some(file) };
        let source = &self.sources[file];
        let inside = &module[self.modules_of_files[file].len()..];
        for import in source.imports.iter().filter(|import| import.inside == inside) {
            let Some(mut origin) = self.absolute(file, import) else { continue };
            if import.name == *name {
                origin.extend_from_slice(&rest[1..]);
                return self.file_behind(&origin, followed).or(Some(file));
            }
            if import.name == "*" && !source.items.contains(name) {
                origin.pop();
                origin.extend_from_slice(rest);
                let behind = self.file_behind(&origin, followed);
                if behind.is_some_and(|behind| self.sources[behind].items.contains(name)) {
                    return behind;
                }
            }
        }
        Some(file)
    }
}

/// `lib.rs` is the root, `desk/reads.rs` is `desk::reads`, and so is `desk/reads/mod.rs`.
fn module_of(path: &str) -> ModulePath {
    let mut module: ModulePath = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let is_root = module.len() == 1 && ["lib", "main"].contains(&module[0].as_str());
    if is_root || module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

/// Every file that can be reached by following arrows from `start`, with the file before it on a shortest way.
fn reached_from(arrows: &[BTreeSet<usize>], start: usize) -> BTreeMap<usize, usize> {
    let mut before = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(file) = waiting.pop_front() {
        for next in &arrows[file] {
            if !before.contains_key(next) {
                before.insert(*next, file);
                waiting.push_back(*next);
            }
        }
    }
    before
}

/// The files of a shortest circle through `start`, which comes first.
fn way_back(arrows: &[BTreeSet<usize>], start: usize) -> Option<Vec<usize>> {
    let before = reached_from(arrows, start);
    let mut circle = vec![*before.get(&start)?];
    while let Some(last) = circle.last().filter(|last| **last != start) {
        circle.push(before[last]);
    }
    circle.reverse();
    Some(circle)
}
