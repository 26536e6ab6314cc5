//! Tells pages that show a payment when it has moved, thousands of them for the price of a few reads.
//!
//! Watchers never read. One lookout for the whole process does it for all of them, a batch of payments at a time and only after
//! something was committed; that a payment expires it knows by the clock alone. There is a lookout only while someone watches.

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

/// Watchers of this process. Each of them holds a connection of a customer, which costs far more than the watching.
pub const WATCHERS_MOST: usize = 12_000;

/// How often the lookout goes by the clock and asks whether anyone has committed, when nobody wakes it.
const TICK: Duration = Duration::from_secs(1);
/// How much longer the lookout rests than it has looked, up to the most: a fifth of a core or a connection is enough for it.
const REST_PER_LOOK: u32 = 4;
/// The least rest, however many wakes come in it, and the most, so that a database that is slow for a moment does not keep
/// customers waiting for longer than that.
const REST_LEAST: Duration = Duration::from_millis(200);
const REST_MOST: Duration = Duration::from_millis(500);
/// Payments read at once: so many that asking costs little, and so few that a turn which reconcilers need is soon free again.
const STATES_AT_ONCE: usize = 500;

/// Nobody else may watch for now; a page can still ask again and again.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{WATCHERS_MOST} others watch payments already")]
pub struct TooManyWatchers;

/// Someone who looks at a payment. It is forgotten when it is dropped.
pub struct Watch {
    id: PaymentId,
    seen: Status,
    shown: watch::Receiver<Shown>,
    watchers: Arc<Watchers>,
}

/// What watchers of a payment are shown; none once nobody may watch any more.
type Shown = Option<Status>;

impl Engine {
    /// Begins to watch `payment`, as it was read before: what was committed since then is not missed. Call it on a runtime.
    pub fn watch(&self, payment: &Payment) -> Result<Watch, TooManyWatchers> {
        let now = self.now();
        let shown = self.watchers.enter(payment, now, || tokio::spawn(Lookout::new(self).run()))?;
        Ok(Watch { id: payment.id, seen: payment.status_at(now), shown, watchers: Arc::clone(&self.watchers) })
    }

    /// Ends every [`Watch`] there is and will be, so that no page that is open holds up the end of a server.
    pub fn stop_watching(&self) {
        self.watchers.stop();
    }
}

impl Watch {
    /// Waits until the payment's status is not the one last seen, and answers with it; none once watching was stopped. It can be
    /// dropped in the middle and called again.
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

/// Everyone who watches, and what they watch.
#[derive(Default)]
pub(crate) struct Watchers {
    register: Mutex<Register>,
    /// Someone has come whose payment must be looked at, or the last one has gone.
    turnout: Notify,
}

#[derive(Default)]
struct Register {
    watched: HashMap<PaymentId, Watched>,
    watchers: usize,
    lookout: Option<JoinHandle<()>>,
    stopped: bool,
}

/// A payment, and all who watch it.
struct Watched {
    state: State,
    version: i64,
    expires_at: Timestamp,
    /// Whether it was read since someone watches it; it may have moved between the first watcher's own read and then.
    looked_at: bool,
    watchers: usize,
    shown: watch::Sender<Shown>,
}

impl Watchers {
    /// Lets one more watch, and has a lookout started where there is none.
    fn enter(
        &self,
        payment: &Payment,
        now: Timestamp,
        start_lookout: impl FnOnce() -> JoinHandle<()>,
    ) -> Result<watch::Receiver<Shown>, TooManyWatchers> {
        let mut register = self.lock();
        if register.watchers >= WATCHERS_MOST {
            return Err(TooManyWatchers);
        }
        // One that has panicked, or whose runtime has ended, is replaced as well.
        if !register.stopped && register.lookout.as_ref().is_none_or(JoinHandle::is_finished) {
            register.lookout = Some(start_lookout());
        }
        register.watchers += 1;
        let shown = if register.stopped { None } else { Some(payment.status_at(now)) };
        let watched = register.watched.entry(payment.id).or_insert_with(|| Watched::new(payment, shown));
        watched.watchers += 1;
        // Whoever comes later may have read more than the lookout has, and later.
        watched.believe(payment.state, payment.version);
        watched.show(now);
        if !watched.looked_at {
            self.turnout.notify_one();
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
            self.turnout.notify_one();
        }
    }

    fn stop(&self) {
        let mut register = self.lock();
        register.stopped = true;
        if let Some(lookout) = register.lookout.take() {
            lookout.abort();
        }
        for watched in register.watched.values() {
            watched.shown.send_replace(None);
        }
    }

    /// Whose states must be read: those that nobody has looked at yet, and after a commit all that can still move.
    fn to_look_at(&self, after_commit: bool) -> Vec<PaymentId> {
        let register = self.lock();
        let wanted = register.watched.iter().filter(|(_, watched)| {
            // What is paid stays so, while money may still come late for what has ended otherwise.
            !watched.looked_at || after_commit && !matches!(watched.state, State::Paid { .. })
        });
        wanted.map(|(id, _)| *id).collect()
    }

    fn learn(&self, states: Vec<PaymentState>, now: Timestamp) {
        let mut register = self.lock();
        for read in states {
            if let Some(watched) = register.watched.get_mut(&read.id) {
                watched.looked_at = true;
                watched.believe(read.state, read.version);
                watched.show(now);
            }
        }
    }

    /// Shows everyone how their payment stands at `now`. False when there is nobody, and the lookout must go.
    fn show(&self, now: Timestamp) -> bool {
        let mut register = self.lock();
        if register.watchers == 0 {
            // Whoever comes after this finds no lookout and starts another.
            register.lookout = None;
            return false;
        }
        for watched in register.watched.values() {
            watched.show(now);
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Register> {
        // Nothing here is left half done by a panic: what may fail comes before the counts, which change together.
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    fn new(payment: &Payment, shown: Shown) -> Watched {
        Watched {
            state: payment.state,
            version: payment.version,
            expires_at: payment.expires_at,
            looked_at: false,
            watchers: 0,
            shown: watch::Sender::new(shown),
        }
    }

    /// A look that took its time must not bring back what was before.
    fn believe(&mut self, state: State, version: i64) {
        if version >= self.version {
            (self.state, self.version) = (state, version);
        }
    }

    fn show(&self, now: Timestamp) {
        let status = Some(self.state.status_at(now, self.expires_at));
        // Once watching was stopped it stays so, though the lookout may be in the middle of a look.
        self.shown.send_if_modified(|shown| shown.is_some() && mem::replace(shown, status) != status);
    }
}

/// The one task that reads for all who watch.
struct Lookout {
    engine: Engine,
    commits: Commits,
    /// Whether something was committed that was not looked at yet.
    behind: bool,
    /// Whether the database answered when it was last asked.
    answered: bool,
}

impl Lookout {
    fn new(engine: &Engine) -> Lookout {
        Lookout { engine: engine.clone(), commits: engine.store.commits(), behind: false, answered: true }
    }

    async fn run(mut self) {
        let watchers = Arc::clone(&self.engine.watchers);
        loop {
            let began = Instant::now();
            self.try_to_look().await;
            if !watchers.show(self.engine.now()) {
                return;
            }
            // Wakes that come meanwhile are kept, and are one wake then.
            sleep((began.elapsed() * REST_PER_LOOK).clamp(REST_LEAST, REST_MOST)).await;
            tokio::select! {
                () = self.commits.wake() => {}
                () = watchers.turnout.notified() => {}
                () = sleep_until((began + TICK).into()) => {}
            }
        }
    }

    /// A database that does not answer ends no watch: the clock goes on, and the next look finds what this one missed.
    async fn try_to_look(&mut self) {
        let looked = self.look().await;
        let answered = mem::replace(&mut self.answered, looked.is_ok());
        match looked {
            Err(error) if answered => {
                tracing::warn!(%error, "watched payments could not be looked at and will be until they can");
            }
            Ok(()) if !answered => tracing::info!("watched payments can be looked at again"),
            Ok(()) | Err(_) => {}
        }
    }

    async fn look(&mut self) -> Result<(), StoreError> {
        // Asked before anything is read, so that what is committed meanwhile is found the next time.
        self.behind |= self.commits.any()?;
        for ids in self.engine.watchers.to_look_at(self.behind).chunks(STATES_AT_ONCE) {
            let states = self.engine.store.payment_states(ids).await?;
            self.engine.watchers.learn(states, self.engine.now());
        }
        self.behind = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        id::{ENTROPY_BYTES, mint},
        method::Method,
        money::Rupiah,
    };

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn payment(number: u8, state: State, version: i64) -> Payment {
        Payment {
            id: mint(NOW, [number; ENTROPY_BYTES]),
            project_id: mint(NOW, [0; ENTROPY_BYTES]),
            link_id: None,
            reference: String::new(),
            amount: Rupiah::new(10_000),
            fee: Rupiah::ZERO,
            method: Method::Qris,
            code: String::new(),
            checkout: None,
            state,
            created_at: NOW,
            expires_at: NOW,
            version,
        }
    }

    fn read(Payment { id, state, version, .. }: Payment) -> Vec<PaymentState> {
        vec![PaymentState { id, state, version }]
    }

    fn enter(watchers: &Watchers, payment: &Payment) -> watch::Receiver<Shown> {
        watchers.enter(payment, NOW, || tokio::spawn(async {})).unwrap()
    }

    #[tokio::test]
    async fn a_payment_is_read_once_for_all_who_come_and_after_commits_until_it_is_paid() {
        let (watchers, pending) = (Watchers::default(), payment(1, State::Pending, 1));
        let _shown: Vec<_> = (0..100).map(|_| enter(&watchers, &pending)).collect();
        let check = |before: &[PaymentId], after: &[PaymentId]| {
            assert_eq!((&watchers.to_look_at(false)[..], &watchers.to_look_at(true)[..]), (before, after));
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
    async fn what_is_older_than_what_is_known_is_not_shown() {
        let watchers = Watchers::default();
        let shown = enter(&watchers, &payment(1, State::Pending, 1));
        assert_eq!(*shown.borrow(), Some(Status::Pending));
        enter(&watchers, &payment(1, State::Processing, 2));
        assert_eq!(*shown.borrow(), Some(Status::Processing), "whoever comes may know more");
        watchers.learn(read(payment(1, State::Pending, 1)), NOW);
        assert_eq!(*shown.borrow(), Some(Status::Processing), "a look may have taken its time");
        watchers.learn(read(payment(1, State::Paid { at: NOW }, 3)), NOW);
        enter(&watchers, &payment(1, State::Processing, 2));
        assert_eq!(*shown.borrow(), Some(Status::Paid), "whoever comes may know less");
    }

    #[tokio::test]
    async fn what_is_learnt_after_the_end_is_shown_to_nobody() {
        let watchers = Watchers::default();
        let shown = enter(&watchers, &payment(1, State::Pending, 1));
        watchers.stop();
        watchers.learn(read(payment(1, State::Paid { at: NOW }, 2)), NOW);
        assert!(watchers.show(NOW));
        assert_eq!(*shown.borrow(), None);
    }

    #[tokio::test]
    async fn whoever_has_left_is_forgotten() {
        let (watchers, pending) = (Watchers::default(), payment(1, State::Pending, 1));
        let _shown = [enter(&watchers, &pending), enter(&watchers, &pending)];
        watchers.leave(pending.id);
        assert!(watchers.show(NOW), "the other one still watches");
        watchers.leave(pending.id);
        assert!(watchers.lock().watched.is_empty());
        assert!(!watchers.show(NOW) && watchers.lock().lookout.is_none(), "and the next one starts another lookout");
    }
}
