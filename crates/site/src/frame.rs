//! What stands around every page: the header with the search box, the menu of the documentation, and the footer.

use domain::language::Language;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        assets::{self, Asset},
        render::other_language,
        visitor::Visitor,
    },
};

use crate::{
    guides::{self, Group},
    words::{Words, code, words},
};

pub(crate) static STYLE: Asset = Asset::style("site", &[assets::TOKENS, include_str!("../assets/site.css")]);
pub(crate) static SCRIPT: Asset = Asset::script("site", &[assets::COPY_TEXT, include_str!("../assets/site.js")]);

/// What surrounds the content of a page.
pub(crate) struct Frame {
    pub(crate) words: Words,
    /// `id` or `en`.
    pub(crate) language: &'static str,
    /// This same page in the other language.
    pub(crate) switch_url: String,
    pub(crate) style_url: String,
    pub(crate) script_url: String,
    pub(crate) home_url: String,
    pub(crate) dashboard_url: String,
    /// None where the documentation is turned off.
    pub(crate) docs: Option<DocsUrls>,
    /// What the search box holds.
    pub(crate) searched: String,
    /// What the menu has.
    pub(crate) menu_label: String,
    /// The menu of the documentation; empty on other pages.
    pub(crate) menu: Vec<MenuGroup>,
}

pub(crate) struct DocsUrls {
    pub(crate) list: String,
    pub(crate) search: String,
    pub(crate) reference: String,
}

pub(crate) struct MenuGroup {
    pub(crate) title: String,
    pub(crate) entries: Vec<MenuEntry>,
}

pub(crate) struct MenuEntry {
    pub(crate) url: String,
    pub(crate) title: String,
    /// The language of the title; none where it is that of the page.
    pub(crate) lang: Option<&'static str>,
    /// Whether it leads to the page that is shown.
    pub(crate) current: bool,
}

impl Frame {
    /// The frame of a page outside of the documentation.
    pub(crate) fn of(app: &App, visitor: &Visitor) -> Frame {
        let urls = &app.settings.urls;
        let docs =
            || DocsUrls { list: urls.url("/docs"), search: urls.url("/docs/search"), reference: urls.url("/docs/api") };
        Frame {
            words: words(visitor.language),
            language: code(visitor.language),
            switch_url: urls.url(visitor.address_in(other_language(visitor.language), &[])),
            style_url: urls.url(STYLE.path()),
            script_url: urls.url(SCRIPT.path()),
            home_url: urls.url("/"),
            dashboard_url: urls.url("/dashboard"),
            docs: app.settings.has_docs.then(docs),
            searched: String::new(),
            menu_label: fl!(words(visitor.language), "menu"),
            menu: Vec::new(),
        }
    }

    /// The frame of a page of the documentation.
    pub(crate) fn of_docs(app: &App, visitor: &Visitor) -> Frame {
        Frame { menu: menu(app, visitor.language, &visitor.path), ..Frame::of(app, visitor) }
    }

    pub(crate) fn other_language(&self) -> &'static str {
        if self.language == "id" { "en" } else { "id" }
    }
}

/// All guides by group, each in the visitor's language where there is one in it.
fn menu(app: &App, language: Language, current_path: &str) -> Vec<MenuGroup> {
    let entry = |entry: &guides::Entry| {
        let guide = entry.in_language(language);
        MenuEntry {
            url: app.settings.urls.url(&guide.path),
            title: guide.title.clone(),
            lang: (guide.language != language).then(|| code(guide.language)),
            current: entry.guides().any(|guide| guide.path == current_path),
        }
    };
    let groups = guides::groups().iter().map(|(group, entries)| MenuGroup {
        title: group.title(words(language)),
        entries: entries.iter().map(entry).collect(),
    });
    groups.collect()
}

impl Group {
    pub(crate) fn title(self, words: Words) -> String {
        match self {
            Group::Start => fl!(words, "group-start"),
            Group::Integrate => fl!(words, "group-integrate"),
            Group::Sell => fl!(words, "group-sell"),
            Group::Operate => fl!(words, "group-operate"),
            Group::Inside => fl!(words, "group-inside"),
        }
    }
}
