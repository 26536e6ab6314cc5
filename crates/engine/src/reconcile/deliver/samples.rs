//! Deliveries for the tests of what is sent when.

use domain::{
    delivery::{Delivery, DeliveryState},
    id::{ENTROPY_BYTES, mint},
    time::Timestamp,
};

pub(super) const NOW: Timestamp = Timestamp::from_millis(1_794_648_600_000);

/// A delivery that is due. Those of one project are told apart by their numbers.
pub(super) fn due(project: usize, number: usize, urgent: bool) -> Delivery {
    Delivery {
        event_id: mint(NOW, entropy(project * 1_000_000 + number)),
        project_id: mint(NOW, entropy(project)),
        state: DeliveryState::Pending { due_at: NOW },
        attempts: 0,
        resent_after: 0,
        urgent,
    }
}

fn entropy(number: usize) -> [u8; ENTROPY_BYTES] {
    let mut bytes = [0; ENTROPY_BYTES];
    bytes[ENTROPY_BYTES - 8..].copy_from_slice(&number.to_be_bytes());
    bytes
}
