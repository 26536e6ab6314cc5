//! What Bank Indonesia sets for all acquirers of QRIS.

use domain::money::Rupiah;

/// The most that a customer can pay by one QR.
pub(super) const QRIS_MOST: Rupiah = Rupiah::new(10_000_000);
