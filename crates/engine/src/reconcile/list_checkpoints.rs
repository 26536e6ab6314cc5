//! Extends the checkpoints of long payment lists, so that they stay fast.

use crate::{Engine, Error};

impl Engine {
    /// One round; answers whether there is more to do.
    pub async fn extend_list_checkpoints(&self) -> Result<usize, Error> {
        Ok(self.store.extend_list_checkpoints(self.now()).await?.into())
    }
}
