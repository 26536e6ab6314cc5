//! The guides: their order and groups, and their texts, rendered when the first of them is asked for. The files themselves are in
//! `docs`; what a guide is called and is about, it says itself.

use std::sync::LazyLock;

use domain::language::Language;

use crate::{
    markdown::{self, Rendered},
    section::{Heading, Section},
};

/// A file of `docs`.
struct File {
    /// Below `docs`; empty for `docs` itself.
    folder: &'static str,
    /// Without `.md`.
    name: &'static str,
    text: &'static str,
}

const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The folder of the guides in Indonesian. All others are in English.
const INDONESIAN: &str = "id";

/// The order of the guides, by the names of their files. The files in Indonesian have the names of those that they translate.
const ORDER: [(Group, &[&str]); 5] = [
    (Group::Start, &["first-payment", "install", "sandbox", "going-live"]),
    (
        Group::Integrate,
        &[
            "api",
            "direct-payments",
            "payment-links",
            "checkout",
            "embed",
            "webhooks",
            "notices",
            "statuses",
            "refunds",
            "errors",
            "idempotency",
            "clients",
        ],
    ),
    (Group::Sell, &["dashboard", "counter"]),
    (Group::Operate, &["operating", "operator", "mail", "banks", "scaling", "performance"]),
    (Group::Inside, &["contract", "invariants", "words"]),
];

/// Files whose pages have another name, since theirs is the address of another page.
const RENAMED: [(&str, &str); 1] = [("api", "using-the-api")];

/// What a guide is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// From nothing to the first payment.
    Start,
    /// For people who write a shop's programs.
    Integrate,
    /// For people who sell.
    Sell,
    /// For people who run the installation.
    Operate,
    /// For people who change Lunas.
    Inside,
}

/// One guide in one language.
pub(crate) struct Guide {
    /// Such as `/docs/webhooks`.
    pub(crate) path: String,
    pub(crate) language: Language,
    pub(crate) title: String,
    pub(crate) summary: String,
    /// Its content without the title.
    pub(crate) html: String,
    pub(crate) sections: Vec<Section>,
}

/// A guide in all languages that it is written in: places in the list of all guides.
pub(crate) struct Entry(Vec<usize>);

struct Library {
    guides: Vec<Guide>,
    groups: Vec<(Group, Vec<Entry>)>,
}

static LIBRARY: LazyLock<Library> = LazyLock::new(Library::read);

pub(crate) fn all() -> &'static [Guide] {
    &LIBRARY.guides
}

/// The guides in their order. A group has at least one.
pub(crate) fn groups() -> &'static [(Group, Vec<Entry>)] {
    &LIBRARY.groups
}

/// The guide at that path, and its place in the list of all guides.
pub(crate) fn at(path: &str) -> Option<(usize, &'static Guide)> {
    all().iter().enumerate().find(|(_, guide)| guide.path == path)
}

impl Guide {
    pub(crate) fn headings(&self) -> impl Iterator<Item = &Heading> {
        self.sections.iter().filter_map(|section| section.heading.as_ref())
    }
}

impl Entry {
    pub(crate) fn guides(&self) -> impl Iterator<Item = &'static Guide> {
        self.0.iter().map(|place| &all()[*place])
    }

    /// The guide in that language, or else in the one that it is written in.
    pub(crate) fn in_language(&self, language: Language) -> &'static Guide {
        self.guides().find(|guide| guide.language == language).unwrap_or(&all()[self.0[0]])
    }
}

impl Library {
    fn read() -> Library {
        let guides = FILES.iter().map(File::guide).collect();
        let entry = |name: &&str| {
            let places = FILES.iter().enumerate().filter(|(_, file)| file.name == *name).map(|(place, _)| place);
            Some(Entry(places.collect())).filter(|entry| !entry.0.is_empty())
        };
        let group = |(group, names): &(Group, &[&str])| (*group, names.iter().filter_map(entry).collect::<Vec<_>>());
        let groups = ORDER.iter().map(group).filter(|(_, entries)| !entries.is_empty());
        Library { guides, groups: groups.collect() }
    }
}

impl File {
    fn language(&self) -> Language {
        if self.folder == INDONESIAN { Language::Indonesian } else { Language::English }
    }

    fn path(&self) -> String {
        let renamed = RENAMED.iter().find(|(file, _)| *file == self.name);
        let name = renamed.map_or(self.name, |(_, page)| page);
        match self.language() {
            Language::English => format!("/docs/{name}"),
            Language::Indonesian => format!("/docs/{INDONESIAN}/{name}"),
        }
    }

    fn guide(&self) -> Guide {
        let (path, language) = (self.path(), self.language());
        let Rendered { title, summary, html, texts } = markdown::render(self.text, |target| self.address(target));
        let section =
            |(heading, text)| Section { path: path.clone(), page_title: title.clone(), heading, text, language };
        Guide { sections: texts.into_iter().map(section).collect(), path, language, title, summary, html }
    }

    /// Where a link of this file leads from its page; none where that is in no page, as for files of the source. Addresses of ours
    /// are relative, so that they hold below every prefix.
    fn address(&self, target: &str) -> Option<String> {
        if target.starts_with('#') || ["https://", "http://"].iter().any(|scheme| target.starts_with(scheme)) {
            return Some(target.to_owned());
        }
        let up = "../".repeat(self.path().matches('/').count() - 1);
        if let Some(path) = target.strip_prefix('/') {
            return Some(format!("{up}{path}"));
        }
        let (file, fragment) = target.split_once('#').map_or((target, None), |(file, part)| (file, Some(part)));
        let (folder, name) = self.resolved(file)?;
        let found = FILES.iter().find(|file| file.folder == folder && file.name == name)?;
        let fragment = fragment.map(|part| format!("#{part}")).unwrap_or_default();
        Some(format!("{up}{}{fragment}", &found.path()[1..]))
    }

    /// The folder and the name of the file that a relative path names.
    fn resolved(&self, path: &str) -> Option<(String, String)> {
        let mut parts: Vec<&str> = self.folder.split('/').filter(|part| !part.is_empty()).collect();
        for part in path.split('/') {
            match part {
                "." => {}
                ".." => {
                    parts.pop()?;
                }
                part => parts.push(part),
            }
        }
        let name = parts.pop()?.strip_suffix(".md")?.to_owned();
        Some((parts.join("/"), name))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Addresses below `/docs` that are no guides.
    const TAKEN: [&str; 4] = ["/docs/api", "/docs/search", "/docs/id", "/docs"];

    #[test]
    fn every_file_has_its_place_in_the_order_and_every_place_its_file() {
        let placed: Vec<&str> = ORDER.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let set: BTreeSet<&str> = placed.iter().copied().collect();
        assert_eq!(set.len(), placed.len(), "a guide has one place");
        assert_eq!(FILES.iter().map(|file| file.name).collect::<BTreeSet<_>>(), set);
    }

    #[test]
    fn every_guide_has_an_address_a_title_and_a_summary_of_its_own() {
        let mut seen = BTreeSet::new();
        for guide in all() {
            assert!(!TAKEN.contains(&guide.path.as_str()), "{}", guide.path);
            assert!(!guide.title.is_empty() && !guide.summary.is_empty(), "{}", guide.path);
            for value in [&guide.path, &guide.title, &guide.summary] {
                assert!(seen.insert((guide.language == Language::English, value)), "{} repeats {value}", guide.path);
            }
        }
    }

    /// The part of an address that a page of ours is looked up by: from `from`, without prefix.
    fn joined(from: &str, href: &str) -> String {
        let mut parts: Vec<&str> = from.split('/').skip(1).collect();
        parts.pop();
        for part in href.split('/') {
            match part {
                ".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        format!("/{}", parts.join("/"))
    }

    #[test]
    fn every_link_between_guides_leads_to_a_page_and_a_heading_that_are_there() {
        let mut broken = Vec::new();
        for guide in all() {
            for href in guide.html.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                let (path, fragment) = href.split_once('#').unwrap_or((href, ""));
                let path = if path.is_empty() { guide.path.clone() } else { joined(&guide.path, path) };
                if !href.starts_with("http") && path.starts_with("/docs/") && !path.starts_with("/docs/api") {
                    let found = at(&path).is_some_and(|(_, guide)| {
                        fragment.is_empty() || guide.headings().any(|heading| heading.id == fragment)
                    });
                    broken.extend((!found).then(|| format!("{}: {href}", guide.path)));
                }
            }
        }
        assert!(broken.is_empty(), "\n{}", broken.join("\n"));
    }

    #[test]
    fn links_between_files_become_links_between_pages_and_others_of_the_source_none() {
        let file = |folder| File { folder, name: "webhooks", text: "" };
        for (folder, target, want) in [
            ("", "operating.md", Some("../docs/operating")),
            ("", "api.md#errors", Some("../docs/using-the-api#errors")),
            ("", "./operating.md", Some("../docs/operating")),
            ("guides", "../operating.md#x", Some("../docs/operating#x")),
            ("id", "../operating.md", Some("../../docs/operating")),
            ("", "/dashboard", Some("../dashboard")),
            ("id", "/docs/api", Some("../../docs/api")),
            ("", "#here", Some("#here")),
            ("", "https://example.com/a.md", Some("https://example.com/a.md")),
            ("", "../README.md", None),
            ("", "images/a.png", None),
            ("", "nowhere.md", None),
            ("", "../../../etc/passwd.md", None),
            ("", "javascript:alert(1)", None),
        ] {
            assert_eq!(file(folder).address(target).as_deref(), want, "{folder} {target}");
        }
    }
}
