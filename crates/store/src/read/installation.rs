use crate::{Store, error::StoreError, value::Query};

impl Store {
    /// A value that belongs to the whole installation, such as what kind of installation it is.
    pub async fn installation(&self, name: &'static str) -> Result<Option<String>, StoreError> {
        let query = Query::new("SELECT value FROM installation WHERE name = $1", [name.into()]);
        self.one(query, |columns| columns.text()).await
    }
}
