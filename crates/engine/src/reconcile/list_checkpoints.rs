//! Lets the store tend to what reads have found long, and writes down what can wait a moment.

use crate::{Engine, Error};

impl Engine {
    /// One round; answers whether there may be more to do.
    pub async fn tend_store(&self) -> Result<usize, Error> {
        self.keep_key_uses().await?;
        let more_views = self.keep_views().await?;
        let more = self.store.tend(self.now()).await?;
        Ok((more || more_views).into())
    }
}
