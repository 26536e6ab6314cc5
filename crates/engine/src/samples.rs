//! Sample values for unit tests of this crate.

use domain::{
    id::{ENTROPY_BYTES, mint},
    method::Method,
    money::Rupiah,
    payment::{Payment, State},
    time::Timestamp,
};

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// A direct payment with an id of its own for each `number`, which expires at [`NOW`].
pub(crate) fn payment(number: u32, state: State, version: i64) -> Payment {
    let mut entropy = [0; ENTROPY_BYTES];
    // Some bits of the first bytes are overwritten by the version of the UUID, so use the last ones.
    entropy[6..].copy_from_slice(&number.to_be_bytes());
    Payment {
        id: mint(NOW, entropy),
        project_id: mint(NOW, [0; ENTROPY_BYTES]),
        link_id: None,
        reference: String::new(),
        amount: Rupiah::new(10_000),
        quantity: None,
        fee: Rupiah::ZERO,
        method: Method::Qris,
        code: String::new(),
        checkout: None,
        metadata: None,
        return_url: None,
        state,
        created_at: NOW,
        expires_at: NOW,
        version,
    }
}
