//! Checks now and then that commits succeed, for the health check of load balancers.
//!
//! A read says nothing about commits: a full disk, a file system or server that has become read-only, or a standby that
//! is away lets reads through. So something is committed, at most once in [`TRUSTED_FOR`], however often it is asked.

use std::{
    future::Future,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

use crate::error::{CommitError, StoreError};

/// How long an outcome is trusted before the next probe is made.
const TRUSTED_FOR: Duration = Duration::from_secs(1);
/// How long a commit may take before commits count as failing. A probe that takes longer goes on; none is made beside it.
const COMMIT_WITHIN: Duration = Duration::from_secs(3);
/// A change that could not be committed counts for this long, unless another one is committed. A disk may have room for
/// a probe and for nothing else.
const FAILURE_COUNTS_FOR: Duration = Duration::from_secs(5);

/// What is known about commits. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct CommitProbe {
    probes: watch::Sender<Probes>,
    failures: Arc<Failures>,
}

/// The last probe and the one that is running.
#[derive(Clone, Copy, Default)]
struct Probes {
    /// When the last probe ended, and whether it was committed.
    last: Option<(Instant, bool)>,
    running_since: Option<Instant>,
}

/// When a change could last not be committed; none once one was committed after it.
#[derive(Default)]
struct Failures {
    /// Whether there is a time. Every commit asks, so it must be quick.
    any: AtomicBool,
    last: Mutex<Option<Instant>>,
}

impl CommitProbe {
    /// Takes note of how a change's commit ended. One that its own guard stopped says nothing about the database.
    pub(crate) fn note(&self, outcome: &Result<(), CommitError>) {
        match outcome {
            Ok(()) if self.failures.any.load(Ordering::Relaxed) => {
                *self.failures.last() = None;
                self.failures.any.store(false, Ordering::Relaxed);
            }
            Err(CommitError::Store(StoreError::Unavailable(_) | StoreError::Undecided(_))) => {
                *self.failures.last() = Some(Instant::now());
                self.failures.any.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    /// Whether commits succeed, by the last changes and by a probe that has just ended or that `commit` makes now.
    pub(crate) async fn succeeds<Committed>(&self, commit: impl FnOnce() -> Committed) -> bool
    where
        Committed: Future<Output = bool> + Send + 'static,
    {
        let now = Instant::now();
        let has_failed = self.failures.last().is_some_and(|failed| now < failed + FAILURE_COUNTS_FOR);
        !has_failed && self.probed(now, commit).await
    }

    async fn probed<Committed>(&self, now: Instant, commit: impl FnOnce() -> Committed) -> bool
    where
        Committed: Future<Output = bool> + Send + 'static,
    {
        let starts = self.probes.send_if_modified(|probes| {
            let is_trusted = probes.last.is_some_and(|(ended, _)| now < ended + TRUSTED_FOR);
            let starts = !is_trusted && probes.running_since.is_none();
            if starts {
                probes.running_since = Some(now);
            }
            starts
        });
        if starts {
            let (running, commit) = (RunningProbe(self.probes.clone()), commit());
            // A task of its own, which goes on when the caller has gone.
            tokio::spawn(async move { running.end(commit.await) });
        }
        let mut probes = self.probes.subscribe();
        let started = probes.borrow().running_since.unwrap_or(now);
        let ended = timeout_at(started + COMMIT_WITHIN, probes.wait_for(|probes| probes.running_since.is_none())).await;
        matches!(ended, Ok(Ok(probes)) if probes.last.is_some_and(|(_, committed)| committed))
    }
}

impl Failures {
    fn last(&self) -> MutexGuard<'_, Option<Instant>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A probe that is running. Dropped before its end, as when its task panics, it counts as failed.
struct RunningProbe(watch::Sender<Probes>);

impl RunningProbe {
    fn end(self, committed: bool) {
        self.0.send_replace(Probes { last: Some((Instant::now(), committed)), running_since: None });
    }
}

impl Drop for RunningProbe {
    fn drop(&mut self) {
        self.0.send_if_modified(|probes| {
            let is_running = probes.running_since.take().is_some();
            if is_running {
                probes.last = Some((Instant::now(), false));
            }
            is_running
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_outcome_is_trusted_for_a_moment_and_then_probed_again() {
        let (probe, made) = (CommitProbe::default(), Arc::new(AtomicUsize::new(0)));
        let ask = async |committed: bool| {
            let made = Arc::clone(&made);
            let commit = async move {
                made.fetch_add(1, Ordering::Relaxed);
                committed
            };
            probe.succeeds(|| commit).await
        };
        assert!(ask(true).await);
        assert!(ask(false).await, "the first outcome is still trusted");
        assert_eq!(made.load(Ordering::Relaxed), 1);
        sleep(TRUSTED_FOR).await;
        assert!(!ask(false).await);
        sleep(TRUSTED_FOR).await;
        assert!(ask(true).await, "it recovers by itself");
        assert_eq!(made.load(Ordering::Relaxed), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_that_was_not_committed_counts_until_one_is_or_for_a_while() {
        let probe = CommitProbe::default();
        let ask = || probe.succeeds(|| std::future::ready(true));
        let failed = Err(StoreError::unavailable("the disk is full").into());
        probe.note(&failed);
        assert!(!ask().await);
        probe.note(&Err(StoreError::unexpected("a constraint").into()));
        assert!(!ask().await, "this says nothing about the disk");
        probe.note(&Ok(()));
        assert!(ask().await);
        probe.note(&failed);
        assert!(!ask().await);
        sleep(FAILURE_COUNTS_FOR).await;
        assert!(ask().await, "no change comes, and the probe succeeds");
    }

    #[tokio::test(start_paused = true)]
    async fn a_commit_that_hangs_counts_as_failed_and_no_other_is_made_beside_it() {
        let probe = CommitProbe::default();
        let asked = Instant::now();
        assert!(!probe.succeeds(std::future::pending::<bool>).await);
        assert_eq!(asked.elapsed(), COMMIT_WITHIN);
        let second = || async { unreachable!("the first probe is still running") };
        assert!(!probe.succeeds(second).await);
        assert_eq!(asked.elapsed(), COMMIT_WITHIN, "and its time is over");
    }
}
