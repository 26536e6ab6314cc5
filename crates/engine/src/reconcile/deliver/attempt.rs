//! Attempts: what a webhook consists of is read, it is signed and sent, and the outcome is saved.

use std::{panic::AssertUnwindSafe, time::Duration};

use domain::{
    delivery::{Attempt, AttemptOutcome, Delivery, Failure, FailureClass, Jitter},
    id::{EventId, ProjectId},
    project::Environment,
    signature::signature_header,
    time::Timestamp,
};
use futures_util::{
    FutureExt, StreamExt,
    future::{join, join_all},
    stream::FuturesUnordered,
};
use gateway::Webhook;
use secrecy::ExposeSecret;
use store::{CommitError, Guard, StoreError, WebhookWrite};
use tokio::sync::mpsc;
use wire::event::EventWithSubject;

use super::{courier::Courier, lease::Lease, window::Pace};
use crate::{Engine, Error, Unsealed};

/// How often saving an attempt is tried when the database is too busy, and the wait after the first failure.
const SAVES_MOST: u32 = 6;
const SAVE_REST: Duration = Duration::from_millis(50);

/// What the dispatcher is told about a lease.
pub(super) enum Note {
    /// It lasts longer now.
    Renewed(Lease),
    /// Its attempt has ended, and is yet to be saved; without a pace if nothing was sent.
    Sent(EventId, Option<Pace>),
    /// Nothing more is done about it.
    Ended(EventId),
}

/// A lease whose attempt begins. When it is dropped, also by a panic, the dispatcher is told that it has ended.
pub(super) struct Ticket {
    lease: Lease,
    is_sent: bool,
    notes: mpsc::Sender<Note>,
}

impl Ticket {
    pub(super) const fn new(lease: Lease, notes: mpsc::Sender<Note>) -> Ticket {
        Ticket { lease, is_sent: false, notes }
    }

    fn sent(&mut self, pace: Option<Pace>) {
        if !std::mem::replace(&mut self.is_sent, true) {
            self.tell(Note::Sent(self.lease.delivery.event_id, pace));
        }
    }

    /// There is room: the queue is as long as all leases have notes. It is closed when the dispatcher has gone.
    fn tell(&self, note: Note) {
        let _ = self.notes.try_send(note);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.sent(None);
        self.tell(Note::Ended(self.lease.delivery.event_id));
    }
}

/// Where the webhooks of a project go, and what they are signed with.
struct Target {
    url: String,
    https_only: bool,
    secrets: Vec<Unsealed>,
}

impl Engine {
    /// Makes one attempt of each of these deliveries, which are of one project, and saves it. URL and secrets are read
    /// now, once for all of them.
    pub(super) async fn attempt_all(&self, courier: &Courier, tickets: Vec<Ticket>) {
        let renewed = join_all(tickets.into_iter().map(|ticket| self.renewed_ticket(ticket))).await;
        let tickets: Vec<Ticket> = renewed.into_iter().flatten().collect();
        let Some(project_id) = tickets.first().map(|ticket| ticket.lease.delivery.project_id) else { return };
        let ids: Vec<EventId> = tickets.iter().map(|ticket| ticket.lease.delivery.event_id).collect();
        let at = self.now();
        let (target, events) = join(self.target(project_id, at), self.events_to_send(project_id, &ids)).await;
        let target = match unless_unavailable(target) {
            Ok(target) => target,
            Err(error) => {
                tracing::warn!(%error, %project_id, "deliveries could not be prepared and will be made again");
                return;
            }
        };
        let target = target.as_ref();
        let attempts = tickets.into_iter().zip(events).map(|(ticket, event)| async move {
            let event_id = ticket.lease.delivery.event_id;
            let attempt = self.attempt(ticket, event, target, courier, at);
            match AssertUnwindSafe(attempt).catch_unwind().await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!(%error, %event_id, "an attempt could not be saved and will be made again");
                }
                Err(_) => tracing::error!(%event_id, "an attempt panicked and will be retried"),
            }
        });
        let mut attempts: FuturesUnordered<_> = attempts.collect();
        while attempts.next().await.is_some() {}
    }

    /// A lease that lasts for the whole attempt; none if another node has taken it over.
    async fn renewed_ticket(&self, mut ticket: Ticket) -> Option<Ticket> {
        match self.renewed(ticket.lease).await {
            Ok(lease) => lease.map(|lease| {
                if lease.until != ticket.lease.until {
                    ticket.lease = lease;
                    ticket.tell(Note::Renewed(lease));
                }
                ticket
            }),
            Err(error) => {
                let event_id = ticket.lease.delivery.event_id;
                tracing::warn!(%error, %event_id, "a lease could not be renewed and will run out");
                None
            }
        }
    }

    /// Makes one attempt and saves it. If saving fails, the lease runs out and the attempt is made again.
    async fn attempt(
        &self,
        mut ticket: Ticket,
        event: Result<EventWithSubject, Error>,
        target: Result<&Target, &Failure>,
        courier: &Courier,
        at: Timestamp,
    ) -> Result<(), Error> {
        let Lease { delivery, until, .. } = ticket.lease;
        // It says nothing about the receiver, which was not asked.
        let unsent = |failure| (AttemptOutcome::unanswered(Duration::ZERO, failure), None);
        let (outcome, pace) = match (target, unless_unavailable(event)?) {
            (Ok(target), Ok(event)) => {
                let outcome = send(delivery.project_id, event, target, courier, at).await;
                let pace = Pace::of(&outcome);
                (outcome, Some(pace))
            }
            (Err(failure), _) => unsent(failure.clone()),
            (Ok(_), Err(failure)) => unsent(failure),
        };
        ticket.sent(pace);
        let after = delivery.attempted(&outcome, self.now(), Jitter::drawn(rand::random()));
        self.save_attempt(until, after, Attempt { at, outcome }).await
    }

    /// Saves an attempt, with retries: an event whose successful attempt is not saved would be delivered once more.
    async fn save_attempt(&self, leased_until: Timestamp, delivery: Delivery, attempt: Attempt) -> Result<(), Error> {
        let mut rest = SAVE_REST;
        for left in (0..SAVES_MOST).rev() {
            let (leased_by, attempt) = (Some(self.node), attempt.clone());
            match self.store.commit(WebhookWrite::Attempted { leased_until, leased_by, delivery, attempt }.into()).await
            {
                // Somebody has asked to send it again, or another node has taken the lease over; their state counts.
                Ok(()) | Err(CommitError::Conflict(Guard::DeliveryAttempts)) => return Ok(()),
                Err(CommitError::Store(StoreError::Unavailable(_))) if left > 0 => tokio::time::sleep(rest).await,
                Err(error) => return Err(error.into()),
            }
            rest *= 2;
        }
        Ok(())
    }

    async fn target(&self, project_id: ProjectId, now: Timestamp) -> Result<Target, Unsendable> {
        let target = self.store.webhook_target(project_id).await.map_err(Error::from)?;
        let target = target.ok_or(Error::NotFound("project"))?;
        let Some(url) = target.url else {
            return Err(Unsendable::Known(Failure::new(FailureClass::NoUrl, "the project has no webhook URL")));
        };
        let secrets = self.signing_secrets(project_id, target.secrets, now)?;
        Ok(Target { url, https_only: target.environment == Environment::Production, secrets })
    }
}

/// Why a webhook cannot be sent.
enum Unsendable {
    /// Because of what the project has set.
    Known(Failure),
    Error(Error),
}

impl From<Error> for Unsendable {
    fn from(error: Error) -> Unsendable {
        Unsendable::Error(error)
    }
}

/// If a webhook cannot be prepared, that counts as a failed attempt, so that it is shown and retries end. Only an
/// unavailable database does not count, as it says nothing about the delivery.
fn unless_unavailable<T>(prepared: Result<T, impl Into<Unsendable>>) -> Result<Result<T, Failure>, Error> {
    match prepared.map_err(Into::into) {
        Ok(prepared) => Ok(Ok(prepared)),
        Err(Unsendable::Known(failure)) => Ok(Err(failure)),
        Err(Unsendable::Error(error @ Error::Store(StoreError::Unavailable(_)))) => Err(error),
        Err(Unsendable::Error(error)) => {
            tracing::error!(%error, "a delivery could not be prepared");
            let detail = "the webhook could not be prepared; the server's log says why";
            Ok(Err(Failure::new(FailureClass::Other, detail)))
        }
    }
}

async fn send(
    project_id: ProjectId,
    event: EventWithSubject,
    target: &Target,
    courier: &Courier,
    at: Timestamp,
) -> AttemptOutcome {
    let secrets: Vec<&str> = target.secrets.iter().map(ExposeSecret::expose_secret).collect();
    let body = wire::event::body(&courier.pages_url, event);
    let webhook = Webhook {
        project: Some(project_id),
        url: &target.url,
        https_only: target.https_only,
        signature_header: &courier.signature_header,
        signature: &signature_header(&secrets, at, &body),
        body,
    };
    courier.sender.send(webhook).await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gateway::{AddressGuard, SendLimits, WebhookSender};
    use store::Store;

    use super::*;
    use crate::{NewProject, ProjectUpdate, SecretKey, Settings, SystemClock};

    fn courier() -> Courier {
        Courier {
            sender: WebhookSender::new(AddressGuard::new(Vec::new(), true), SendLimits::default()).unwrap(),
            signature_header: "X-Signature".to_owned(),
            in_flight_per_project: 4,
            pages_url: "https://pay.lunas.test".to_owned(),
        }
    }

    /// Regression: it counted as a slow answer, and the receiver that comes with the next URL got fewer requests at once.
    #[tokio::test]
    async fn an_attempt_without_a_url_says_nothing_about_the_receiver() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open_sqlite(&directory.path().join("lunas.db")).await.unwrap();
        let key = SecretKey::from_base64(&SecretKey::generate_base64()).unwrap();
        let engine = Engine::new(store, Arc::new(SystemClock), Settings::default(), key);
        engine.mark_development().await.unwrap();
        let new = NewProject { name: "Toko".to_owned(), environment: Environment::Sandbox, merchant_name: None };
        let (project, _) = engine.create_project(new).await.unwrap();
        let hook = async |url: Option<&str>| {
            let webhook_url = Some(url.map(str::to_owned));
            let update = ProjectUpdate { webhook_url, ..ProjectUpdate::default() };
            engine.update_project(project.id, update).await.unwrap();
        };
        hook(Some("http://127.0.0.1:8080/hook")).await;
        let (key, _) = engine.create_key(project.id, "Server".to_owned()).await.unwrap();
        engine.revoke_key(key.id, None).await.unwrap();
        hook(None).await;

        let due = engine.store.due_deliveries(engine.now(), 10).await.unwrap();
        let leases = engine.lease_all(&due).await.leases;
        let (sender, mut notes) = mpsc::channel(3);
        let tickets: Vec<Ticket> = leases.into_iter().map(|lease| Ticket::new(lease, sender.clone())).collect();
        assert_eq!(tickets.len(), 1);
        engine.attempt_all(&courier(), tickets).await;
        assert!(matches!(notes.try_recv(), Ok(Note::Sent(_, None))));
        assert!(matches!(notes.try_recv(), Ok(Note::Ended(_))));
        let delivery = engine.store.delivery(due[0].event_id).await.unwrap().unwrap();
        assert_eq!(delivery.attempts, 1, "it counts as an attempt all the same");
    }
}
