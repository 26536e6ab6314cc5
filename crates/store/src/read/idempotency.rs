use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query},
};

/// What an Idempotency-Key is bound to.
#[derive(Debug)]
pub struct Bound {
    /// The fingerprint of the body that made the resource.
    pub request: Vec<u8>,
    pub resource: String,
}

impl Store {
    pub async fn bound(&self, key: [u8; 16]) -> Result<Option<Bound>, StoreError> {
        let query = Query::new("SELECT request, resource FROM idempotency WHERE key = $1", [key.to_vec().into()]);
        self.one(query, bound).await
    }
}

fn bound(columns: &mut Columns<'_>) -> Result<Bound, StoreError> {
    Ok(Bound { request: columns.bytes()?, resource: columns.text()? })
}
