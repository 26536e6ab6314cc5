//! Waiting in tests: for a condition, and never for ever.

use std::{future::Future, time::Duration};

/// An upper bound for waits, which end long before unless something is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

const POLL_EVERY: Duration = Duration::from_millis(5);

/// Polls until `holds`, and fails when it takes too long.
pub(crate) async fn until<Look: Future<Output = bool>>(holds: impl Fn() -> Look) {
    until_within(PATIENCE, holds).await;
}

pub(crate) async fn until_within<Look: Future<Output = bool>>(patience: Duration, holds: impl Fn() -> Look) {
    let looking = async {
        let mut looks = tokio::time::interval(POLL_EVERY);
        while !holds().await {
            looks.tick().await;
        }
    };
    tokio::time::timeout(patience, looking).await.unwrap();
}
