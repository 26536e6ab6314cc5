//! Values of the whole installation.

use crate::{Store, error::StoreError, value::Query};

impl Store {
    /// A value of the whole installation, such as its kind.
    pub async fn installation(&self, name: &'static str) -> Result<Option<String>, StoreError> {
        let query = Query::new("SELECT value FROM installation WHERE name = $1", [name.into()]);
        self.one(query, |columns| columns.text()).await
    }
}
