//! Sends what is due to webhook URLs, again and again until it is taken or the schedule ends.
//!
//! Whatever is sent is leased first: its time is moved ahead, so that no other node sends it too, and a node that dies leaves
//! it to be sent by another.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use domain::{
    delivery::{Attempt, AttemptOutcome, Delivery, DeliveryState, Failure, FailureClass, Jitter},
    id::{EventId, ProjectId},
    project::Environment,
    signature::signature_header,
    time::Timestamp,
};
use futures_util::future::join_all;
use gateway::{Webhook, WebhookSender};
use secrecy::ExposeSecret;
use store::{CommitError, Guard, StoreError, Write};
use tokio::{
    sync::{Semaphore, watch},
    task::{self, JoinSet},
};

use crate::{Engine, Error};

/// How long to rest when nobody wakes us: other processes commit events too, and rests between attempts end.
const REST: Duration = Duration::from_millis(100);
/// The same when another node was quicker.
const LOST_REST: Duration = Duration::from_millis(5);
/// Longer than an attempt can take.
const LEASE: Duration = Duration::from_secs(30);
/// What is left of a lease when an attempt begins must last for all of it.
const ATTEMPT_MOST: Duration = Duration::from_secs(20);
/// Deliveries of a project that are leased, for each that may be sent at once: while some are sent, the next ones are being
/// leased and the last ones noted, which takes the disk about as long.
const LEASED_PER_SENT: usize = 3;
/// Commits that are asked for together: they share a transaction, and leave room in the writer's queue for payments.
const COMMITS_AT_ONCE: usize = 256;
/// How often an attempt is noted anew when the database is too busy, and how long to rest before the first time.
const NOTES_MOST: u32 = 6;
const NOTE_REST: Duration = Duration::from_millis(50);
/// Deliveries leased in all, so that memory stays flat however many receivers hang.
const LEASED_MOST: usize = 3_072;
/// Deliveries leased from which on only projects that have none get any: the rest is kept from receivers that hang.
const SHARED_MOST: usize = 2_304;
/// How long attempts may take to end once we are asked to stop; the others are left to the next start.
const STOP_WITHIN: Duration = Duration::from_secs(3);

/// What deliveries are made with.
#[derive(Clone)]
pub struct Courier {
    pub sender: WebhookSender,
    /// The name of the header that carries the signature.
    pub signature_header: String,
    /// Attempts under way for one project, so that its receiver can hold up no other's.
    pub in_flight_per_project: usize,
    /// Where people reach the pages that a payment's JSON points to.
    pub pages_url: String,
}

pub(super) async fn run(engine: Engine, courier: Courier, mut stopped: watch::Receiver<bool>) {
    let mut told = engine.store.told();
    let mut round = Round {
        engine,
        courier: Arc::new(courier),
        sending: JoinSet::new(),
        leased: HashMap::new(),
        gates: HashMap::new(),
    };
    while !*stopped.borrow() {
        let rest = match round.send_due().await {
            Ok(Found::All) => REST,
            Ok(Found::SomeLost) => LOST_REST,
            Err(error) => {
                tracing::warn!(%error, "deliveries could not be looked for and will be again");
                REST
            }
        };
        tokio::select! {
            // Either way the loop looks at `stopped` next.
            _ = stopped.changed() => {}
            Ok(()) = told.changed() => {}
            true = round.some_ended() => {}
            () = tokio::time::sleep(rest) => {}
        }
    }
    round.stop().await;
}

struct Round {
    engine: Engine,
    courier: Arc<Courier>,
    sending: JoinSet<()>,
    leased: HashMap<task::Id, Lease>,
    /// Lets through as many attempts of a project as may be under way at once.
    gates: HashMap<ProjectId, Arc<Semaphore>>,
}

/// What became of what was due.
enum Found {
    All,
    /// Another node was quicker with some of it, so there may be more that nobody has taken.
    SomeLost,
}

/// A delivery that nobody else sends before `until`.
#[derive(Clone, Copy)]
struct Lease {
    delivery: Delivery,
    until: Timestamp,
}

impl Round {
    /// Leases what is due and there is room for, and begins to send it.
    async fn send_due(&mut self) -> Result<Found, Error> {
        let now = self.engine.now();
        let per_project = self.courier.in_flight_per_project * LEASED_PER_SENT;
        let due = self.engine.store.due_deliveries(now, per_project).await?;
        let leased = self.leased.values().map(|lease| lease.delivery).collect::<Vec<_>>();
        let busy: HashSet<ProjectId> = leased.iter().map(|delivery| delivery.project_id).collect();
        self.gates.retain(|project_id, _| busy.contains(project_id));
        let chosen = chosen(due, &leased, per_project);
        let mut found = Found::All;
        for some in chosen.chunks(COMMITS_AT_ONCE) {
            for lease in join_all(some.iter().map(|delivery| self.engine.lease(*delivery))).await {
                match lease {
                    Ok(Some(lease)) => self.begin(lease),
                    Ok(None) => found = Found::SomeLost,
                    Err(error) => tracing::warn!(%error, "a delivery could not be leased and is left for later"),
                }
            }
        }
        Ok(found)
    }

    fn begin(&mut self, lease: Lease) {
        let (engine, courier) = (self.engine.clone(), Arc::clone(&self.courier));
        let gate = self.gates.entry(lease.delivery.project_id);
        let gate = Arc::clone(gate.or_insert_with(|| Arc::new(Semaphore::new(courier.in_flight_per_project))));
        let task = self.sending.spawn(async move { engine.attempt(lease, &courier, &gate).await });
        self.leased.insert(task.id(), lease);
    }

    /// Waits until there is room again for a part of what may be under way; false when there is nothing to wait for. To look
    /// for what is due after every single attempt would take longer than to send it.
    async fn some_ended(&mut self) -> bool {
        let enough = self.leased.len().saturating_sub(self.courier.in_flight_per_project / 4);
        let mut any = false;
        while self.ended().await {
            any = true;
            if self.leased.len() <= enough {
                break;
            }
        }
        any
    }

    /// Waits until an attempt has ended, and takes all that have; false when there is none to wait for.
    async fn ended(&mut self) -> bool {
        let Some(first) = self.sending.join_next_with_id().await else { return false };
        let mut next = Some(first);
        while let Some(ended) = next {
            let id = match ended {
                Ok((id, ())) => id,
                Err(error) => {
                    tracing::error!(%error, "an attempt broke off and will be made again");
                    error.id()
                }
            };
            self.leased.remove(&id);
            next = self.sending.try_join_next_with_id();
        }
        true
    }

    /// Lets attempts end for a while; what is left then is given back, to be sent at the next start.
    async fn stop(mut self) {
        let all = async { while self.ended().await {} };
        if tokio::time::timeout(STOP_WITHIN, all).await.is_ok() {
            return;
        }
        self.sending.shutdown().await;
        let leased: Vec<Lease> = self.leased.into_values().collect();
        for some in leased.chunks(COMMITS_AT_ONCE) {
            join_all(some.iter().map(|lease| self.engine.release(*lease))).await;
        }
    }
}

/// Which of what is due is to be sent now. Every project's first goes before any project's second, so that those with many
/// due, or with a receiver that hangs, leave room for the others; of equals the longest due goes first.
fn chosen(due: Vec<Delivery>, in_flight: &[Delivery], per_project: usize) -> Vec<Delivery> {
    // What is being sent is due again when it was sent by hand meanwhile, or when the clock has jumped; it has its turn later.
    let sending: HashSet<EventId> = in_flight.iter().map(|delivery| delivery.event_id).collect();
    let mut of_project: HashMap<ProjectId, usize> = HashMap::new();
    let mut number = |delivery: &Delivery| {
        let count = of_project.entry(delivery.project_id).or_default();
        *count += 1;
        *count
    };
    for delivery in in_flight {
        number(delivery);
    }
    let waiting = due.into_iter().filter(|delivery| !sending.contains(&delivery.event_id));
    let mut numbered: Vec<(usize, Delivery)> = waiting.map(|delivery| (number(&delivery), delivery)).collect();
    numbered.retain(|(number, _)| *number <= per_project);
    numbered.sort_by_key(|(number, _)| *number);
    let mut total = in_flight.len();
    let fits = |(number, _): &(usize, Delivery)| {
        let fits = total < if *number == 1 { LEASED_MOST } else { SHARED_MOST };
        total += usize::from(fits);
        fits
    };
    numbered.into_iter().filter(fits).map(|(_, delivery)| delivery).collect()
}

impl Engine {
    /// Moves the delivery's time ahead; none when somebody else was quicker.
    async fn lease(&self, delivery: Delivery) -> Result<Option<Lease>, Error> {
        let DeliveryState::Pending { due_at } = delivery.state else { return Ok(None) };
        let until = self.now().plus(LEASE);
        let write = Write::DeliveryMoved { event_id: delivery.event_id, from: due_at, to: until };
        match self.store.commit(write.into()).await {
            Ok(()) => Ok(Some(Lease { delivery, until })),
            Err(CommitError::Conflict(Guard::DeliveryDue)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A lease that has waited for its turn too long is taken anew; none when it has passed to somebody else.
    async fn renewed(&self, lease: Lease) -> Result<Option<Lease>, Error> {
        if lease.until >= self.now().plus(ATTEMPT_MOST) {
            return Ok(Some(lease));
        }
        self.lease(Delivery { state: DeliveryState::Pending { due_at: lease.until }, ..lease.delivery }).await
    }

    async fn release(&self, Lease { delivery, until }: Lease) {
        let event_id = delivery.event_id;
        match self.store.commit(Write::DeliveryMoved { event_id, from: until, to: self.now() }.into()).await {
            // The attempt was noted just before it was broken off, or somebody has sent the event by hand.
            Ok(()) | Err(CommitError::Conflict(Guard::DeliveryDue)) => {}
            // A lease that is not given back ends by itself.
            Err(error) => tracing::warn!(%error, %event_id, "a delivery was left to its lease"),
        }
    }

    /// Makes one attempt, once it is let through, and notes it. Where that fails the lease runs out, and the attempt is made
    /// again.
    async fn attempt(&self, lease: Lease, courier: &Courier, gate: &Semaphore) {
        let event_id = lease.delivery.event_id;
        let noted = async {
            let passed = gate.acquire().await;
            let Some(Lease { delivery, until }) = self.renewed(lease).await? else { return Ok(()) };
            let at = self.now();
            let outcome = self.prepare_and_send(delivery, courier).await?;
            drop(passed);
            let after = delivery.attempted(&outcome, self.now(), Jitter::drawn(rand::random()));
            self.note(until, after, Attempt { at, outcome }).await
        };
        if let Err(error) = noted.await {
            tracing::warn!(%error, %event_id, "an attempt was not noted and will be made again");
        }
    }

    /// Notes an attempt, and tries that again for a while: what was delivered and not noted is delivered once more.
    async fn note(&self, leased_until: Timestamp, delivery: Delivery, attempt: Attempt) -> Result<(), Error> {
        let mut rest = NOTE_REST;
        for left in (0..NOTES_MOST).rev() {
            let attempt = attempt.clone();
            match self.store.commit(Write::Attempted { leased_until, delivery, attempt }.into()).await {
                // It was sent by hand meanwhile, or by somebody who took the lease over; their word counts.
                Ok(()) | Err(CommitError::Conflict(Guard::DeliveryAttempts)) => return Ok(()),
                Err(CommitError::Store(StoreError::Unavailable(_))) if left > 0 => tokio::time::sleep(rest).await,
                Err(error) => return Err(error.into()),
            }
            rest *= 2;
        }
        Ok(())
    }

    /// What keeps us from sending at all is an attempt too, so that it shows and ends; but for a database that is away, which
    /// says nothing about the delivery.
    async fn prepare_and_send(&self, delivery: Delivery, courier: &Courier) -> Result<AttemptOutcome, Error> {
        match self.send(delivery, courier).await {
            Err(error) if !matches!(error, Error::Store(StoreError::Unavailable(_))) => {
                tracing::error!(%error, event_id = %delivery.event_id, "a delivery could not be prepared");
                let failure =
                    Failure::new(FailureClass::Other, "the webhook could not be prepared; the server's log says why");
                Ok(AttemptOutcome::unanswered(Duration::ZERO, failure))
            }
            sent => sent,
        }
    }

    async fn send(&self, delivery: Delivery, courier: &Courier) -> Result<AttemptOutcome, Error> {
        let target = self.store.webhook_target(delivery.project_id).await?.ok_or(Error::NotFound("project"))?;
        let Some(url) = target.url else {
            let failure = Failure::new(FailureClass::NoUrl, "the project has no webhook URL");
            return Ok(AttemptOutcome::unanswered(Duration::ZERO, failure));
        };
        let now = self.now();
        let secrets = self.signing_secrets(delivery.project_id, target.secrets, now)?;
        let secrets: Vec<&str> = secrets.iter().map(ExposeSecret::expose_secret).collect();
        let event = self.event_of(delivery.project_id, delivery.event_id).await?;
        let body = wire::event::body(&courier.pages_url, event);
        let webhook = Webhook {
            url: &url,
            https_only: target.environment == Environment::Production,
            signature_header: &courier.signature_header,
            signature: &signature_header(&secrets, now, &body),
            body,
        };
        Ok(courier.sender.send(webhook).await)
    }
}

#[cfg(test)]
mod tests {
    use domain::id::{ENTROPY_BYTES, mint};

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_794_648_600_000);

    fn entropy(number: usize) -> [u8; ENTROPY_BYTES] {
        let mut bytes = [0; ENTROPY_BYTES];
        bytes[ENTROPY_BYTES - 8..].copy_from_slice(&number.to_be_bytes());
        bytes
    }

    /// So many deliveries of one project, the longest due first.
    fn due(project: usize, count: usize) -> Vec<Delivery> {
        let delivery = |number| Delivery {
            event_id: mint(NOW, entropy(project * 1_000_000 + number)),
            project_id: mint(NOW, entropy(project)),
            state: DeliveryState::Pending { due_at: NOW },
            attempts: 0,
            resent_after: 0,
        };
        (0..count).map(delivery).collect()
    }

    fn due_of(projects: std::ops::Range<usize>, count: usize) -> Vec<Delivery> {
        projects.flat_map(|project| due(project, count)).collect()
    }

    #[test]
    fn a_project_has_at_most_its_share_on_the_way() {
        assert_eq!(chosen(due(1, 9), &[], 4), due(1, 4));
        assert_eq!(chosen(due(1, 9), &due(1, 9)[6..], 4), due(1, 1));
        assert_eq!(chosen(due(1, 9), &due(1, 14)[10..], 4), []);
    }

    #[test]
    fn what_is_on_the_way_is_not_sent_a_second_time() {
        let all = due(1, 5);
        assert_eq!(chosen(all.clone(), &all[..3], 4), all[3..4]);
    }

    #[test]
    fn every_projects_first_goes_before_any_projects_second() {
        let first = |project: usize| due(project, 1)[0];
        let picked = chosen(due_of(1..4, 3), &[first(2)], 4);
        assert_eq!(picked[..2], [first(1), first(3)]);
        assert_eq!(picked.len(), 8);
    }

    #[test]
    fn however_many_receivers_hang_there_is_room_for_projects_that_have_nothing_on_the_way() {
        let hanging = due_of(1..301, 12);
        let on_the_way = chosen(hanging.clone(), &[], 12);
        assert_eq!(on_the_way.len(), SHARED_MOST);
        assert_eq!(chosen(hanging.clone(), &on_the_way, 12), []);
        let newcomer = due(999, 3);
        assert_eq!(chosen([hanging, newcomer.clone()].concat(), &on_the_way, 12), newcomer[..1]);
        assert_eq!(chosen(due_of(1..4_000, 4), &[], 4).len(), LEASED_MOST, "and there is an end to it");
    }
}
