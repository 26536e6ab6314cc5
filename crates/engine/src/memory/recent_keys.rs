//! Which Idempotency-Keys this node has seen lately. A request with such a key is probably one that is repeated, so its key is
//! looked up before anything is committed for it; others are most likely new. Nothing but speed depends on it.

use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicU64, Ordering},
};

use domain::idempotency::Idempotency;

/// How many keys are remembered at most. A key has one slot, and takes it from the one that was there before.
const SLOTS: usize = 1 << 16;

pub(crate) struct RecentKeys {
    hashes: RandomState,
    slots: Box<[AtomicU64]>,
}

impl Default for RecentKeys {
    fn default() -> RecentKeys {
        RecentKeys { hashes: RandomState::new(), slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl RecentKeys {
    /// Remembers a key, and answers whether it was remembered before.
    pub(crate) fn note(&self, idempotency: &Idempotency) -> bool {
        let Idempotency { project_id, endpoint, key, .. } = idempotency;
        let hash = self.hashes.hash_one((project_id, endpoint.word(), key));
        let slot = usize::try_from(hash % SLOTS as u64).unwrap_or_default();
        self.slots[slot].swap(hash, Ordering::Relaxed) == hash
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        id::{ENTROPY_BYTES, ProjectId, mint},
        idempotency::Endpoint,
        time::Timestamp,
    };

    use super::*;

    fn key(project: u8, endpoint: Endpoint, key: &str) -> Idempotency {
        let project_id: ProjectId = mint(Timestamp::from_millis(1_794_648_600_000), [project; ENTROPY_BYTES]);
        Idempotency { project_id, endpoint, key: key.to_owned(), request: [0; 16] }
    }

    #[test]
    fn a_key_is_remembered_for_its_project_and_endpoint() {
        let keys = RecentKeys::default();
        let seen = key(1, Endpoint::Payments, "order-1");
        assert!(!keys.note(&seen));
        assert!(keys.note(&Idempotency { request: [1; 16], ..seen.clone() }));
        for other in [
            key(1, Endpoint::Payments, "order-2"),
            key(1, Endpoint::Links, "order-1"),
            key(2, Endpoint::Payments, "order-1"),
        ] {
            assert!(!keys.note(&other), "{other:?}");
        }
    }

    #[test]
    fn most_of_the_last_thousands_are_remembered_however_many_came_before() {
        let keys = RecentKeys::default();
        let order = |number: usize| key(1, Endpoint::Payments, &format!("order-{number}"));
        for number in 0..3 * SLOTS {
            keys.note(&order(number));
        }
        let remembered = (3 * SLOTS - 4_000..3 * SLOTS).filter(|number| keys.note(&order(*number))).count();
        assert!(remembered > 3_500, "{remembered} of 4000");
    }
}
