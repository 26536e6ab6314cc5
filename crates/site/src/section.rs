//! A part of a page that the search finds by itself: what stands below one heading.

use domain::language::Language;

/// What stands below one heading of a page, or above its first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// The path of its page, such as `/docs/webhooks`.
    pub(crate) path: String,
    pub(crate) page_title: String,
    /// None for what stands above the first heading.
    pub(crate) heading: Option<Heading>,
    /// Plain text in one line.
    pub(crate) text: String,
    pub(crate) language: Language,
}

/// A heading that an address can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    /// What follows the `#` of its address.
    pub(crate) id: String,
    pub(crate) text: String,
    /// 2 for the headings right below the title of the page.
    pub(crate) level: u8,
}
