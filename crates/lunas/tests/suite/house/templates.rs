//! Rules for the HTML templates: how wide their lines are, and where a reader finds them.

use std::collections::BTreeSet;

use super::source_rules::none;
use crate::support::repository::files;

/// The most characters of a line.
const WIDTH_MOST: usize = 160;
/// The folders of templates that are no pages: what pages extend, and what they include or import.
const SHARED: [&str; 2] = ["bases", "partials"];

/// A template: its crate, its path below `templates` without the ending, and its text.
struct TemplateFile {
    krate: String,
    path: String,
    text: String,
}

impl TemplateFile {
    /// Whether pages share it.
    fn is_shared(&self) -> bool {
        SHARED.iter().any(|folder| self.path.starts_with(&format!("{folder}/")))
    }
}

fn templates() -> Vec<TemplateFile> {
    let of = |(name, text): (String, String)| {
        let (krate, path) = name.strip_prefix("crates/")?.split_once("/templates/")?;
        Some(TemplateFile { krate: krate.to_owned(), path: path.trim_end_matches(".html").to_owned(), text })
    };
    files(".html").into_iter().filter_map(of).collect()
}

/// The templates that a text names after `before`, without their ending.
fn named<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split_once(".html\"")).map(|(path, _)| path)
}

/// What the Rust files render: the crate, the file below `src`, and the path of the template.
fn rendered() -> Vec<(String, String, String)> {
    let mut rendered = Vec::new();
    for (name, text) in files(".rs") {
        let Some((krate, file)) = name.strip_prefix("crates/").and_then(|name| name.split_once("/src/")) else {
            continue;
        };
        let pages = named(&text, "#[template(path = \"");
        rendered.extend(pages.map(|path| (krate.to_owned(), file.to_owned(), path.to_owned())));
    }
    rendered
}

/// Whether a template is where a reader of the Rust file looks for it: at the same path or, if the file has more pages than
/// one, in the folder of that path.
fn is_beside(file: &str, template: &str) -> bool {
    let module = file.trim_end_matches(".rs").trim_end_matches("/mod");
    template == module || template.rsplit_once('/').is_some_and(|(folder, _)| folder == module)
}

#[test]
fn no_line_of_a_template_is_wider_than_160_characters() {
    let mut wide = Vec::new();
    for TemplateFile { krate, path, text } in templates() {
        let numbered = text.lines().enumerate().map(|(number, line)| (number + 1, line.chars().count()));
        let too_wide = numbered.filter(|(_, width)| *width > WIDTH_MOST);
        wide.extend(too_wide.map(|(number, width)| format!("{krate}: {path}.html:{number}: {width} characters")));
    }
    none(wide);
}

#[test]
fn a_template_has_the_path_of_the_file_that_renders_it() {
    for (file, template, expected) in [
        ("account.rs", "account", true),
        ("links/mod.rs", "links", true),
        ("links/mod.rs", "links/cancel", true),
        ("links/edit.rs", "links/edit", true),
        ("links/edit.rs", "links/cancel", false),
        ("links/edit.rs", "edit", false),
        ("links/edit.rs", "link_edit", false),
    ] {
        assert_eq!(is_beside(file, template), expected, "{template} of {file}");
    }
    let rendered = rendered();
    assert!(rendered.len() > 50, "{} pages", rendered.len());
    let elsewhere = rendered.into_iter().filter(|(_, file, template)| !is_beside(file, template));
    none(elsewhere.map(|(krate, file, template)| format!("{krate}: {file} renders {template}.html")).collect());
}

#[test]
fn every_template_is_a_page_or_shared_by_pages() {
    let templates = templates();
    let pages: BTreeSet<_> = rendered().into_iter().map(|(krate, _, template)| (krate, template)).collect();
    let mut used = BTreeSet::new();
    for template in &templates {
        for word in ["extends \"", "include \"", "import \""] {
            used.extend(named(&template.text, word).map(|path| (template.krate.clone(), path.to_owned())));
        }
    }
    let is_homeless = |template: &&TemplateFile| {
        let uses = if template.is_shared() { &used } else { &pages };
        !uses.contains(&(template.krate.clone(), template.path.clone()))
    };
    let homeless = templates.iter().filter(is_homeless);
    none(homeless.map(|template| format!("{}: nothing uses {}.html", template.krate, template.path)).collect());
}
