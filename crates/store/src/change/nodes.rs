//! Writes about the processes that send webhooks and letters.

use domain::time::Timestamp;

/// The bits of a node's number. SQLite stores so many in six bytes.
const NUMBER_BITS: u64 = (1 << 47) - 1;

/// A process that sends webhooks and letters. Each start makes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(i64);

impl NodeId {
    pub const fn drawn(random: u64) -> NodeId {
        NodeId((random & NUMBER_BITS).cast_signed())
    }

    pub(crate) const fn stored(number: i64) -> NodeId {
        NodeId(number)
    }

    pub(crate) const fn number(self) -> i64 {
        self.0
    }
}

pub enum NodeWrite {
    /// Counts up the node's beat, so that others see that it is alive.
    Beat { node: NodeId },
    /// Gives back what a node has leased that is gone, and forgets the node. Guarded: its beat is still the one that was read.
    Gone { node: NodeId, beat: i64, at: Timestamp },
    /// Gives back what a node has still leased that stops, and forgets the node.
    Left { node: NodeId, at: Timestamp },
    /// Gives back what was leased by nodes that have no beat at all.
    OrphansReleased { at: Timestamp },
}

impl NodeWrite {
    pub(super) const fn is_awaited(&self) -> bool {
        match self {
            NodeWrite::Gone { .. } | NodeWrite::Left { .. } | NodeWrite::OrphansReleased { .. } => true,
            NodeWrite::Beat { .. } => false,
        }
    }

    /// Beats are few, but they are committed by the way of leases and attempts: a node that can lease can then also beat, and
    /// one whose beats fail cannot lease.
    pub(super) const fn is_frequent(&self) -> bool {
        match self {
            NodeWrite::Beat { .. } => true,
            NodeWrite::Gone { .. } | NodeWrite::Left { .. } | NodeWrite::OrphansReleased { .. } => false,
        }
    }
}
