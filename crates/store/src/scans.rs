//! Limits on scans: reads whose cost grows with the tables, such as lists, counts and reports. Both databases share
//! them.
//!
//! More scans at once would only take connections, memory and cores from short reads and commits. Projects take turns,
//! and none may have all permits: a project that runs many expensive searches makes only itself wait. Beside others it
//! has half of the permits at most; alone it leaves one, for the next project that comes. A request waits for one scan
//! at a time, so within a project the order of arrival lets its requests take turns too.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::id::ProjectId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::error::StoreError;

/// Scans that run at once, where there are connections enough.
pub(crate) const SCANS_AT_ONCE: usize = 4;
/// Polls of the reconcilers that run at once, where there are connections enough.
pub(crate) const POLLS_AT_ONCE: usize = 2;
/// Scans that wait, of one project and of all. One more fails at once, as the database is too busy. A project's share is
/// larger than the burst that a key may send.
const WAITING_PER_PROJECT: usize = 256;
const WAITING_MOST: usize = 2_048;

/// Whose turns a scan takes: those of its project, or of everything that belongs to no project.
type Owner = Option<ProjectId>;

/// The permits that scans and polls need.
#[derive(Clone)]
pub(crate) struct ScanLimits {
    scans: Arc<FairQueue>,
    polls: Arc<Semaphore>,
}

impl ScanLimits {
    pub(crate) fn new(scans_at_once: usize, polls_at_once: usize) -> ScanLimits {
        ScanLimits { scans: Arc::new(FairQueue::new(scans_at_once)), polls: Arc::new(Semaphore::new(polls_at_once)) }
    }

    /// Waits for the permit of one scan. Hold it until the database has finished the scan, even when its caller has
    /// gone.
    pub(crate) async fn scan(&self, owner: Owner) -> Result<ScanPermit, StoreError> {
        let permit = self.scans.enter(owner)?;
        permit.await.map_err(StoreError::unavailable)
    }

    /// Waits for the permit of one poll of a reconciler, which never waits for scans.
    pub(crate) async fn poll(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        Arc::clone(&self.polls).acquire_owned().await.map_err(StoreError::unavailable)
    }
}

/// The right to run one scan. Dropping it passes the turn on.
pub(crate) struct ScanPermit {
    /// None where nobody took the permit, so that there is nothing to pass on.
    queue: Option<Arc<FairQueue>>,
    owner: Owner,
}

impl Drop for ScanPermit {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            queue.leave(self.owner);
        }
    }
}

/// Gives out permits, one project after the other.
struct FairQueue {
    at_once: usize,
    /// The most permits of one project beside others, and alone: never all, unless there is only one.
    per_project: usize,
    alone: usize,
    turns: Mutex<Turns>,
}

#[derive(Default)]
struct Turns {
    running: usize,
    waiting: usize,
    shares: HashMap<Owner, Share>,
    /// Those who have scans waiting, in the order of their turns.
    order: VecDeque<Owner>,
}

/// The scans of one owner.
#[derive(Default)]
struct Share {
    running: usize,
    waiting: VecDeque<oneshot::Sender<ScanPermit>>,
}

impl FairQueue {
    fn new(at_once: usize) -> FairQueue {
        let per_project = at_once.div_ceil(2);
        FairQueue { at_once, per_project, alone: per_project.max(at_once.saturating_sub(1)), turns: Mutex::default() }
    }

    fn enter(self: &Arc<FairQueue>, owner: Owner) -> Result<oneshot::Receiver<ScanPermit>, StoreError> {
        let (sender, permit) = oneshot::channel();
        let mut turns = self.turns();
        if !turns.has_room(owner) {
            turns.forget_those_who_left();
            if !turns.has_room(owner) {
                return Err(StoreError::unavailable("too many scans are waiting"));
            }
        }
        let share = turns.shares.entry(owner).or_default();
        share.waiting.push_back(sender);
        if share.waiting.len() == 1 {
            turns.order.push_back(owner);
        }
        turns.waiting += 1;
        self.give_out(&mut turns);
        Ok(permit)
    }

    fn leave(self: &Arc<FairQueue>, owner: Owner) {
        let mut turns = self.turns();
        turns.running -= 1;
        if let Some(share) = turns.shares.get_mut(&owner) {
            share.running -= 1;
        }
        turns.drop_if_idle(owner);
        self.give_out(&mut turns);
    }

    /// Gives out the permits that are free.
    fn give_out(self: &Arc<FairQueue>, turns: &mut Turns) {
        while turns.running < self.at_once {
            let Some((owner, sender)) = turns.next(self.per_project, self.alone) else { return };
            let permit = ScanPermit { queue: Some(Arc::clone(self)), owner };
            match sender.send(permit) {
                Ok(()) => {
                    turns.running += 1;
                    turns.shares.entry(owner).or_default().running += 1;
                }
                // The caller has gone. Dropping its permit must not pass on a turn that was not taken.
                Err(mut unwanted) => unwanted.queue = None,
            }
            turns.drop_if_idle(owner);
        }
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turns {
    fn has_room(&self, owner: Owner) -> bool {
        let of_owner = self.shares.get(&owner).map_or(0, |share| share.waiting.len());
        of_owner < WAITING_PER_PROJECT && self.waiting < WAITING_MOST
    }

    fn forget_those_who_left(&mut self) {
        for share in self.shares.values_mut() {
            share.waiting.retain(|sender| !sender.is_closed());
        }
        self.shares.retain(|_, share| share.is_used());
        self.waiting = self.shares.values().map(|share| share.waiting.len()).sum();
        let shares = &self.shares;
        self.order.retain(|owner| shares.get(owner).is_some_and(|share| !share.waiting.is_empty()));
    }

    /// The next scan: of those owners who have least running, and less than they may have, the one whose turn comes
    /// first. Its next turn comes after everybody else's. Who is alone may have more.
    fn next(&mut self, per_project: usize, alone: usize) -> Option<(Owner, oneshot::Sender<ScanPermit>)> {
        let most = if self.shares.len() == 1 { alone } else { per_project };
        let running = |owner: &Owner| self.shares.get(owner).map_or(0, |share| share.running);
        let turns = self.order.iter().map(running).enumerate();
        let (position, _) = turns.filter(|(_, running)| *running < most).min_by_key(|(_, running)| *running)?;
        let owner = self.order.remove(position)?;
        let share = self.shares.get_mut(&owner)?;
        let sender = share.waiting.pop_front()?;
        if !share.waiting.is_empty() {
            self.order.push_back(owner);
        }
        self.waiting -= 1;
        Some((owner, sender))
    }

    fn drop_if_idle(&mut self, owner: Owner) {
        if self.shares.get(&owner).is_some_and(|share| !share.is_used()) {
            self.shares.remove(&owner);
        }
    }
}

impl Share {
    fn is_used(&self) -> bool {
        self.running > 0 || !self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use domain::{id::mint, time::Timestamp};
    use futures_util::FutureExt;

    use super::*;

    fn project(number: u8) -> Owner {
        Some(mint(Timestamp::from_millis(1_700_000_000_000), [number; 10]))
    }

    /// The permit, if it was given at once or by now.
    fn given(permit: &mut oneshot::Receiver<ScanPermit>) -> Option<ScanPermit> {
        permit.try_recv().ok()
    }

    #[tokio::test]
    async fn a_scan_waits_for_a_permit_and_polls_do_not_wait_for_scans() {
        let limits = ScanLimits::new(1, 1);
        let running = limits.scan(project(1)).await.unwrap();
        assert!(limits.poll().await.is_ok());
        let mut second = Box::pin(limits.scan(project(1)));
        assert!(second.as_mut().now_or_never().is_none());
        drop(running);
        assert!(second.await.is_ok());
        assert!(limits.scans.turns().shares.is_empty(), "what is idle is not kept");
    }

    #[test]
    fn a_project_with_many_scans_leaves_permits_to_others_and_takes_turns_with_them() {
        let queue = Arc::new(FairQueue::new(4));
        let mut busy: Vec<_> = (0..16).map(|_| queue.enter(project(1)).unwrap()).collect();
        let mut running: Vec<_> = busy.iter_mut().filter_map(given).collect();
        assert_eq!(running.len(), 3, "all permits but one, as it is alone");
        let mut other = queue.enter(project(2)).unwrap();
        let other_runs = given(&mut other).expect("another project does not wait");
        let mut second = queue.enter(project(2)).unwrap();
        assert!(given(&mut second).is_none(), "four permits are taken");
        drop(running.pop());
        let second_runs = given(&mut second).expect("the other had less running");
        let mut third = queue.enter(project(3)).unwrap();
        drop(running.pop());
        let third_runs = given(&mut third).expect("it was waiting for its first turn");
        assert!(busy.iter_mut().find_map(given).is_none());
        drop((other_runs, second_runs));
        let more: Vec<_> = busy.iter_mut().filter_map(given).collect();
        assert_eq!(more.len() + running.len(), 2, "half of the permits beside another");
        drop(third_runs);
        assert_eq!(busy.iter_mut().filter_map(given).map(std::mem::forget).count(), 1, "alone again");
    }

    #[test]
    fn a_scan_whose_caller_has_gone_takes_no_turn() {
        let queue = Arc::new(FairQueue::new(1));
        let mut first = queue.enter(project(1)).unwrap();
        let running = given(&mut first).unwrap();
        drop(queue.enter(project(1)).unwrap());
        let mut third = queue.enter(project(1)).unwrap();
        drop(running);
        drop(given(&mut third).expect("the turn is not lost"));
        let turns = queue.turns();
        assert!(turns.shares.is_empty() && turns.order.is_empty() && turns.running == 0 && turns.waiting == 0);
    }

    #[test]
    fn too_many_scans_of_one_project_are_refused_and_those_of_others_are_not() {
        let queue = Arc::new(FairQueue::new(1));
        let enter = |owner| queue.enter(owner);
        let mut running = enter(project(1)).unwrap();
        let running = given(&mut running).unwrap();
        let waiting: Vec<_> = (0..WAITING_PER_PROJECT).map(|_| enter(project(1)).unwrap()).collect();
        assert!(enter(project(1)).is_err());
        assert!(enter(project(2)).is_ok() && enter(None).is_ok());
        drop(waiting);
        assert!(enter(project(1)).is_ok(), "those who left give way");
        drop(running);
    }
}
