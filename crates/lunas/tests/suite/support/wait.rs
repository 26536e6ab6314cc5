//! Waiting in tests: for a condition, and never for ever.

use std::{future::Future, time::Duration};

/// An upper bound for waits that end long before it unless something is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

const POLL_EVERY: Duration = Duration::from_millis(5);

/// Looks again and again until `holds`, and gives up long after that should have been.
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
