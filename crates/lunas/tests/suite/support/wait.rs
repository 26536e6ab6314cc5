//! Waiting in tests: for a condition, and never for ever.

use std::{future::Future, panic::Location, time::Duration};

/// An upper bound for waits, which end long before unless something is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

const POLL_EVERY: Duration = Duration::from_millis(5);

/// Polls until `holds`, and fails when it takes too long.
#[track_caller]
pub(crate) fn until<Look: Future<Output = bool>>(holds: impl Fn() -> Look) -> impl Future<Output = ()> {
    until_within(PATIENCE, holds)
}

/// No `async fn`, so that a failure can name the line that waited.
#[track_caller]
pub(crate) fn until_within<Look: Future<Output = bool>>(
    patience: Duration,
    holds: impl Fn() -> Look,
) -> impl Future<Output = ()> {
    let waiting_at = Location::caller();
    async move {
        let looking = async {
            let mut looks = tokio::time::interval(POLL_EVERY);
            while !holds().await {
                looks.tick().await;
            }
        };
        let in_time = tokio::time::timeout(patience, looking).await.is_ok();
        assert!(in_time, "what {waiting_at} waits for did not come within {patience:?}");
    }
}
