//! Idempotency-Keys: when two requests with the same key are the same request.

use crate::id::ProjectId;

/// Where a key is used. The same key at two endpoints is two different keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    Payments,
    Links,
    Refunds,
}

impl Endpoint {
    pub const fn word(self) -> &'static str {
        match self {
            Endpoint::Payments => "payments",
            Endpoint::Links => "payment-links",
            Endpoint::Refunds => "refunds",
        }
    }
}

/// A key and the fingerprint of the request body that came with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    pub project_id: ProjectId,
    pub endpoint: Endpoint,
    pub key: String,
    pub request: [u8; 16],
}
