//! Limits on scans: reads whose cost grows with the tables, such as lists, counts and reports. Both databases share
//! them.
//!
//! More scans at once would only take connections, memory and cores from short reads and commits.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::StoreError;

/// Scans that run at once, where there are connections enough.
pub(crate) const SCANS_AT_ONCE: usize = 4;
/// Polls of the reconcilers that run at once, where there are connections enough.
pub(crate) const POLLS_AT_ONCE: usize = 2;
/// Scans that run or wait. One more fails at once, as the database is too busy.
const SCANS_MOST: usize = 512;

/// The permits that scans and polls need.
#[derive(Clone)]
pub(crate) struct ScanLimits {
    queue: Arc<Semaphore>,
    scans: Arc<Semaphore>,
    polls: Arc<Semaphore>,
}

impl ScanLimits {
    pub(crate) fn new(scans_at_once: usize, polls_at_once: usize) -> ScanLimits {
        ScanLimits {
            queue: Arc::new(Semaphore::new(SCANS_MOST)),
            scans: Arc::new(Semaphore::new(scans_at_once)),
            polls: Arc::new(Semaphore::new(polls_at_once)),
        }
    }

    /// Takes a place in the queue of scans. Hold it until the scan has ended or its caller has gone.
    pub(crate) fn enter_queue(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        let place = Arc::clone(&self.queue).try_acquire_owned();
        place.map_err(|_| StoreError::unavailable("too many scans are waiting"))
    }

    /// Waits for the permit of one scan. Hold it until the database has finished the scan, even when its caller has
    /// gone.
    pub(crate) async fn scan(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        Arc::clone(&self.scans).acquire_owned().await.map_err(StoreError::unavailable)
    }

    /// Waits for the permit of one poll of a reconciler, which never waits for scans.
    pub(crate) async fn poll(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        Arc::clone(&self.polls).acquire_owned().await.map_err(StoreError::unavailable)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_scan_waits_for_a_permit_and_fails_when_too_many_wait() {
        let limits = ScanLimits::new(1, 1);
        let running = limits.scan().await.unwrap();
        assert!(limits.poll().await.is_ok(), "polls do not wait for scans");
        let mut second = Box::pin(limits.scan());
        assert!(second.as_mut().now_or_never().is_none());
        drop(running);
        assert!(second.await.is_ok());
        let places: Vec<_> = (0..SCANS_MOST).map(|_| limits.enter_queue().unwrap()).collect();
        assert!(limits.enter_queue().is_err());
        drop(places);
        assert!(limits.enter_queue().is_ok());
    }
}
