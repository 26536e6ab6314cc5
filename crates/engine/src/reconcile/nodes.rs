//! Which nodes send webhooks, where several share a database. Each counts up its own row every second. One whose row stands still
//! while the others count is gone, killed or cut off: what it had leased is due at once, and another node sends it. One that stops
//! in good order deletes its row.
//!
//! A node whose own beats fail may be gone to the others. Before it sends anything that it has leased, it asks the database
//! whether it still has the lease; once it beats again, too, of all that it had leased before. A node that was only paused may have
//! sent some of its leases already, and receivers then get those twice, with the same id. What it tells of these attempts is not
//! stored, as its leases do not hold any more.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use futures_util::future::join;
use store::{CommitError, Guard, NodeId, NodeWrite};
use tokio::{sync::watch, time::timeout};

use crate::{Engine, Error, memory::beats::Beats};

const BEAT_EVERY: Duration = Duration::from_secs(1);
/// A node that has not beaten while this one did so many times is gone.
const SILENT_MOST: u32 = 6;
/// How long a node that stops may take to say so. The others find out by themselves too.
const LEAVE_WITHIN: Duration = Duration::from_secs(3);

/// Beats for as long as `sending` goes on, which holds the leases of this node and releases them before it ends.
pub(super) async fn beat_while(engine: Engine, sending: impl Future<Output = ()>) {
    if !engine.store.is_shared() {
        return sending.await;
    }
    // There may be one of an earlier run, whose row was deleted when that ended.
    engine.beats.send_replace(None);
    let (ended, end) = watch::channel(false);
    let sending = async move {
        sending.await;
        ended.send_replace(true);
    };
    join(sending, beat_until(&engine, end)).await;
    engine.leave().await;
}

async fn beat_until(engine: &Engine, mut end: watch::Receiver<bool>) {
    while !*end.borrow() {
        engine.beat().await;
        // The loop reads `end` next, whether it has changed or the time is over.
        let _ = timeout(BEAT_EVERY, end.changed()).await;
    }
}

/// Gives back what nodes had leased that are gone. It looks after each beat of this node.
pub(super) async fn watch_others(engine: Engine, mut stopped: watch::Receiver<bool>) {
    let mut roster = Roster::default();
    let mut beats = engine.beats.subscribe();
    while engine.store.is_shared() && !*stopped.borrow() {
        tokio::select! {
            // The loop reads `stopped` next.
            _ = stopped.changed() => {}
            Ok(()) = beats.changed() => {
                let has_beaten = beats.borrow_and_update().is_some();
                // While the database is away from this node, the others may be unable to beat as well.
                if !has_beaten {
                    roster = Roster::default();
                } else if let Err(error) = engine.release_leases_of_gone(&mut roster).await {
                    tracing::warn!(%error, "looking for nodes that are gone failed and will be retried");
                    roster = Roster::default();
                }
            }
        }
    }
}

impl Engine {
    /// Gives back what processes had leased that are not known any more. On SQLite that is everything, so only the server may
    /// call it that holds the file's lock, and before it leases anything.
    pub async fn release_orphaned_leases(&self) -> Result<(), Error> {
        Ok(self.store.commit(NodeWrite::OrphansReleased { at: self.now() }.into()).await?)
    }

    /// Waits until the other nodes know of this one. Only then may it lease anything, as they would not give its leases back
    /// should it die.
    pub(super) async fn join_nodes(&self) {
        let mut beats = self.beats.subscribe();
        while self.store.is_shared() && beats.borrow_and_update().is_none() {
            // It does not fail, since this engine has the sender.
            let _ = beats.changed().await;
        }
    }

    /// Whether no other node can have taken over what this one leased at `leased_at`: it has beaten ever since, or there are no
    /// others.
    pub(super) fn surely_has_leased(&self, leased_at: Instant) -> bool {
        let beats = *self.beats.borrow();
        !self.store.is_shared() || beats.is_some_and(|beats| beats.cover(leased_at, Instant::now()))
    }

    /// Tells the other nodes that this one is alive.
    async fn beat(&self) {
        let began_at = Instant::now();
        let beaten = self.store.commit(NodeWrite::Beat { node: self.node }.into()).await;
        if let Err(error) = &beaten {
            tracing::warn!(%error, "this node could not tell the others that it is alive and will try again");
        }
        let before = *self.beats.borrow();
        self.beats.send_replace(beaten.is_ok().then(|| Beats::with(before, began_at, Instant::now())));
    }

    /// Tells the other nodes that this one stops, so that none reports it as gone. Where the last beat failed, this would too.
    async fn leave(&self) {
        if self.beats.borrow().is_none() {
            return;
        }
        let left = NodeWrite::Left { node: self.node, at: self.now() };
        let error = match timeout(LEAVE_WITHIN, self.store.commit(left.into())).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(late) => late.to_string(),
        };
        tracing::warn!(%error, "this node could not tell the others that it stops; they will find it gone");
    }

    async fn release_leases_of_gone(&self, roster: &mut Roster) -> Result<(), Error> {
        for (node, beat) in roster.observe(self.node, &self.store.nodes().await?) {
            match self.store.commit(NodeWrite::Gone { node, beat, at: self.now() }.into()).await {
                Ok(()) => tracing::warn!("another node is gone, and what it had leased is due again"),
                // It has beaten again, or another node was faster.
                Err(CommitError::Conflict(Guard::NodeSilent)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// The beats of other nodes, and how often each was found unchanged. It goes by this node's own beats and by no clock, so that
/// neither clocks that differ nor a pause of this node make others look dead.
#[derive(Default)]
struct Roster(HashMap<NodeId, Seen>);

#[derive(Clone, Copy)]
struct Seen {
    beat: i64,
    silent: u32,
}

impl Roster {
    /// Takes in the beats of all nodes, read after a beat of this one; answers those that are gone.
    fn observe(&mut self, this: NodeId, nodes: &[(NodeId, i64)]) -> Vec<(NodeId, i64)> {
        let others = nodes.iter().filter(|(node, _)| *node != this);
        let seen = others.map(|(node, beat)| {
            let before = self.0.get(node).filter(|seen| seen.beat == *beat);
            (*node, Seen { beat: *beat, silent: before.map_or(0, |seen| seen.silent + 1) })
        });
        self.0 = seen.collect();
        let gone = self.0.iter().filter(|(_, seen)| seen.silent >= SILENT_MOST);
        gone.map(|(node, seen)| (*node, seen.beat)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::beats::SURE_FOR;

    #[test]
    fn others_take_longer_to_find_a_node_gone_than_it_is_sure_of_itself() {
        assert!(2 * SURE_FOR <= SILENT_MOST * BEAT_EVERY);
    }

    #[test]
    fn a_node_is_gone_once_it_was_silent_for_six_beats_in_a_row() {
        let [this, other] = [1, 2].map(NodeId::drawn);
        let mut roster = Roster::default();
        let mut gone = |own: i64, beat: i64| roster.observe(this, &[(this, own), (other, beat)]);
        for own in 1..=6 {
            assert_eq!(gone(own, 9), []);
        }
        assert_eq!(gone(7, 10), [], "it has beaten again");
        for own in 8..=12 {
            assert_eq!(gone(own, 10), []);
        }
        assert_eq!(gone(13, 10), [(other, 10)]);
        assert_eq!(gone(13, 1), [], "it has come back");
        assert_eq!(
            (0..20).find(|_| !roster.observe(this, &[(this, 13)]).is_empty()),
            None,
            "a node does not watch itself"
        );
    }
}
