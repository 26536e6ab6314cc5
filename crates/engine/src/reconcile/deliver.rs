//! Sends what is due to webhook URLs, again and again until it is taken or the schedule ends.
//!
//! Whatever is sent is leased first: its time is moved ahead, so that no other node sends it too, and a node that dies leaves
//! it to be sent by another.

use std::{collections::HashMap, sync::Arc, time::Duration};

use domain::{
    delivery::{Attempt, AttemptOutcome, Delivery, DeliveryState, Failure, FailureClass, Jitter},
    id::ProjectId,
    project::Environment,
    signature::signature_header,
};
use futures_util::future::join_all;
use gateway::{Webhook, WebhookSender};
use secrecy::ExposeSecret;
use store::{CommitError, Guard, Write};
use tokio::{
    sync::{Semaphore, watch},
    task::{self, JoinSet},
};

use crate::{Engine, Error, Told};

/// How long to rest when nobody wakes us: other processes commit events too, and rests between attempts end.
const REST: Duration = Duration::from_millis(100);
/// Longer than an attempt can take.
const LEASE: Duration = Duration::from_secs(30);
/// What is left of a lease when an attempt begins must last for all of it.
const ATTEMPT_MOST: Duration = Duration::from_secs(20);
/// Deliveries of a project that are leased, for each that may be sent at once: while some are sent, the next ones are being
/// leased and the last ones noted, which takes the disk about as long.
const LEASED_PER_SENT: usize = 3;
/// Deliveries leased in all, so that memory stays flat however many receivers hang.
const LEASED_MOST: usize = 1_024;
/// How long attempts may take to end once we are asked to stop; the others are left to the next start.
const STOP_WITHIN: Duration = Duration::from_secs(3);

/// Makes the body of an event, byte for byte as it is signed and sent.
pub type Body = Arc<dyn Fn(Told) -> Vec<u8> + Send + Sync>;

/// What deliveries are made with.
#[derive(Clone)]
pub struct Courier {
    pub sender: WebhookSender,
    /// The name of the header that carries the signature.
    pub signature_header: String,
    /// Attempts under way for one project, so that its receiver can hold up no other's.
    pub in_flight_per_project: usize,
    pub body: Body,
}

pub(super) async fn run(engine: Engine, courier: Courier, mut stopped: watch::Receiver<bool>) {
    let told = Arc::clone(&engine.told);
    let mut round = Round {
        engine,
        courier: Arc::new(courier),
        sending: JoinSet::new(),
        leased: HashMap::new(),
        gates: HashMap::new(),
    };
    while !*stopped.borrow() {
        if let Err(error) = round.send_due().await {
            tracing::warn!(%error, "deliveries could not be looked for and will be again");
        }
        tokio::select! {
            // Either way the loop looks at `stopped` next.
            _ = stopped.changed() => {}
            () = told.notified() => {}
            true = round.some_ended() => {}
            () = tokio::time::sleep(REST) => {}
        }
    }
    round.stop().await;
}

struct Round {
    engine: Engine,
    courier: Arc<Courier>,
    sending: JoinSet<()>,
    leased: HashMap<task::Id, Delivery>,
    /// Lets through as many attempts of a project as may be under way at once.
    gates: HashMap<ProjectId, Arc<Semaphore>>,
}

impl Round {
    /// Leases what is due and there is room for, and begins to send it.
    async fn send_due(&mut self) -> Result<(), Error> {
        let now = self.engine.now();
        let per_project = self.courier.in_flight_per_project * LEASED_PER_SENT;
        let due = self.engine.store.due_deliveries(now, per_project).await?;
        let chosen = self.within_limits(due, per_project);
        // All at once, so that they share a transaction.
        let leases = join_all(chosen.into_iter().map(|delivery| self.engine.lease(delivery))).await;
        for lease in leases {
            match lease {
                Ok(Some(delivery)) => self.begin(delivery),
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "a delivery could not be leased and is left for later"),
            }
        }
        Ok(())
    }

    fn begin(&mut self, delivery: Delivery) {
        let (engine, courier) = (self.engine.clone(), Arc::clone(&self.courier));
        let gate = self.gates.entry(delivery.project_id);
        let gate = Arc::clone(gate.or_insert_with(|| Arc::new(Semaphore::new(courier.in_flight_per_project))));
        let task = self.sending.spawn(async move { engine.attempt(delivery, &courier, &gate).await });
        self.leased.insert(task.id(), delivery);
    }

    fn within_limits(&mut self, due: Vec<Delivery>, per_project: usize) -> Vec<Delivery> {
        let mut leased: HashMap<ProjectId, usize> = HashMap::new();
        for delivery in self.leased.values() {
            *leased.entry(delivery.project_id).or_default() += 1;
        }
        self.gates.retain(|project_id, _| leased.contains_key(project_id));
        let fits = |delivery: &Delivery| {
            let leased = leased.entry(delivery.project_id).or_default();
            *leased += 1;
            *leased <= per_project
        };
        due.into_iter().filter(fits).take(LEASED_MOST.saturating_sub(self.leased.len())).collect()
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
        let engine = &self.engine;
        join_all(self.leased.into_values().map(|delivery| engine.release(delivery))).await;
    }
}

impl Engine {
    /// The delivery with its time moved ahead, or none when somebody else was quicker.
    async fn lease(&self, delivery: Delivery) -> Result<Option<Delivery>, Error> {
        let DeliveryState::Pending { due_at } = delivery.state else { return Ok(None) };
        let until = self.now().plus(LEASE);
        match self
            .store
            .commit(Write::DeliveryMoved { event_id: delivery.event_id, from: due_at, to: until }.into())
            .await
        {
            Ok(()) => Ok(Some(Delivery { state: DeliveryState::Pending { due_at: until }, ..delivery })),
            Err(CommitError::Conflict(Guard::DeliveryDue)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A lease that has waited for its turn too long is taken anew; none when it has passed to somebody else.
    async fn renewed(&self, delivery: Delivery) -> Result<Option<Delivery>, Error> {
        match delivery.state {
            DeliveryState::Pending { due_at } if due_at < self.now().plus(ATTEMPT_MOST) => self.lease(delivery).await,
            _ => Ok(Some(delivery)),
        }
    }

    async fn release(&self, delivery: Delivery) {
        let DeliveryState::Pending { due_at } = delivery.state else { return };
        let write = Write::DeliveryMoved { event_id: delivery.event_id, from: due_at, to: self.now() };
        // A lease that is not given back ends by itself.
        if let Err(error) = self.store.commit(write.into()).await {
            tracing::warn!(%error, event_id = %delivery.event_id, "a delivery was left to its lease");
        }
    }

    /// Makes one attempt, once it is let through, and notes it. Where that fails the lease runs out, and the attempt is made
    /// again.
    async fn attempt(&self, delivery: Delivery, courier: &Courier, gate: &Semaphore) {
        let event_id = delivery.event_id;
        let noted = async {
            let passed = gate.acquire().await;
            let Some(delivery) = self.renewed(delivery).await? else { return Ok(()) };
            let at = self.now();
            let outcome = self.send(delivery, courier).await?;
            drop(passed);
            let after = delivery.attempted(&outcome, self.now(), Jitter::drawn(rand::random()));
            let write = Write::Attempted { delivery: after, attempt: Attempt { at, outcome } };
            match self.store.commit(write.into()).await {
                // It was sent by hand meanwhile, or by somebody who took the lease over; their word counts.
                Ok(()) | Err(CommitError::Conflict(Guard::DeliveryAttempts)) => Ok(()),
                Err(error) => Err(Error::from(error)),
            }
        };
        if let Err(error) = noted.await {
            tracing::warn!(%error, %event_id, "an attempt was not noted and will be made again");
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
        let body = (courier.body)(self.event_of(delivery.project_id, delivery.event_id).await?);
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
