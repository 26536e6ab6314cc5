//! Adds checkpoints to long ledgers, so that balances stay fast.

use crate::{Engine, Error};

impl Engine {
    /// One round; answers whether there is more to do.
    pub async fn extend_balance_checkpoints(&self) -> Result<usize, Error> {
        Ok(self.store.extend_balance_checkpoints(self.now()).await?.into())
    }
}
