//! What is committed together with a new payment.

use domain::idempotency::Idempotency;
use store::Write;

/// What is committed with a new payment, or with the attempt to have a bank issue its code: it is given the id of that.
pub(crate) type Besides<'a> = &'a (dyn Fn(&str) -> Vec<Write> + Send + Sync);

/// Binds a key, if there is one, to what it has created.
pub(crate) fn bind(key: Option<&Idempotency>, resource: &str) -> Vec<Write> {
    let bind = key.map(|key| Write::Bind { idempotency: key.clone(), resource: resource.to_owned() });
    bind.into_iter().collect()
}
