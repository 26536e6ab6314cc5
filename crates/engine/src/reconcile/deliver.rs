//! Sends due deliveries to webhook URLs and retries them until the receiver accepts them or the schedule ends.
//!
//! A delivery is leased before it is sent: the time at which it is due is moved ahead, so that no other node sends it
//! too. When a node dies, its leases run out and another node sends the deliveries.
//!
//! Urgent deliveries, those of events about security, have leases and permits of their own. So a receiver that hangs on
//! other webhooks does not delay them.

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
use store::{CommitError, Guard, StoreError, WebhookWrite};
use tokio::{
    sync::{Semaphore, watch},
    task::{self, JoinSet},
};

use crate::{Engine, Error};

/// How often to poll without a notification: other processes commit events too, and waits between attempts end.
const REST: Duration = Duration::from_millis(100);
/// The same when another node has leased some of the deliveries first.
const REST_AFTER_RACE: Duration = Duration::from_millis(5);
/// Longer than an attempt can take.
const LEASE: Duration = Duration::from_secs(30);
/// The least that must be left of a lease when an attempt begins, so that it lasts for the whole attempt.
const ATTEMPT_MOST: Duration = Duration::from_secs(20);
/// Leased deliveries of a project for each that may be sent at once: while some are sent, the next ones are being
/// leased and the last ones saved, and both take the disk about as long as sending.
const LEASED_PER_SENT: usize = 3;
/// Commits that are requested together: they share a transaction, and leave room in the writer's queue for payments.
const COMMITS_AT_ONCE: usize = 256;
/// How often saving an attempt is tried when the database is too busy, and the wait after the first failure.
const SAVES_MOST: u32 = 6;
const SAVE_REST: Duration = Duration::from_millis(50);
/// The leases of urgent deliveries and those of all others: 3,072 together, so that memory and open files are limited
/// however many receivers hang.
const URGENT_LEASES: LeaseLimits = LeaseLimits { most: 384, shared_most: 288 };
const OTHER_LEASES: LeaseLimits = LeaseLimits { most: 2_688, shared_most: 2_016 };
/// How long running attempts may take once the reconciler is stopped; the others are sent after the next start.
const STOP_WITHIN: Duration = Duration::from_secs(3);

/// What sending webhooks needs: the HTTP client, the signature header, the limit, and where the pages are.
#[derive(Clone)]
pub struct Courier {
    pub sender: WebhookSender,
    /// The name of the header that carries the signature.
    pub signature_header: String,
    /// Concurrent attempts of one project, so that a slow receiver does not hold up those of other projects.
    pub in_flight_per_project: usize,
    /// Where people reach the pages that a payment's JSON points to.
    pub pages_url: String,
}

pub(super) async fn run(engine: Engine, courier: Courier, mut stopped: watch::Receiver<bool>) {
    let mut commit_signal = engine.store.commit_signal();
    let mut dispatcher = Dispatcher {
        engine,
        courier: Arc::new(courier),
        sending: JoinSet::new(),
        leased: HashMap::new(),
        permits: HashMap::new(),
    };
    while !*stopped.borrow() {
        let rest = match dispatcher.send_due().await {
            Ok(Leased::All) => REST,
            Ok(Leased::SomeLost) => REST_AFTER_RACE,
            Err(error) => {
                tracing::warn!(%error, "polling for due deliveries failed and will be retried");
                REST
            }
        };
        tokio::select! {
            // The loop reads `stopped` next.
            _ = stopped.changed() => {}
            Ok(()) = commit_signal.changed() => {}
            true = dispatcher.some_ended() => {}
            () = tokio::time::sleep(rest) => {}
        }
    }
    dispatcher.stop().await;
}

/// The running attempts of this node.
struct Dispatcher {
    engine: Engine,
    courier: Arc<Courier>,
    sending: JoinSet<()>,
    leased: HashMap<task::Id, Lease>,
    /// The permits for concurrent attempts, by project; urgent deliveries have permits of their own.
    permits: HashMap<(ProjectId, bool), Arc<Semaphore>>,
}

/// How many deliveries of one kind, urgent or not, may be leased at once.
#[derive(Clone, Copy)]
struct LeaseLimits {
    /// In all.
    most: usize,
    /// From this number on, only projects that have less than their share of it get a lease. So projects whose
    /// receivers hang cannot use up the rest, whatever limit each project has.
    shared_most: usize,
}

/// Whether all chosen deliveries could be leased.
enum Leased {
    All,
    /// Another node has leased some of them first, so there may be more due deliveries that no node has leased.
    SomeLost,
}

/// A delivery that no other node sends before `until`.
#[derive(Clone, Copy)]
struct Lease {
    delivery: Delivery,
    until: Timestamp,
}

impl Dispatcher {
    /// Leases due deliveries as far as the limits allow, and starts to send them.
    async fn send_due(&mut self) -> Result<Leased, Error> {
        let now = self.engine.now();
        let per_project = self.courier.in_flight_per_project * LEASED_PER_SENT;
        let due = self.engine.store.due_deliveries(now, per_project).await?;
        let leased = self.leased.values().map(|lease| lease.delivery).collect::<Vec<_>>();
        let busy: HashSet<_> = leased.iter().map(|delivery| (delivery.project_id, delivery.urgent)).collect();
        self.permits.retain(|place, _| busy.contains(place));
        let chosen = chosen(due, &leased, per_project);
        let mut result = Leased::All;
        for some in chosen.chunks(COMMITS_AT_ONCE) {
            for lease in join_all(some.iter().map(|delivery| self.engine.lease(*delivery))).await {
                match lease {
                    Ok(Some(lease)) => self.begin(lease),
                    Ok(None) => result = Leased::SomeLost,
                    Err(error) => tracing::warn!(%error, "a delivery could not be leased and will be retried"),
                }
            }
        }
        Ok(result)
    }

    fn begin(&mut self, lease: Lease) {
        let (engine, courier) = (self.engine.clone(), Arc::clone(&self.courier));
        let permits = self.permits.entry((lease.delivery.project_id, lease.delivery.urgent));
        let permits = Arc::clone(permits.or_insert_with(|| Arc::new(Semaphore::new(courier.in_flight_per_project))));
        let task = self.sending.spawn(async move { engine.attempt(lease, &courier, &permits).await });
        self.leased.insert(task.id(), lease);
    }

    /// Waits until several attempts have ended; false when there is none. Polling for due deliveries after every single
    /// attempt would take longer than sending it.
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

    /// Waits until an attempt has ended, and removes all that have; false when there is none.
    async fn ended(&mut self) -> bool {
        let Some(first) = self.sending.join_next_with_id().await else { return false };
        let mut next = Some(first);
        while let Some(ended) = next {
            let id = match ended {
                Ok((id, ())) => id,
                Err(error) => {
                    tracing::error!(%error, "an attempt panicked and will be retried");
                    error.id()
                }
            };
            self.leased.remove(&id);
            next = self.sending.try_join_next_with_id();
        }
        true
    }

    /// Waits a while for running attempts; then stops the others and releases their leases, so that they are sent after
    /// the next start.
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

/// Chooses the deliveries to send now: the urgent ones and then the others, each within limits of their own.
fn chosen(due: Vec<Delivery>, in_flight: &[Delivery], per_project: usize) -> Vec<Delivery> {
    let is_urgent = |delivery: &Delivery| delivery.urgent;
    let (urgent, others) = due.into_iter().partition(is_urgent);
    let (urgent_in_flight, others_in_flight): (Vec<Delivery>, Vec<Delivery>) =
        in_flight.iter().copied().partition(is_urgent);
    let mut chosen = chosen_within(URGENT_LEASES, urgent, &urgent_in_flight, per_project);
    chosen.extend(chosen_within(OTHER_LEASES, others, &others_in_flight, per_project));
    chosen
}

/// Chooses deliveries of one kind. The first delivery of every project comes before the second of any, so that
/// projects with many due deliveries, or with a receiver that hangs, leave room for others. Among equals, the longest
/// due comes first.
fn chosen_within(limits: LeaseLimits, due: Vec<Delivery>, in_flight: &[Delivery], per_project: usize) -> Vec<Delivery> {
    // A delivery that is being sent is due again if somebody asked to send it again meanwhile, or if the clock jumped;
    // skip it now.
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
    let share = (limits.shared_most / of_project.len().max(1)).max(1);
    let mut total = in_flight.len();
    let fits = |(number, _): &(usize, Delivery)| {
        let fits = total < if *number <= share { limits.most } else { limits.shared_most };
        total += usize::from(fits);
        fits
    };
    numbered.into_iter().filter(fits).map(|(_, delivery)| delivery).collect()
}

impl Engine {
    /// Leases a delivery; none if another node was faster.
    async fn lease(&self, delivery: Delivery) -> Result<Option<Lease>, Error> {
        let DeliveryState::Pending { due_at } = delivery.state else { return Ok(None) };
        let until = self.now().plus(LEASE);
        let write = WebhookWrite::DeliveryMoved { event_id: delivery.event_id, from: due_at, to: until };
        match self.store.commit(write.into()).await {
            Ok(()) => Ok(Some(Lease { delivery, until })),
            Err(CommitError::Conflict(Guard::DeliveryDue)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Renews a lease that has waited too long for its permit; none if another node has taken it over.
    async fn renewed(&self, lease: Lease) -> Result<Option<Lease>, Error> {
        if lease.until >= self.now().plus(ATTEMPT_MOST) {
            return Ok(Some(lease));
        }
        self.lease(Delivery { state: DeliveryState::Pending { due_at: lease.until }, ..lease.delivery }).await
    }

    async fn release(&self, Lease { delivery, until }: Lease) {
        let event_id = delivery.event_id;
        match self.store.commit(WebhookWrite::DeliveryMoved { event_id, from: until, to: self.now() }.into()).await {
            // The attempt was saved just before it was stopped, or somebody has asked to send the event again.
            Ok(()) | Err(CommitError::Conflict(Guard::DeliveryDue)) => {}
            // A lease that is not released runs out by itself.
            Err(error) => tracing::warn!(%error, %event_id, "a lease was not released and will run out"),
        }
    }

    /// Waits for a permit, makes one attempt and saves it. If saving fails, the lease runs out and the attempt is made
    /// again.
    async fn attempt(&self, lease: Lease, courier: &Courier, permits: &Semaphore) {
        let event_id = lease.delivery.event_id;
        let saved = async {
            let permit = permits.acquire().await;
            let Some(Lease { delivery, until }) = self.renewed(lease).await? else { return Ok(()) };
            let at = self.now();
            let outcome = self.prepare_and_send(delivery, courier).await?;
            drop(permit);
            let after = delivery.attempted(&outcome, self.now(), Jitter::drawn(rand::random()));
            self.save_attempt(until, after, Attempt { at, outcome }).await
        };
        if let Err(error) = saved.await {
            tracing::warn!(%error, %event_id, "an attempt could not be saved and will be made again");
        }
    }

    /// Saves an attempt, with retries: an event whose successful attempt is not saved would be delivered once more.
    async fn save_attempt(&self, leased_until: Timestamp, delivery: Delivery, attempt: Attempt) -> Result<(), Error> {
        let mut rest = SAVE_REST;
        for left in (0..SAVES_MOST).rev() {
            let attempt = attempt.clone();
            match self.store.commit(WebhookWrite::Attempted { leased_until, delivery, attempt }.into()).await {
                // Somebody has asked to send it again, or another node has taken the lease over; their state counts.
                Ok(()) | Err(CommitError::Conflict(Guard::DeliveryAttempts)) => return Ok(()),
                Err(CommitError::Store(StoreError::Unavailable(_))) if left > 0 => tokio::time::sleep(rest).await,
                Err(error) => return Err(error.into()),
            }
            rest *= 2;
        }
        Ok(())
    }

    /// If the webhook cannot be prepared, that counts as a failed attempt, so that it is shown and retries end. Only an
    /// unavailable database does not count, as it says nothing about the delivery.
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
            project: Some(delivery.project_id),
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

    /// `count` deliveries of one project, longest due first.
    fn due(project: usize, count: usize) -> Vec<Delivery> {
        let delivery = |number| Delivery {
            event_id: mint(NOW, entropy(project * 1_000_000 + number)),
            project_id: mint(NOW, entropy(project)),
            state: DeliveryState::Pending { due_at: NOW },
            attempts: 0,
            resent_after: 0,
            urgent: false,
        };
        (0..count).map(delivery).collect()
    }

    fn due_of(projects: std::ops::Range<usize>, count: usize) -> Vec<Delivery> {
        projects.flat_map(|project| due(project, count)).collect()
    }

    #[test]
    fn a_project_has_at_most_its_limit_of_attempts() {
        assert_eq!(chosen(due(1, 9), &[], 4), due(1, 4));
        assert_eq!(chosen(due(1, 9), &due(1, 9)[6..], 4), due(1, 1));
        assert_eq!(chosen(due(1, 9), &due(1, 14)[10..], 4), []);
    }

    #[test]
    fn a_delivery_that_is_being_sent_is_not_sent_a_second_time() {
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
    fn however_many_receivers_hang_there_is_room_for_the_share_of_another_project() {
        for (projects, count, newcomers) in [(1..301, 12, 6), (1..2, 3_000, 672)] {
            let hanging = due_of(projects, count);
            let on_the_way = chosen(hanging.clone(), &[], count);
            assert_eq!(on_the_way.len(), OTHER_LEASES.shared_most);
            assert_eq!(chosen(hanging.clone(), &on_the_way, count), []);
            let newcomer = due(999, 1_000);
            let all = [hanging, newcomer.clone()].concat();
            assert_eq!(chosen(all, &on_the_way, count), newcomer[..newcomers], "{count} of each");
        }
        assert_eq!(chosen(due_of(1..4_000, 4), &[], 4).len(), OTHER_LEASES.most, "and there is a limit in all");
    }

    #[test]
    fn urgent_deliveries_go_first_and_take_no_room_of_others_nor_others_theirs() {
        let as_urgent = |delivery: Delivery| Delivery { urgent: true, ..delivery };
        let urgent = |project, count| due(project, count).into_iter().map(as_urgent).collect::<Vec<_>>();
        let (revoked, paid) = (urgent(2, 3), due(1, 9));
        assert_eq!(chosen([paid.clone(), revoked.clone()].concat(), &[], 4), [&revoked[..], &paid[..4]].concat());
        let hanging: Vec<Delivery> = due_of(1..4_000, 4).into_iter().take(OTHER_LEASES.most).collect();
        let of_a_hanging_project = due(1, 5).pop().map(as_urgent).unwrap();
        assert_eq!(chosen(vec![of_a_hanging_project], &hanging, 4), [of_a_hanging_project]);
        let urgent_hanging: Vec<Delivery> = (1..4_000).flat_map(|project| urgent(project, 1)).collect();
        let on_the_way = chosen(urgent_hanging, &[], 4);
        assert_eq!(on_the_way.len(), URGENT_LEASES.most);
        assert_eq!(chosen(due(9_999, 2), &on_the_way, 4).len(), 2);
        assert_eq!(URGENT_LEASES.most + OTHER_LEASES.most, 3_072, "as many as files may be open for");
    }
}
