//! Leases: the time at which a delivery is due is moved ahead before it is sent, so that no other node sends it too.

use std::time::{Duration, Instant};

use domain::{
    delivery::{Delivery, DeliveryState},
    id::ProjectId,
    time::Timestamp,
};
use futures_util::future::join_all;
use store::{Change, CommitError, Guard, NodeId, WebhookWrite};

use crate::{Engine, Error};

/// Longer than an attempt can take.
const LEASE: Duration = Duration::from_secs(30);
/// The least that must be left of a lease when an attempt begins, so that it lasts for the whole attempt.
const ATTEMPT_MOST: Duration = Duration::from_secs(20);
/// Commits that are requested together: they share a transaction, and leave room in the writer's queue for payments.
const COMMITS_AT_ONCE: usize = 256;

/// A delivery that no other node sends before `until`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lease {
    pub(super) delivery: Delivery,
    pub(super) until: Timestamp,
    /// No later than it was committed.
    pub(super) leased_at: Instant,
}

/// The deliveries of one project that are urgent, or those that are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lane {
    pub(super) project_id: ProjectId,
    pub(super) urgent: bool,
}

impl Lane {
    pub(super) const fn of(delivery: &Delivery) -> Lane {
        Lane { project_id: delivery.project_id, urgent: delivery.urgent }
    }
}

/// What came of leasing some deliveries.
pub(super) struct Leased {
    pub(super) leases: Vec<Lease>,
    /// Whether another node has leased some of them first, so that there may be more due deliveries that no node has
    /// leased.
    pub(super) some_lost: bool,
}

impl Engine {
    pub(super) async fn lease_all(&self, chosen: &[Delivery]) -> Leased {
        let mut leased = Leased { leases: Vec::with_capacity(chosen.len()), some_lost: false };
        for some in chosen.chunks(COMMITS_AT_ONCE) {
            let until = self.now().plus(LEASE);
            let (leases, writes): (Vec<Lease>, Vec<Change>) =
                some.iter().filter_map(|delivery| lease_of(*delivery, until, self.node)).unzip();
            for (lease, outcome) in leases.into_iter().zip(self.store.commit_each(writes).await) {
                match outcome {
                    Ok(()) => leased.leases.push(lease),
                    Err(CommitError::Conflict(Guard::DeliveryDue)) => leased.some_lost = true,
                    Err(error) => tracing::warn!(%error, "a delivery could not be leased and will be retried"),
                }
            }
        }
        leased
    }

    /// Renews a lease that has waited too long to be sent, or that another node may have taken over; none if one has.
    pub(super) async fn renewed(&self, lease: Lease) -> Result<Option<Lease>, Error> {
        if lease.until >= self.now().plus(ATTEMPT_MOST) && self.surely_has_leased(lease.leased_at) {
            return Ok(Some(lease));
        }
        let delivery = Delivery { state: DeliveryState::Pending { due_at: lease.until }, ..lease.delivery };
        let Some((lease, write)) = lease_of(delivery, self.now().plus(LEASE), self.node) else { return Ok(None) };
        match self.store.commit(write).await {
            Ok(()) => Ok(Some(lease)),
            Err(CommitError::Conflict(Guard::DeliveryDue)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn release_all(&self, leases: &[Lease]) {
        for some in leases.chunks(COMMITS_AT_ONCE) {
            join_all(some.iter().map(|lease| self.release(*lease))).await;
        }
    }

    async fn release(&self, Lease { delivery, until, .. }: Lease) {
        let event_id = delivery.event_id;
        let moved = WebhookWrite::DeliveryMoved { event_id, from: until, to: self.now(), leased_by: None };
        match self.store.commit(moved.into()).await {
            // The attempt was saved just before it was stopped, or somebody has asked to send the event again.
            Ok(()) | Err(CommitError::Conflict(Guard::DeliveryDue)) => {}
            // A lease that is not released runs out by itself.
            Err(error) => tracing::warn!(%error, %event_id, "a lease was not released and will run out"),
        }
    }
}

/// A lease of a delivery, and the change that makes it, unless another node is faster.
fn lease_of(delivery: Delivery, until: Timestamp, node: NodeId) -> Option<(Lease, Change)> {
    let DeliveryState::Pending { due_at } = delivery.state else { return None };
    let event_id = delivery.event_id;
    let write = WebhookWrite::DeliveryMoved { event_id, from: due_at, to: until, leased_by: Some(node) };
    Some((Lease { delivery, until, leased_at: Instant::now() }, write.into()))
}
