//! Lets the store tend to what reads have found long.

use crate::{Engine, Error};

impl Engine {
    /// One round; answers whether there may be more to do.
    pub async fn tend_store(&self) -> Result<usize, Error> {
        Ok(self.store.tend(self.now()).await?.into())
    }
}
