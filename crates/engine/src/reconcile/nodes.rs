//! Which nodes send webhooks, where several share a database. Each counts up its own row every second. One whose row stands still
//! while the others count is gone, killed or cut off: what it had leased is due at once, and another node sends it.
//!
//! A node that was only paused may have sent some of that already, and receivers then get it twice, with the same id. What it
//! tells of its attempts is not stored, as its leases do not hold any more.

use std::{collections::HashMap, time::Duration};

use store::{CommitError, Guard, NodeId, NodeWrite};
use tokio::sync::watch;

use crate::{Engine, Error};

const BEAT_EVERY: Duration = Duration::from_secs(1);
/// A node that has not beaten while this one did so many times is gone.
const SILENT_MOST: u32 = 6;

pub(super) async fn run(engine: Engine, mut stopped: watch::Receiver<bool>) {
    let mut roster = Roster::default();
    while engine.store.is_shared() && !*stopped.borrow() {
        if let Err(error) = engine.watch_nodes(&mut roster).await {
            tracing::warn!(%error, "looking for nodes that are gone failed and will be retried");
            // While the database is away from this node, the others may be unable to beat as well.
            roster = Roster::default();
        }
        // The loop reads `stopped` next, whether it has changed or the time is over.
        let _ = tokio::time::timeout(BEAT_EVERY, stopped.changed()).await;
    }
}

impl Engine {
    /// Gives back what processes had leased that are not known any more. On SQLite that is everything, so only the server may
    /// call it that holds the file's lock, and before it leases anything.
    pub async fn release_orphaned_leases(&self) -> Result<(), Error> {
        Ok(self.store.commit(NodeWrite::OrphansReleased { at: self.now() }.into()).await?)
    }

    /// Tells the other nodes that this one is alive. It must have succeeded once before the node leases anything.
    pub(super) async fn beat(&self) -> Result<(), Error> {
        if self.store.is_shared() {
            self.store.commit(NodeWrite::Beat { node: self.node }.into()).await?;
        }
        Ok(())
    }

    async fn watch_nodes(&self, roster: &mut Roster) -> Result<(), Error> {
        self.beat().await?;
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
