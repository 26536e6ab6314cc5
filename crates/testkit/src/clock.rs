//! The clock that tests move.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use domain::time::Timestamp;
use engine::Clock;

/// 2026-11-14T09:30:00Z: when every test begins.
const BEGINNING: i64 = 1_794_648_600_000;

/// A clock that stands still until a test moves it.
pub struct ManualClock(AtomicI64);

impl Default for ManualClock {
    fn default() -> ManualClock {
        ManualClock(AtomicI64::new(BEGINNING))
    }
}

impl ManualClock {
    pub fn advance(&self, duration: Duration) {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        self.0.fetch_add(millis, Ordering::SeqCst);
    }

    pub fn set(&self, to: Timestamp) {
        self.0.store(to.as_millis(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}
