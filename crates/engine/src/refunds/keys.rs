//! Idempotency-Keys of requests from which no refund can be made, whatever else is true of them.

use domain::{id::RefundId, idempotency::Idempotency};

use crate::{Engine, Error};

impl Engine {
    /// A key that was used for a refund is a conflict where the request is another one; so it is here, since no refund was ever made
    /// from such a request.
    pub async fn check_refund_key_unused(&self, idempotency: &Idempotency) -> Result<(), Error> {
        self.bound_to::<RefundId>(idempotency).await.map(drop)
    }
}
