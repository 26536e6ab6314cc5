//! Who watches which payment, and the status that they see.

use std::{
    collections::{HashMap, hash_map::Entry},
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use domain::{
    id::PaymentId,
    payment::{Payment, State, Status},
    time::Timestamp,
};
use store::PaymentState;
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
};

/// Watchers of this process. Each belongs to an open connection of a customer, which costs far more than the watcher.
pub const WATCHERS_MOST: usize = 12_000;

/// There are too many watchers for now; the page can poll instead.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{WATCHERS_MOST} others watch payments already")]
pub struct TooManyWatchers;

/// The status that watchers of a payment see; none once watching was stopped.
pub(crate) type Shown = Option<Status>;

/// All watchers of this process, and their payments.
#[derive(Default)]
pub(crate) struct Watchers {
    register: Mutex<Register>,
    /// Wakes the poller: there is a new payment to read, or the last watcher has gone.
    pub(crate) poller_needed: Notify,
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
    pub(crate) fn enter(
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

    pub(crate) fn leave(&self, id: PaymentId) {
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

    pub(crate) fn stop(&self) {
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
    pub(crate) fn to_poll(&self, after_commit: bool) -> Vec<PaymentId> {
        let register = self.lock();
        let wanted = register.watched.iter().filter(|(_, watched)| {
            // A paid payment stays paid, while one that has ended otherwise may still be paid by late money.
            !watched.polled || after_commit && !matches!(watched.state, State::Paid { .. })
        });
        wanted.map(|(id, _)| *id).collect()
    }

    pub(crate) fn learn(&self, states: Vec<PaymentState>, now: Timestamp) {
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
    pub(crate) fn show(&self, now: Timestamp) -> bool {
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
