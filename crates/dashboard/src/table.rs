//! Lists in pages of twenty rows, with links to the newer and the older ones.

use engine::{Listed, Window};
use i18n_embed_fl::fl;

use crate::page::PublicPage;

const ROWS: i64 = 20;

/// The number of a page of a list, from the address; the first page where the address has no valid number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageNumber(i64);

/// Below a table: which of its rows are shown, and the addresses of the pages before and after.
pub(crate) struct Paging {
    pub(crate) summary: String,
    pub(crate) newer: Option<String>,
    pub(crate) older: Option<String>,
}

impl PageNumber {
    pub(crate) fn of(page: &PublicPage) -> PageNumber {
        PageNumber(page.visitor.query.page().map_or(1, |page| page.number))
    }

    pub(crate) fn window(self) -> Window {
        Window { offset: (self.0 - 1).saturating_mul(ROWS), limit: ROWS }
    }

    /// `path`: the list's own. `query`: the other parameters of its address, such as `status=paid`.
    pub(crate) fn paging<T>(self, page: &PublicPage, path: &str, query: &str, listed: &Listed<T>) -> Paging {
        self.paging_of(page, path, query, listed.items.len(), listed.total)
    }

    /// The same for `shown` rows of a list of `total`.
    pub(crate) fn paging_of(self, page: &PublicPage, path: &str, query: &str, shown: usize, total: i64) -> Paging {
        let (from, shown) = (self.window().offset, i64::try_from(shown).unwrap_or(0));
        let summary =
            |first: i64, last: i64| fl!(page.words(), "pages-summary", first = first, last = last, total = total);
        self.around(page, path, query, shown, from.saturating_add(shown) < total, summary)
    }

    /// The same for a list of so many rows that they were not counted.
    pub(crate) fn paging_of_many(self, page: &PublicPage, path: &str, query: &str, shown: usize) -> Paging {
        let shown = i64::try_from(shown).unwrap_or(0);
        let summary = |first: i64, last: i64| fl!(page.words(), "pages-summary-many", first = first, last = last);
        self.around(page, path, query, shown, shown == ROWS, summary)
    }

    fn around(
        self,
        page: &PublicPage,
        path: &str,
        query: &str,
        shown: i64,
        has_older: bool,
        summary: impl FnOnce(i64, i64) -> String,
    ) -> Paging {
        let from = self.window().offset;
        let url = |number: i64| {
            let rest = if query.is_empty() { String::new() } else { format!("&{query}") };
            page.url(format_args!("{path}?page={number}{rest}"))
        };
        Paging {
            summary: match shown {
                0 => String::new(),
                _ => summary(from + 1, from + shown),
            },
            newer: (self.0 > 1).then(|| url(self.0 - 1)),
            older: (has_older && shown > 0).then(|| url(self.0 + 1)),
        }
    }
}
