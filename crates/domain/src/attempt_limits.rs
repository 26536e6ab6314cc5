//! How many attempts to pay a link there may be, so that one public link cannot fill a database.

use std::time::Duration;

use crate::link::Link;

/// The limits of an installation. Beyond them, a customer is asked to try again later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptLimits {
    /// Pending payments that a single-use link may have at a time.
    pub pending_single_use: i64,
    /// Pending payments that a link for many payments may have at a time.
    pub pending_multi_use: i64,
    /// New attempts on a single-use link that one address may make within `window`; none where that is not limited.
    pub per_address: Option<i64>,
    pub window: Duration,
}

impl Default for AttemptLimits {
    fn default() -> AttemptLimits {
        AttemptLimits {
            pending_single_use: 20,
            pending_multi_use: 1_000,
            per_address: Some(10),
            window: Duration::from_mins(10),
        }
    }
}

impl AttemptLimits {
    pub const fn pending_most(&self, link: &Link) -> i64 {
        if link.allow_multiple_payments { self.pending_multi_use } else { self.pending_single_use }
    }

    /// How many new attempts on the link one address may make within the window. A link for many payments has no such
    /// limit, since phone networks put thousands of customers behind one address.
    pub fn per_address_most(&self, link: &Link) -> Option<i64> {
        self.per_address.filter(|_| !link.allow_multiple_payments)
    }
}
