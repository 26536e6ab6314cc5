//! The `X-EXTERNAL-ID`s that merchants have used, for the one day in Jakarta within which each may be used once.

use std::collections::HashSet;

/// How many ids of one day are remembered.
const IDS_MOST: usize = 1_000_000;

/// The ids of the newest day.
#[derive(Default)]
pub(super) struct ExternalIds {
    day: String,
    used: HashSet<(String, String)>,
}

impl ExternalIds {
    /// Whether a merchant uses an id for the first time on this day. It counts as used from now on.
    pub(super) fn is_new(&mut self, client_id: &str, external_id: &str, day: String) -> bool {
        if self.day != day || self.used.len() >= IDS_MOST {
            self.used.clear();
            self.day = day;
        }
        self.used.insert((client_id.to_owned(), external_id.to_owned()))
    }
}
