//! Adds new references to the search index, so that searches stay fast.

use crate::{Engine, Error};

impl Engine {
    /// One round; answers whether there is more to do.
    pub async fn extend_search_index(&self) -> Result<usize, Error> {
        Ok(self.store.extend_search_index(self.now()).await?.into())
    }
}
