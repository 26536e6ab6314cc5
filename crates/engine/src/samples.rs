//! Sample values for unit tests of this crate.

use domain::{
    id::{ENTROPY_BYTES, mint},
    method::Method,
    money::Rupiah,
    payment::{Payment, PaymentTerms, State},
    time::Timestamp,
};

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// A direct payment with an id of its own for each `number`, which expires at [`NOW`].
pub(crate) fn payment(number: u32, state: State, version: i64) -> Payment {
    let mut entropy = [0; ENTROPY_BYTES];
    // Some bits of the first bytes are overwritten by the version of the UUID, so use the last ones.
    entropy[6..].copy_from_slice(&number.to_be_bytes());
    let project_id = mint(NOW, [0; ENTROPY_BYTES]);
    let terms = PaymentTerms::direct(project_id, String::new(), Rupiah::new(10_000), Method::Qris, NOW);
    Payment { state, version, ..Payment::pending(mint(NOW, entropy), terms, String::new(), NOW) }
}
