//! Idempotency-Keys and what they are bound to.

use domain::idempotency::Idempotency;

use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// The request and the resource that an Idempotency-Key is bound to.
#[derive(Debug)]
pub struct Bound {
    /// The fingerprint of the request body that created the resource.
    pub request: Vec<u8>,
    pub resource: String,
}

impl Store {
    pub async fn bound(&self, idempotency: &Idempotency) -> Result<Option<Bound>, StoreError> {
        let sql = "SELECT request, resource FROM idempotency WHERE project_id = $1 AND endpoint = $2 AND key = $3";
        let Idempotency { project_id, endpoint, key, .. } = idempotency;
        let parameters = [Value::stored(project_id), endpoint.word().into(), key.clone().into()];
        self.one(Query::new(sql, parameters), bound).await
    }
}

fn bound(columns: &mut Columns<'_>) -> Result<Bound, StoreError> {
    Ok(Bound { request: columns.bytes()?, resource: columns.text()? })
}
