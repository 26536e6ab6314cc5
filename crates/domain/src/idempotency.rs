//! Which uses of an Idempotency-Key are the same use.

use sha2::{Digest, Sha256};

use crate::id::ProjectId;

/// Where a key is used. Keys of different endpoints have nothing to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    Payments,
    Links,
}

/// A use of a key: a hash of project, endpoint and key, and the fingerprint of the body it is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idempotency {
    pub key: [u8; 16],
    pub request: [u8; 16],
}

impl Idempotency {
    /// `key` is visible ASCII, so the zero bytes between the parts keep different uses apart.
    pub fn new(project: ProjectId, endpoint: Endpoint, key: &str, request: [u8; 16]) -> Idempotency {
        let endpoint = match endpoint {
            Endpoint::Payments => "payments",
            Endpoint::Links => "payment-links",
        };
        let hash: [u8; 32] = Sha256::digest(format!("{project}\0{endpoint}\0{key}")).into();
        let mut short = [0; 16];
        short.copy_from_slice(&hash[..16]);
        Idempotency { key: short, request }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::mint, time::Timestamp};

    #[test]
    fn a_key_is_scoped_to_its_project_and_endpoint() {
        let now = Timestamp::from_millis(1);
        let (one, other) = (mint(now, [1; 10]), mint(now, [2; 10]));
        let key = |project, endpoint, text| Idempotency::new(project, endpoint, text, [0; 16]).key;
        let first = key(one, Endpoint::Payments, "a");
        assert_eq!(first, key(one, Endpoint::Payments, "a"));
        assert_ne!(first, key(other, Endpoint::Payments, "a"));
        assert_ne!(first, key(one, Endpoint::Links, "a"));
        assert_ne!(first, key(one, Endpoint::Payments, "b"));
    }
}
