//! Notifies pages when the status of a payment changes, thousands of pages with a few reads.
//!
//! Watchers never read the database. One status poller per process reads for all of them, many payments at a time and
//! only after a commit; expiries it computes from the clock. The poller runs only while there are watchers.

use std::{
    collections::{HashMap, hash_map::Entry},
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use domain::{
    id::PaymentId,
    payment::{Payment, State, Status},
    time::Timestamp,
};
use store::{Commits, PaymentState, StoreError};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time::{sleep, sleep_until},
};

use crate::Engine;

/// Watchers of this process. Each belongs to an open connection of a customer, which costs far more than the watcher.
pub const WATCHERS_MOST: usize = 12_000;

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

/// There are too many watchers for now; the page can poll instead.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{WATCHERS_MOST} others watch payments already")]
pub struct TooManyWatchers;

/// A watcher of one payment. Dropping it ends the watch.
pub struct Watch {
    id: PaymentId,
    seen: Status,
    shown: watch::Receiver<Shown>,
    watchers: Arc<Watchers>,
}

/// The status that watchers of a payment see; none once watching was stopped.
type Shown = Option<Status>;

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

/// All watchers of this process, and their payments.
#[derive(Default)]
pub(crate) struct Watchers {
    register: Mutex<Register>,
    /// Wakes the poller: there is a new payment to read, or the last watcher has gone.
    poller_needed: Notify,
}

#[derive(Default)]
struct Register {
    watched: HashMap<PaymentId, Watched>,
    watchers: usize,
    poller: Option<JoinHandle<()>>,
    stopped: bool,
}

/// A payment with its watchers.
struct Watched {
    state: State,
    version: i64,
    expires_at: Timestamp,
    /// Whether the poller has read it; it may have changed after the first watcher's own read.
    polled: bool,
    watchers: usize,
    shown: watch::Sender<Shown>,
}

impl Watchers {
    /// Adds a watcher, and starts the poller if none is running.
    fn enter(
        &self,
        payment: &Payment,
        now: Timestamp,
        start_poller: impl FnOnce() -> JoinHandle<()>,
    ) -> Result<watch::Receiver<Shown>, TooManyWatchers> {
        let mut register = self.lock();
        if register.watchers >= WATCHERS_MOST {
            return Err(TooManyWatchers);
        }
        // A poller that has panicked, or whose runtime has ended, is replaced too.
        if !register.stopped && register.poller.as_ref().is_none_or(JoinHandle::is_finished) {
            register.poller = Some(start_poller());
        }
        register.watchers += 1;
        let shown = if register.stopped { None } else { Some(payment.status_at(now)) };
        let watched = register.watched.entry(payment.id).or_insert_with(|| Watched::new(payment, shown));
        watched.watchers += 1;
        // A new watcher may have read the payment later than the poller has.
        watched.update(payment.state, payment.version);
        watched.show(now);
        if !watched.polled {
            self.poller_needed.notify_one();
        }
        Ok(watched.shown.subscribe())
    }

    fn leave(&self, id: PaymentId) {
        let mut register = self.lock();
        register.watchers -= 1;
        if let Entry::Occupied(mut entry) = register.watched.entry(id) {
            entry.get_mut().watchers -= 1;
            if entry.get().watchers == 0 {
                entry.remove();
            }
        }
        if register.watchers == 0 {
            self.poller_needed.notify_one();
        }
    }

    fn stop(&self) {
        let mut register = self.lock();
        register.stopped = true;
        if let Some(poller) = register.poller.take() {
            poller.abort();
        }
        for watched in register.watched.values() {
            watched.shown.send_replace(None);
        }
    }

    /// The payments to read: those that were never polled, and after a commit all whose status can still change.
    fn to_poll(&self, after_commit: bool) -> Vec<PaymentId> {
        let register = self.lock();
        let wanted = register.watched.iter().filter(|(_, watched)| {
            // A paid payment stays paid, while one that has ended otherwise may still be paid by late money.
            !watched.polled || after_commit && !matches!(watched.state, State::Paid { .. })
        });
        wanted.map(|(id, _)| *id).collect()
    }

    fn learn(&self, states: Vec<PaymentState>, now: Timestamp) {
        let mut register = self.lock();
        for read in states {
            if let Some(watched) = register.watched.get_mut(&read.id) {
                watched.polled = true;
                watched.update(read.state, read.version);
                watched.show(now);
            }
        }
    }

    /// Shows all watchers the status of their payment at `now`. False when there are no watchers; then the poller must
    /// end.
    fn show(&self, now: Timestamp) -> bool {
        let mut register = self.lock();
        if register.watchers == 0 {
            // The next watcher finds no poller and starts another.
            register.poller = None;
            return false;
        }
        for watched in register.watched.values() {
            watched.show(now);
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Register> {
        // Everything that may panic comes before the counts change, so a panic leaves the register valid.
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    fn new(payment: &Payment, shown: Shown) -> Watched {
        Watched {
            state: payment.state,
            version: payment.version,
            expires_at: payment.terms.expires_at,
            polled: false,
            watchers: 0,
            shown: watch::Sender::new(shown),
        }
    }

    /// Ignores a state that is older than the known one: a slow read may finish after a newer one.
    fn update(&mut self, state: State, version: i64) {
        if version >= self.version {
            (self.state, self.version) = (state, version);
        }
    }

    fn show(&self, now: Timestamp) {
        let status = Some(self.state.status_at(now, self.expires_at));
        // Once watching was stopped it stays stopped, although the poller may be in the middle of a poll.
        self.shown.send_if_modified(|shown| shown.is_some() && mem::replace(shown, status) != status);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{NOW, payment};

    fn read(Payment { id, state, version, .. }: Payment) -> Vec<PaymentState> {
        vec![PaymentState { id, state, version }]
    }

    fn enter(watchers: &Watchers, payment: &Payment) -> watch::Receiver<Shown> {
        watchers.enter(payment, NOW, || tokio::spawn(async {})).unwrap()
    }

    #[tokio::test]
    async fn a_payment_is_read_once_for_all_watchers_and_after_commits_until_it_is_paid() {
        let (watchers, pending) = (Watchers::default(), payment(1, State::Pending, 1));
        let _shown: Vec<_> = (0..100).map(|_| enter(&watchers, &pending)).collect();
        let check = |before: &[PaymentId], after: &[PaymentId]| {
            assert_eq!((&watchers.to_poll(false)[..], &watchers.to_poll(true)[..]), (before, after));
        };
        check(&[pending.id], &[pending.id]);
        for (version, state) in [State::Pending, State::Processing, State::Failed { at: NOW }].into_iter().enumerate() {
            watchers.learn(read(payment(1, state, version as i64 + 1)), NOW);
            check(&[], &[pending.id]);
        }
        watchers.learn(read(payment(1, State::Paid { at: NOW }, 9)), NOW);
        check(&[], &[]);
    }

    #[tokio::test]
    async fn an_older_state_than_the_known_one_is_not_shown() {
        let watchers = Watchers::default();
        let shown = enter(&watchers, &payment(1, State::Pending, 1));
        assert_eq!(*shown.borrow(), Some(Status::Pending));
        enter(&watchers, &payment(1, State::Processing, 2));
        assert_eq!(*shown.borrow(), Some(Status::Processing), "a new watcher may know a newer state");
        watchers.learn(read(payment(1, State::Pending, 1)), NOW);
        assert_eq!(*shown.borrow(), Some(Status::Processing), "a slow poll may know an older state");
        watchers.learn(read(payment(1, State::Paid { at: NOW }, 3)), NOW);
        enter(&watchers, &payment(1, State::Processing, 2));
        assert_eq!(*shown.borrow(), Some(Status::Paid), "a new watcher may know an older state");
    }

    #[tokio::test]
    async fn a_state_that_is_read_after_watching_was_stopped_is_not_shown() {
        let watchers = Watchers::default();
        let shown = enter(&watchers, &payment(1, State::Pending, 1));
        watchers.stop();
        watchers.learn(read(payment(1, State::Paid { at: NOW }, 2)), NOW);
        assert!(watchers.show(NOW));
        assert_eq!(*shown.borrow(), None);
    }

    #[tokio::test]
    async fn a_payment_without_watchers_is_dropped() {
        let (watchers, pending) = (Watchers::default(), payment(1, State::Pending, 1));
        let _shown = [enter(&watchers, &pending), enter(&watchers, &pending)];
        watchers.leave(pending.id);
        assert!(watchers.show(NOW), "one watcher is left");
        watchers.leave(pending.id);
        assert!(watchers.lock().watched.is_empty());
        assert!(!watchers.show(NOW) && watchers.lock().poller.is_none(), "and the next watcher starts another poller");
    }
}
