//! The nodes that send webhooks.

use crate::{Store, change::NodeId, error::StoreError, value::Query};

impl Store {
    /// All nodes that are not known to be gone, each with its beat.
    pub async fn nodes(&self) -> Result<Vec<(NodeId, i64)>, StoreError> {
        let query = Query::new("SELECT id, beat FROM nodes", []);
        self.due(query, |columns| Ok((NodeId::stored(columns.integer()?), columns.integer()?))).await
    }
}
