//! When API keys were last used, to the minute. Uses are noted in memory and saved by a reconciler, so that no request
//! waits.

use store::Change;

use crate::{Engine, Error, memory::key_uses::SAVED_AT_ONCE};

impl Engine {
    /// One round: saves which keys were used. Answers 0 when there is nothing more to do at once.
    pub async fn save_key_uses(&self) -> Result<usize, Error> {
        let due = self.key_uses.due();
        let count = due.len();
        if count > 0 {
            self.store.commit(Change::default().with_all(due)).await?;
        }
        Ok(if count == SAVED_AT_ONCE { count } else { 0 })
    }
}
