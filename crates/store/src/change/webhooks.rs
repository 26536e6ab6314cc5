//! Writes about events and their delivery.

use domain::{
    delivery::{Attempt, Delivery},
    event::Event,
    id::{EventId, ProjectId},
    time::Timestamp,
};

use super::nodes::NodeId;

pub enum WebhookWrite {
    /// Adds an event, and its delivery if the project has a webhook URL at that moment; nothing if the event is an extra one
    /// and the project does not ask for it.
    Event(Event),
    /// Moves the time at which a delivery is due, to lease it to a node or to release a lease. Guarded: it was due at `from`.
    DeliveryMoved { event_id: EventId, from: Timestamp, to: Timestamp, leased_by: Option<NodeId> },
    /// Stores an attempt and the delivery's new state. Guarded: the lease under which the attempt was made still holds,
    /// so no other node has taken the delivery over and no person has asked to send it again.
    Attempted { leased_until: Timestamp, leased_by: Option<NodeId>, delivery: Delivery, attempt: Attempt },
    /// Makes a delivery due and restarts its schedule, whatever its state is. `urgent` is that of the event's kind.
    Resent { event_id: EventId, project_id: ProjectId, urgent: bool, at: Timestamp },
    /// Does the same for at most `most` failed deliveries of a project, of events from `since` on.
    Recovered { project_id: ProjectId, since: Timestamp, at: Timestamp, most: i64 },
    /// Replaces the webhook secret by `sealed`; the old one stays valid beside the new one for a while, as `previous`,
    /// which is encrypted for its column. Guarded: `replaced` is the secret in use, since of two rotations at the same
    /// time the first new secret would be lost.
    SecretRotated { project_id: ProjectId, replaced: Vec<u8>, previous: Vec<u8>, sealed: Vec<u8>, at: Timestamp },
}

impl WebhookWrite {
    pub(super) fn is_awaited(&self) -> bool {
        match self {
            WebhookWrite::Event(_) | WebhookWrite::Resent { .. } | WebhookWrite::Recovered { .. } => true,
            WebhookWrite::DeliveryMoved { .. }
            | WebhookWrite::Attempted { .. }
            | WebhookWrite::SecretRotated { .. } => false,
        }
    }

    pub(super) fn is_frequent(&self) -> bool {
        match self {
            WebhookWrite::Event(_) | WebhookWrite::DeliveryMoved { .. } | WebhookWrite::Attempted { .. } => true,
            WebhookWrite::Resent { .. } | WebhookWrite::Recovered { .. } | WebhookWrite::SecretRotated { .. } => false,
        }
    }
}
