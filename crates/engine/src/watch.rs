//! Notifies pages when the status of a payment changes, thousands of pages with a few reads.
//!
//! Watchers never read the database. One status poller per process reads for all of them, many payments at a time and
//! only after a commit; expiries it computes from the clock. The poller runs only while there are watchers.

use std::{
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{
    id::PaymentId,
    payment::{Payment, Status},
};
use store::{Commits, StoreError};
use tokio::{
    sync::watch,
    time::{sleep, sleep_until},
};

use crate::{
    Engine,
    memory::watchers::{Shown, TooManyWatchers, Watchers},
};

/// How often the poller runs without a notification: to compute expiries and to ask whether there was a commit.
const TICK: Duration = Duration::from_secs(1);
/// The wait after a poll, as a multiple of the poll's time, so that polling takes at most a fifth of a core or a
/// connection.
const REST_PER_POLL: u32 = 4;
/// The shortest wait, however many notifications arrive, and the longest, so that customers do not wait longer when the
/// database is slow: poll at least twice a second after commits.
const REST_LEAST: Duration = Duration::from_millis(200);
const REST_MOST: Duration = Duration::from_millis(500);
/// Payments that one query reads: enough to make the query cheap per payment, and few enough to free its permit soon
/// for the reconcilers.
const STATES_AT_ONCE: usize = 500;

/// A watcher of one payment. Dropping it ends the watch.
pub struct Watch {
    id: PaymentId,
    seen: Status,
    shown: watch::Receiver<Shown>,
    watchers: Arc<Watchers>,
}

impl Engine {
    /// Starts to watch `payment`. Changes that were committed after the caller read the payment are not missed. Call it
    /// within a Tokio runtime.
    pub fn watch(&self, payment: &Payment) -> Result<Watch, TooManyWatchers> {
        let now = self.now();
        let shown = self.watchers.enter(payment, now, || tokio::spawn(StatusPoller::new(self).run()))?;
        Ok(Watch { id: payment.id, seen: payment.status_at(now), shown, watchers: Arc::clone(&self.watchers) })
    }

    /// Ends every present and future [`Watch`], so that open pages do not delay the shutdown of a server.
    pub fn stop_watching(&self) {
        self.watchers.stop();
    }
}

impl Watch {
    /// Waits until the payment's status differs from the last one seen, and returns it; none once watching was stopped.
    /// It is safe to cancel and to call again.
    pub async fn changed(&mut self) -> Option<Status> {
        let seen = Some(self.seen);
        let shown = *self.shown.wait_for(|shown| *shown != seen).await.ok()?;
        self.seen = shown?;
        shown
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.watchers.leave(self.id);
    }
}

/// The task that reads payments' states for all watchers.
struct StatusPoller {
    engine: Engine,
    commits: Commits,
    /// Whether there was a commit after which not everything has been read yet.
    behind: bool,
    /// Whether the last poll succeeded.
    answered: bool,
}

impl StatusPoller {
    fn new(engine: &Engine) -> StatusPoller {
        StatusPoller { engine: engine.clone(), commits: engine.store.commits(), behind: false, answered: true }
    }

    async fn run(mut self) {
        let watchers = Arc::clone(&self.engine.watchers);
        loop {
            let began = Instant::now();
            self.poll_and_log().await;
            if !watchers.show(self.engine.now()) {
                return;
            }
            // Notifications that arrive meanwhile are merged into one.
            sleep((began.elapsed() * REST_PER_POLL).clamp(REST_LEAST, REST_MOST)).await;
            tokio::select! {
                () = self.commits.notified() => {}
                () = watchers.poller_needed.notified() => {}
                () = sleep_until((began + TICK).into()) => {}
            }
        }
    }

    /// A failed poll ends no watch: expiries are still computed from the clock, and the next poll finds what this one
    /// missed.
    async fn poll_and_log(&mut self) {
        let polled = self.poll().await;
        let answered = mem::replace(&mut self.answered, polled.is_ok());
        match polled {
            Err(error) if answered => {
                tracing::warn!(%error, "polling watched payments failed and will be retried");
            }
            Ok(()) if !answered => tracing::info!("polling watched payments works again"),
            Ok(()) | Err(_) => {}
        }
    }

    async fn poll(&mut self) -> Result<(), StoreError> {
        // Before anything is read, so that a commit in the meantime is found by the next poll.
        self.behind |= self.commits.any()?;
        for ids in self.engine.watchers.to_poll(self.behind).chunks(STATES_AT_ONCE) {
            let states = self.engine.store.payment_states(ids).await?;
            self.engine.watchers.learn(states, self.engine.now());
        }
        self.behind = false;
        Ok(())
    }
}
