//! Adds up what was paid in hours that are over, so that totals stay fast.

use crate::{Engine, Error};

impl Engine {
    /// One round; answers whether there is more to do.
    pub async fn close_hours(&self) -> Result<usize, Error> {
        Ok(self.store.close_hours(self.now()).await?.into())
    }
}
