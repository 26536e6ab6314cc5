//! Which uses of an Idempotency-Key are the same use.

use crate::id::ProjectId;

/// Where a key is used. Keys of different endpoints have nothing to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    Payments,
    Links,
}

impl Endpoint {
    pub const fn word(self) -> &'static str {
        match self {
            Endpoint::Payments => "payments",
            Endpoint::Links => "payment-links",
        }
    }
}

/// A use of a key, and the fingerprint of the body that it is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    pub project_id: ProjectId,
    pub endpoint: Endpoint,
    pub key: String,
    pub request: [u8; 16],
}
