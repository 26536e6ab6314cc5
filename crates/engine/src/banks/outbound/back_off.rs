//! How long a bank is left alone after a try that came to nothing.

use std::time::Duration;

use rand::RngExt;

/// The waits between tries: each twice as long as the one before, up to the longest.
const BACK_OFF_FIRST: Duration = Duration::from_secs(5);
const BACK_OFF_MOST: Duration = Duration::from_mins(5);

pub(in crate::banks) fn back_off(tries: i64) -> Duration {
    let doublings = u32::try_from(tries.clamp(1, 16) - 1).unwrap_or_default();
    let rest = BACK_OFF_FIRST.saturating_mul(2_u32.saturating_pow(doublings)).min(BACK_OFF_MOST);
    // Those that failed together do not come back together.
    rest + rest.mul_f64(rand::rng().random_range(0.0..0.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_limit_and_differ() {
        for (tries, least) in [(0, 5), (1, 5), (2, 10), (5, 80), (7, 300), (100, 300)] {
            let least = Duration::from_secs(least);
            let wait = back_off(tries);
            assert!(wait >= least && wait < least.mul_f64(1.2), "{tries}: {wait:?}");
        }
    }
}
