//! Links by their titles, which merchants know them by.

use std::collections::HashMap;

use domain::{id::LinkId, link::Link, payment::Payment};
use store::{LinkFilter, Window};

use super::Desk;
use crate::Error;

/// Links that a text is compared with, the newest of those that contain it.
const COMPARED_MOST: i64 = 50;

impl Desk {
    /// The titles of the links that these payments were made through.
    pub async fn link_titles(&self, payments: &[Payment]) -> Result<HashMap<LinkId, String>, Error> {
        let mut ids: Vec<LinkId> = payments.iter().filter_map(|payment| payment.terms.link_id).collect();
        ids.sort_unstable();
        ids.dedup();
        Ok(self.engine.store.link_titles(self.id(), &ids).await?)
    }

    /// The title of a link; none if the project has no such link.
    pub async fn link_title(&self, id: LinkId) -> Result<Option<String>, Error> {
        Ok(self.engine.store.link_titles(self.id(), &[id]).await?.remove(&id))
    }

    /// The titles of the newest links, without repetition.
    pub async fn newest_link_titles(&self, most: i64) -> Result<Vec<String>, Error> {
        let mut titles = self.engine.store.newest_link_titles(self.id(), most).await?;
        titles.sort_unstable();
        titles.dedup();
        Ok(titles)
    }

    /// The links that `text` may mean: those whose title or reference it is or, where there is none, those that contain
    /// it.
    pub async fn links_named(&self, text: &str) -> Result<Vec<Link>, Error> {
        let filter = LinkFilter { search: Some(text.to_owned()), ..LinkFilter::default() };
        let found = self.links(&filter, Window { offset: 0, limit: COMPARED_MOST }).await?.items;
        let folded = text.to_lowercase();
        let is_named = |link: &&Link| [&link.title, &link.reference].iter().any(|name| name.to_lowercase() == folded);
        let named: Vec<Link> = found.iter().filter(is_named).cloned().collect();
        Ok(if named.is_empty() { found } else { named })
    }
}
