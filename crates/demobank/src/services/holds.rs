//! Calls that the bank keeps waiting until it is told to go on, so that tests need no clock to be in between.

use tokio::sync::watch;

/// The calls that wait.
pub(super) struct Holds {
    /// Grows when all that wait may go on.
    releases: watch::Sender<u64>,
    waiting: watch::Sender<usize>,
}

/// Counts a call as waiting until it is dropped.
struct Waiting<'a>(&'a Holds);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.send_modify(|count| *count -= 1);
    }
}

impl Default for Holds {
    fn default() -> Holds {
        Holds { releases: watch::Sender::new(0), waiting: watch::Sender::new(0) }
    }
}

impl Holds {
    /// Waits for the next release.
    pub(super) async fn wait(&self) {
        // Listens before it counts, so that a release that follows the count is not missed.
        let mut releases = self.releases.subscribe();
        self.waiting.send_modify(|count| *count += 1);
        let _waiting = Waiting(self);
        // An error would mean that the bank is gone, and it is not: it holds the sender.
        let _released = releases.changed().await;
    }

    pub(super) fn release(&self) {
        self.releases.send_modify(|count| *count += 1);
    }

    /// Returns once at least this many calls wait.
    pub(super) async fn until(&self, least: usize) {
        let mut waiting = self.waiting.subscribe();
        let _waited = waiting.wait_for(|count| *count >= least).await;
    }
}
