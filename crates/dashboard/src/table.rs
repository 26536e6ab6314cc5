//! Lists in pages of twenty, with the way to the newer and the older ones.

use engine::{Listed, Window};
use i18n_embed_fl::fl;
use web::{App, page::visitor::Visitor};

use crate::words::Words;

pub(super) const ROWS: i64 = 20;

/// Which page of a list is looked at; anything that is no page is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageNumber(i64);

/// Under a table: what part of it this is, and where the others are.
pub(super) struct Paging {
    pub(super) summary: String,
    pub(super) newer: Option<String>,
    pub(super) older: Option<String>,
}

impl PageNumber {
    pub(super) fn of(visitor: &Visitor) -> PageNumber {
        PageNumber(visitor.query.page().map_or(1, |page| page.number))
    }

    pub(super) fn window(self) -> Window {
        Window { offset: (self.0 - 1).saturating_mul(ROWS), limit: ROWS }
    }

    /// `query`: everything else that the address says, without a page, such as `status=paid`.
    pub(super) fn paging<T>(self, app: &App, path: &str, query: &str, listed: &Listed<T>, words: Words) -> Paging {
        let shown = i64::try_from(listed.items.len()).unwrap_or(0);
        let (from, total) = ((self.0 - 1).saturating_mul(ROWS), listed.total);
        let url = |page: i64| {
            let rest = if query.is_empty() { String::new() } else { format!("&{query}") };
            app.settings.urls.url(format_args!("{path}?page={page}{rest}"))
        };
        let (first, last) = ((from + i64::from(shown > 0)).to_string(), (from + shown).to_string());
        let total_text = total.to_string();
        Paging {
            summary: match shown {
                0 => String::new(),
                _ => fl!(words, "pages-summary", first = first, last = last, total = total_text),
            },
            newer: (self.0 > 1).then(|| url(self.0 - 1)),
            older: (from.saturating_add(shown) < total && shown > 0).then(|| url(self.0 + 1)),
        }
    }
}
