//! Sends due deliveries to webhook URLs and retries them until the receiver accepts them or the schedule ends.
//!
//! A delivery is leased before it is sent: the time at which it is due is moved ahead, so that no other node sends it
//! too. When a node dies, another one gives its leases back within seconds (`reconcile/nodes.rs`), or they run out.
//!
//! Urgent deliveries, those of events about security, have leases and limits of their own. So a receiver that hangs on
//! other webhooks does not delay them.

mod attempt;
mod choose;
mod courier;
mod lanes;
mod lease;
#[cfg(test)]
mod samples;
mod window;
#[cfg(test)]
mod window_simulation;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use domain::{
    delivery::{Delivery, DeliveryState},
    id::ProjectId,
};
use gateway::BoxFuture;
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::Instant,
};

use crate::{Engine, Error};
use attempt::{Note, Ticket};
use choose::{LEASES_MOST, chosen};
use lanes::Lanes;
use lease::{Lane, Leased};

pub use courier::Courier;

/// How often to poll without a notification: other processes commit events too, and waits between attempts end.
const REST: Duration = Duration::from_millis(100);
/// The same when another node has leased some of the deliveries first.
const REST_AFTER_RACE: Duration = Duration::from_millis(5);
/// Notes that wait for the dispatcher: each lease has three at most.
const NOTES_MOST: usize = 3 * LEASES_MOST;
/// How long running attempts may take once the reconciler is stopped; the others are sent after the next start.
const STOP_WITHIN: Duration = Duration::from_secs(3);

pub(super) async fn run(engine: Engine, courier: Courier, mut stopped: watch::Receiver<bool>) {
    let mut commit_signal = engine.store.commit_signal();
    tokio::select! {
        () = engine.join_nodes() => {}
        // The loop reads `stopped` next.
        _ = stopped.changed() => {}
    }
    let mut dispatcher = Dispatcher::new(engine, courier);
    while !*stopped.borrow() {
        dispatcher.poll_if_wanted();
        dispatcher.begin_attempts();
        tokio::select! {
            // The loop reads `stopped` next.
            _ = stopped.changed() => {}
            Ok(()) = commit_signal.changed() => dispatcher.poll_wanted = true,
            () = dispatcher.progress() => {}
        }
    }
    dispatcher.stop().await;
}

/// The leases and running attempts of this node.
struct Dispatcher {
    engine: Engine,
    courier: Arc<Courier>,
    lanes: Lanes,
    sending: JoinSet<()>,
    notes: mpsc::Receiver<Note>,
    notes_sender: mpsc::Sender<Note>,
    /// The poll or the leasing that is under way; attempts go on meanwhile.
    step: Option<BoxFuture<'static, Step>>,
    poll_wanted: bool,
    next_poll: Instant,
}

/// What a step has found.
enum Step {
    Polled(Result<Due, Error>),
    Leased(Leased),
}

/// Due deliveries, and the lanes of which more may be due than were read.
struct Due {
    deliveries: Vec<Delivery>,
    partly_read: HashSet<Lane>,
}

/// What the dispatcher has waited for.
enum Happened {
    Stepped(Step),
    Noted(Note),
    Rested,
}

impl Dispatcher {
    fn new(engine: Engine, courier: Courier) -> Dispatcher {
        let (notes_sender, notes) = mpsc::channel(NOTES_MOST);
        Dispatcher {
            engine,
            lanes: Lanes::new(courier.in_flight_per_project),
            courier: Arc::new(courier),
            sending: JoinSet::new(),
            notes,
            notes_sender,
            step: None,
            poll_wanted: true,
            next_poll: Instant::now(),
        }
    }

    fn poll_if_wanted(&mut self) {
        if self.step.is_none() && (self.poll_wanted || self.lanes.wants_more()) {
            self.poll_wanted = false;
            let first = self.lanes.first_limit();
            let (more_of, more) = self.lanes.with_more_room();
            let engine = self.engine.clone();
            self.step = Some(Box::pin(async move { Step::Polled(engine.due(first, more_of, more).await) }));
        }
    }

    /// Starts to send what is leased, as far as the limits allow.
    fn begin_attempts(&mut self) {
        for leases in self.lanes.batches() {
            let (engine, courier) = (self.engine.clone(), Arc::clone(&self.courier));
            let tickets = leases.into_iter().map(|lease| Ticket::new(lease, self.notes_sender.clone())).collect();
            self.sending.spawn(async move { engine.attempt_all(&courier, tickets).await });
        }
        while let Some(ended) = self.sending.try_join_next() {
            if let Err(error) = ended {
                tracing::error!(%error, "attempts panicked and will be retried");
            }
        }
    }

    /// Waits until something has happened, or until it is time to poll.
    async fn progress(&mut self) {
        let Dispatcher { step, notes, next_poll, .. } = &mut *self;
        let is_resting = step.is_none();
        let stepped = async {
            match step {
                Some(step) => step.await,
                None => std::future::pending().await,
            }
        };
        let happened = tokio::select! {
            step = stepped => Happened::Stepped(step),
            Some(note) = notes.recv() => Happened::Noted(note),
            () = tokio::time::sleep_until(*next_poll), if is_resting => Happened::Rested,
        };
        match happened {
            Happened::Stepped(step) => {
                self.step = None;
                self.stepped(step);
            }
            Happened::Noted(note) => self.noted(note),
            Happened::Rested => self.poll_wanted = true,
        }
    }

    fn stepped(&mut self, step: Step) {
        self.next_poll = Instant::now() + REST;
        match step {
            Step::Polled(Ok(due)) => self.lease_some(due),
            Step::Polled(Err(error)) => {
                tracing::warn!(%error, "polling for due deliveries failed and will be retried");
            }
            Step::Leased(Leased { leases, some_lost }) => {
                if some_lost {
                    self.next_poll = Instant::now() + REST_AFTER_RACE;
                }
                leases.into_iter().for_each(|lease| self.lanes.add(lease));
            }
        }
    }

    fn lease_some(&mut self, Due { deliveries: due, partly_read }: Due) {
        let leased: Vec<Delivery> = self.lanes.leases().iter().map(|lease| lease.delivery).collect();
        let limit = |delivery: &Delivery| self.lanes.lease_limit(Lane::of(delivery));
        let chosen = chosen(&due, &leased, &limit);
        self.lanes.note_due(&due, &chosen, partly_read);
        if !chosen.is_empty() {
            let engine = self.engine.clone();
            self.step = Some(Box::pin(async move { Step::Leased(engine.lease_all(&chosen).await) }));
        }
    }

    /// Takes in all notes that are there.
    fn noted(&mut self, first: Note) {
        let mut next = Some(first);
        while let Some(note) = next {
            match note {
                Note::Renewed(lease) => self.lanes.renewed(lease),
                Note::Sent(event_id, pace) => self.lanes.sent(event_id, pace),
                Note::Ended(event_id) => self.lanes.ended(event_id),
            }
            next = self.notes.try_recv().ok();
        }
    }

    /// Waits a while for running attempts; then stops the others and releases their leases, so that they are sent after
    /// the next start.
    async fn stop(mut self) {
        if let Some(step) = self.step.take()
            && let Step::Leased(leased) = step.await
        {
            leased.leases.into_iter().for_each(|lease| self.lanes.add(lease));
        }
        let all = async {
            while !self.lanes.is_empty() {
                self.begin_attempts();
                match self.notes.recv().await {
                    Some(note) => self.noted(note),
                    None => break,
                }
            }
        };
        if tokio::time::timeout(STOP_WITHIN, all).await.is_ok() {
            return;
        }
        let leases = self.lanes.leases();
        self.sending.shutdown().await;
        self.engine.release_all(&leases).await;
    }
}

impl Engine {
    /// Due deliveries: at most `first` of each lane, but `more` of those of the projects in `more_of`.
    async fn due(&self, first: usize, more_of: HashSet<ProjectId>, more: usize) -> Result<Due, Error> {
        let now = self.now();
        let mut deliveries = self.store.due_deliveries(now, first).await?;
        let mut partly_read = lanes_with(&deliveries, first);
        let more_of: Vec<ProjectId> =
            more_of.into_iter().filter(|id| partly_read.iter().any(|lane| lane.project_id == *id)).collect();
        if !more_of.is_empty() {
            // A power of two, so that there are few different statements.
            let most = more.next_power_of_two();
            let of_these = self.store.due_deliveries_of(&more_of, now, most).await?;
            partly_read.retain(|lane| !more_of.contains(&lane.project_id));
            partly_read.extend(lanes_with(&of_these, most));
            deliveries.retain(|delivery| !more_of.contains(&delivery.project_id));
            deliveries.extend(of_these);
            deliveries.sort_by_key(|delivery| match delivery.state {
                DeliveryState::Pending { due_at } => (!delivery.urgent, Some(due_at)),
                DeliveryState::Delivered | DeliveryState::Exhausted => (!delivery.urgent, None),
            });
        }
        Ok(Due { deliveries, partly_read })
    }
}

/// The lanes that have so many of these deliveries.
fn lanes_with(deliveries: &[Delivery], count: usize) -> HashSet<Lane> {
    let mut counts: HashMap<Lane, usize> = HashMap::new();
    for delivery in deliveries {
        *counts.entry(Lane::of(delivery)).or_default() += 1;
    }
    counts.into_iter().filter(|(_, counted)| *counted >= count).map(|(lane, _)| lane).collect()
}
