//! Work that takes a core for a while, such as drawing a picture or hashing a password. A few pieces of it run at once, a bounded
//! number of callers wait for their turn, and one more is turned away.
//!
//! A turn belongs to the work and not to its caller. A request that is dropped does not stop the thread that works for it, so the
//! thread keeps the turn to its end; else callers that come and go could have any number of threads running.

use std::{num::NonZero, sync::Arc, thread};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::low_priority::lower_priority;

/// One kind of work, with its limits.
pub struct BlockingWork {
    /// Pieces that run or wait.
    places: Arc<Semaphore>,
    turns: Arc<Semaphore>,
}

/// Permission for one piece of work.
pub struct Turn {
    _place: OwnedSemaphorePermit,
    _turn: OwnedSemaphorePermit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// Too much of this work waits already, or the machine has no thread left for it.
    #[error("the server is too busy for this work")]
    Busy,
    #[error("the work panicked")]
    Failed,
}

/// How many cores the machine has.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Half of the machine's cores, one at least: what work that anybody may ask for can take.
pub fn half_of_the_cores() -> usize {
    (cores() / 2).max(1)
}

impl BlockingWork {
    pub fn new(at_once: usize, waiting_most: usize) -> BlockingWork {
        BlockingWork {
            places: Arc::new(Semaphore::new(at_once + waiting_most)),
            turns: Arc::new(Semaphore::new(at_once)),
        }
    }

    /// Waits for a turn. When too many wait already it fails at once.
    pub async fn turn(&self) -> Result<Turn, WorkError> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| WorkError::Busy)?;
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| WorkError::Failed)?;
        Ok(Turn { _place: place, _turn: turn })
    }

    /// How many pieces could begin now.
    #[cfg(test)]
    pub(crate) fn free_turns(&self) -> usize {
        self.turns.available_permits()
    }
}

impl Turn {
    /// Does the work on a thread for blocking work.
    pub async fn run<T: Send + 'static>(self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, WorkError> {
        let working = tokio::task::spawn_blocking(move || {
            let _turn = self;
            work()
        });
        working.await.map_err(|_| WorkError::Failed)
    }

    /// Does the work on a thread of its own, at a low priority where the system is Linux: requests go first.
    pub async fn run_quietly<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        self.run_on(thread::Builder::new().name("quiet-work".to_owned()), work).await
    }

    async fn run_on<T: Send + 'static>(
        self,
        thread: thread::Builder,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let (sender, done) = oneshot::channel();
        let working = thread.spawn(move || {
            let turn = self;
            lower_priority();
            let outcome = work();
            // First, also where the work panics: the turn is free when the caller goes on.
            drop(turn);
            // The caller may have gone.
            let _ = sender.send(outcome);
        });
        if let Err(error) = working {
            tracing::warn!(%error, "no thread could be started");
            return Err(WorkError::Busy);
        }
        done.await.map_err(|_| WorkError::Failed)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    use futures_util::future::FutureExt as _;

    use super::*;

    const AT_ONCE: usize = 2;
    const WAITING: usize = 3;

    #[derive(Default)]
    struct Seen {
        running: AtomicUsize,
        most: AtomicUsize,
        ended: AtomicUsize,
    }

    impl Seen {
        fn work(&self) {
            let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(running, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(5));
            self.running.fetch_sub(1, Ordering::SeqCst);
            self.ended.fetch_add(1, Ordering::SeqCst);
        }
    }

    async fn idle(work: &BlockingWork) {
        while work.free_turns() < AT_ONCE {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test]
    async fn callers_that_go_away_never_have_more_work_running_than_the_limit() {
        let (work, seen) = (BlockingWork::new(AT_ONCE, WAITING), Arc::new(Seen::default()));
        for number in 0..100 {
            let seen = Arc::clone(&seen);
            let piece = async {
                let turn = work.turn().await?;
                let job = move || seen.work();
                if number % 2 == 0 { turn.run(job).await } else { turn.run_quietly(job).await }
            };
            // Polled once, as by a request that is dropped soon after it came. Where this thread loses its core for a moment, the
            // work may have ended by then.
            let polled = Box::pin(piece).now_or_never();
            assert!(matches!(polled, None | Some(Ok(()) | Err(WorkError::Busy))), "{polled:?}");
            tokio::task::yield_now().await;
        }
        idle(&work).await;
        assert!(seen.ended.load(Ordering::SeqCst) >= AT_ONCE);
        assert!((1..=AT_ONCE).contains(&seen.most.load(Ordering::SeqCst)), "{:?}", seen.most);
    }

    #[tokio::test]
    async fn one_more_than_may_wait_is_turned_away_at_once() {
        let work = BlockingWork::new(AT_ONCE, WAITING);
        let turns = [work.turn().await.unwrap(), work.turn().await.unwrap()];
        let mut waiting: Vec<_> = (0..WAITING).map(|_| Box::pin(work.turn())).collect();
        for one in &mut waiting {
            assert!(one.now_or_never().is_none());
        }
        assert_eq!(work.turn().await.err(), Some(WorkError::Busy));
        drop(turns);
        assert!(waiting.remove(0).await.is_ok());
        // Those who stop waiting leave their place to others.
        drop(waiting);
        assert!(work.turn().await.is_ok());
    }

    fn panics() {
        panic!("on purpose");
    }

    #[tokio::test]
    async fn work_that_panics_fails_and_passes_its_turn_on() {
        let work = BlockingWork::new(1, 0);
        for _ in 0..3 {
            assert_eq!(work.turn().await.unwrap().run(panics).await, Err(WorkError::Failed));
            assert_eq!(work.turn().await.unwrap().run_quietly(panics).await, Err(WorkError::Failed));
        }
        assert_eq!(work.turn().await.unwrap().run(|| 7).await, Ok(7));
        assert!(half_of_the_cores() >= 1 && half_of_the_cores() <= cores());
    }

    #[tokio::test]
    async fn work_for_which_there_is_no_thread_has_not_failed_and_may_be_tried_again() {
        // No machine has so much memory for the stack of a thread.
        const STACK: usize = 1 << (usize::BITS - 4);
        let work = BlockingWork::new(1, 0);
        let without_thread = thread::Builder::new().stack_size(STACK);
        assert_eq!(work.turn().await.unwrap().run_on(without_thread, || 7).await, Err(WorkError::Busy));
        assert_eq!(work.turn().await.unwrap().run_quietly(|| 7).await, Ok(7));
    }

    #[tokio::test]
    async fn quiet_work_runs_at_low_priority_and_other_threads_as_before() {
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let (work, own) = (BlockingWork::new(1, 0), priority());
        let lowered = if cfg!(target_os = "linux") { (own + 10).min(19) } else { own };
        assert_eq!(work.turn().await.unwrap().run_quietly(priority).await, Ok(lowered));
        assert_eq!(work.turn().await.unwrap().run(priority).await, Ok(own));
        assert_eq!(priority(), own);
    }
}
