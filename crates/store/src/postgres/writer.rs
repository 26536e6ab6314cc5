//! Commits plans. Frequent plans that arrive together, or while the last ones are being committed, are collected, and
//! those with the same statements are committed as one batch; every other plan has a transaction of its own on a
//! connection from the pool.
//!
//! A commit that is not answered in time, or during which the server sends a warning, may or may not be durable. Its
//! caller gets the error that the database is unavailable and retries; guards keep the retry from doing anything twice.

mod batch;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deadpool_postgres::{ClientWrapper, Pool};
use futures_util::future::{join, join_all};
use tokio::{
    sync::{Semaphore, mpsc},
    task::{AbortHandle, JoinHandle},
    time::timeout,
};
use tokio_postgres::Error;

use super::{
    borrowed::{Borrowed, parameters},
    connect::Connector,
    fault,
    gather::gather,
    session::Session,
};
use crate::{
    error::{CommitError, Guard, StoreError},
    jobs::{Answer, Jobs, Outcome, refused},
    plan::{Plan, Queue, Statement},
    value::Value,
};
use batch::{Batch, BatchError};

/// Queues, each with one connection that commits its batches. With a single one, more plans are collected while it waits
/// for the disk, and a larger batch costs less per plan.
pub(super) const QUEUES: usize = 2;
/// Plans that may wait. One more fails at once, as the database is too busy.
const QUEUE_MOST: usize = 2_048;
/// Plans in one batch; those that were requested together count as one.
const BATCH_MOST: usize = 256;
/// How long a plan may wait for a connection, how long its commit may take, and how long both together.
const PERMIT_WITHIN: Duration = Duration::from_secs(5);
const COMMIT_WITHIN: Duration = Duration::from_secs(10);
const ANSWER_WITHIN: Duration = Duration::from_secs(15);
/// How often a plan is tried when the database cancels it because of a deadlock.
const TRIES_MOST: usize = 5;

/// A commit that writes nothing but a message into the log that is sent to standbys.
const CONFIRMATION: &str = "SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' \
    THEN CAST(pg_logical_emit_message(true, 'lunas', '') AS TEXT) END";

pub(super) struct Writer {
    queues: Mutex<Option<Queues>>,
    workers: Mutex<Vec<JoinHandle<()>>>,
    single: SingleCommits,
}

struct Queues {
    payments: mpsc::Sender<Jobs>,
    webhooks: mpsc::Sender<Jobs>,
}

impl Writer {
    /// Plans that are committed one by one use at most `connections` of the pool.
    pub(super) fn start(connector: &Connector, pool: &Pool, connections: usize) -> Writer {
        let permits = Arc::new(Semaphore::new(connections));
        let single = SingleCommits { pool: pool.clone(), connector: connector.clone(), permits };
        let queue = || {
            let (sender, receiver) = mpsc::channel(QUEUE_MOST);
            let worker = Worker { connector: connector.clone(), session: None, late: None, single: single.clone() };
            (sender, tokio::spawn(worker.run(receiver)))
        };
        let ((payments, of_payments), (webhooks, of_webhooks)) = (queue(), queue());
        let queues = Mutex::new(Some(Queues { payments, webhooks }));
        Writer { queues, workers: Mutex::new(vec![of_payments, of_webhooks]), single }
    }

    pub(super) async fn commit(&self, plan: Plan) -> Outcome {
        if !self.is_alive() {
            return Err(StoreError::unavailable("the database is closed").into());
        }
        if plan.statements.is_empty() {
            return Ok(());
        }
        let Some(queue) = plan.queue else {
            let single = self.single.clone();
            // A task of its own, which finishes even when the caller has gone.
            let committed = tokio::spawn(async move { single.commit(&plan).await });
            return committed.await.map_err(StoreError::unavailable)?;
        };
        let (jobs, answer) = Jobs::one(plan);
        self.enqueue(queue, jobs)?;
        answered(answer).await
    }

    /// Commits each plan by itself. Those of one queue are taken from it together, so that they are in one batch.
    pub(super) async fn commit_each(&self, plans: Vec<Plan>) -> Vec<Outcome> {
        let queue = plans.first().and_then(|plan| plan.queue);
        let Some(queue) = queue.filter(|queue| plans.iter().all(|plan| plan.is_for(*queue))) else {
            return join_all(plans.into_iter().map(|plan| self.commit(plan))).await;
        };
        let (jobs, answers) = Jobs::many(plans);
        match self.enqueue(queue, jobs) {
            Ok(()) => join_all(answers.into_iter().map(answered)).await,
            Err(error) => refused(answers.len(), &error),
        }
    }

    /// If commits wait for standbys, commits an empty message; with it, all commits before it are confirmed.
    pub(super) async fn confirm(&self) -> Result<(), StoreError> {
        self.single.confirm().await
    }

    fn enqueue(&self, queue: Queue, jobs: Jobs) -> Result<(), StoreError> {
        let queues = self.queues();
        let queues = queues.as_ref().ok_or_else(|| StoreError::unavailable("the database is closed"))?;
        let sender = match queue {
            Queue::Payments => &queues.payments,
            Queue::Webhooks => &queues.webhooks,
        };
        sender.try_send(jobs).map_err(|error| StoreError::unavailable(error.to_string()))
    }

    pub(super) fn is_alive(&self) -> bool {
        self.queues().as_ref().is_some_and(|queues| !queues.payments.is_closed() && !queues.webhooks.is_closed())
    }

    pub(super) async fn close(&self) {
        drop(self.queues().take());
        let workers = std::mem::take(&mut *self.workers.lock().unwrap_or_else(PoisonError::into_inner));
        let aborts: Vec<_> = workers.iter().map(JoinHandle::abort_handle).collect();
        // A commit may wait for a standby that is away; closing does not wait for it any longer.
        if timeout(ANSWER_WITHIN, join_all(workers)).await.is_err() {
            aborts.iter().for_each(AbortHandle::abort);
        }
    }

    fn queues(&self) -> MutexGuard<'_, Option<Queues>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn answered(answer: Answer) -> Outcome {
    let outcome = timeout(ANSWER_WITHIN, answer).await.map_err(StoreError::unavailable)?;
    outcome.map_err(|_| StoreError::unavailable("the writer has stopped"))?
}

/// A task with one connection that commits batches.
struct Worker {
    connector: Connector,
    session: Option<Session>,
    /// A session whose commit was not answered in time.
    late: Option<Session>,
    single: SingleCommits,
}

impl Worker {
    async fn run(mut self, mut queue: mpsc::Receiver<Jobs>) {
        let mut received = Vec::new();
        while gather(&mut queue, &mut received, BATCH_MOST).await {
            let mut jobs = Vec::new();
            received.drain(..).for_each(|some: Jobs| some.add_to(&mut jobs));
            // The callers of the others have gone, and nothing of them was committed.
            jobs.retain(|job| !job.answer.is_closed());
            for batch in Batch::sorted(jobs) {
                self.commit(batch).await;
                if let Some(late) = self.late.take() {
                    late.finished(&self.connector).await;
                }
            }
        }
    }

    async fn commit(&mut self, batch: Batch) {
        match self.try_commit(&batch).await {
            Ok(outcomes) => batch.answer(outcomes),
            // One plan of the batch cannot be committed; commit them one by one to find out which.
            Err(BatchError::Plan) => self.one_by_one(batch).await,
            Err(BatchError::Database(error)) => {
                batch.fail(&error);
            }
        }
    }

    async fn try_commit(&mut self, batch: &Batch) -> Result<Vec<Outcome>, BatchError> {
        let mut session = match self.session.take().filter(|session| session.is_usable(&self.connector)) {
            Some(session) => session,
            None => {
                let opened = Session::open(&self.connector).await;
                opened.map_err(|error| BatchError::Database(error.to_string()))?
            }
        };
        let warnings = self.connector.warnings().count();
        let Ok(committed) = timeout(COMMIT_WITHIN, batch.commit(&mut session)).await else {
            self.late = Some(session);
            return Err(BatchError::Database("the server has not answered in time".to_owned()));
        };
        let committed = match committed {
            Ok(_) if self.connector.warnings().count() != warnings => {
                Err(BatchError::Database("the server sent a warning during the commit".to_owned()))
            }
            committed => committed,
        };
        if !matches!(committed, Err(BatchError::Database(_))) {
            self.session = Some(session);
        }
        committed
    }

    async fn one_by_one(&self, batch: Batch) {
        let committing = batch.into_jobs().into_iter().map(|job| async move {
            let outcome = self.single.commit(&job.plan).await;
            // The caller may have gone; the commit stands all the same.
            let _ = job.answer.send(outcome);
        });
        join_all(committing).await;
    }
}

/// Commits plans one by one, each in a transaction of its own.
#[derive(Clone)]
struct SingleCommits {
    pool: Pool,
    connector: Connector,
    permits: Arc<Semaphore>,
}

/// How a single plan ended.
enum Ended {
    Committed,
    Conflict(Guard),
}

impl SingleCommits {
    async fn connection(&self) -> Result<Borrowed, StoreError> {
        let permit = timeout(PERMIT_WITHIN, Arc::clone(&self.permits).acquire_owned()).await;
        let permit = permit.map_err(StoreError::unavailable)?.map_err(StoreError::unavailable)?;
        Borrowed::from(&self.pool, &self.connector, Some(Box::new(permit))).await
    }

    async fn confirm(&self) -> Result<(), StoreError> {
        let connection = self.connection().await?;
        let warnings = self.connector.warnings().count();
        let confirmed = async {
            let statement = connection.get().prepare_cached(CONFIRMATION).await?;
            connection.get().execute(&statement, &[]).await
        };
        let confirmed = timeout(COMMIT_WITHIN, confirmed).await.map_err(StoreError::unavailable)?;
        confirmed.map_err(fault::failure)?;
        connection.give_back();
        self.unless_warned(warnings)
    }

    /// Fails if the server has sent a warning since there were `warnings` of them.
    fn unless_warned(&self, warnings: u64) -> Result<(), StoreError> {
        match self.connector.warnings().count() == warnings {
            true => Ok(()),
            false => Err(StoreError::unavailable("the server sent a warning during the commit")),
        }
    }

    async fn commit(&self, plan: &Plan) -> Outcome {
        for _ in 0..TRIES_MOST {
            let connection = self.connection().await?;
            let warnings = self.connector.warnings().count();
            let ended = timeout(COMMIT_WITHIN, run(connection.get(), plan)).await.map_err(StoreError::unavailable)?;
            match ended {
                Ok(ended) => {
                    connection.give_back();
                    self.unless_warned(warnings)?;
                    return match ended {
                        Ended::Committed => Ok(()),
                        Ended::Conflict(guard) => Err(CommitError::Conflict(guard)),
                    };
                }
                Err(error) if fault::is_retryable(&error) => {}
                Err(error) => return Err(fault::failure(error).into()),
            }
        }
        Err(StoreError::unavailable("the database cancelled a plan again and again because of deadlocks").into())
    }
}

/// Runs a plan: a single statement without a transaction; several as one transaction, all sent without waiting in
/// between.
async fn run(connection: &ClientWrapper, plan: &Plan) -> Result<Ended, Error> {
    if let ([statement], []) = (plan.statements.as_slice(), plan.links.as_slice()) {
        let touched = execute(connection, statement).await?;
        return Ok(failed_guard(statement, touched).map_or(Ended::Committed, Ended::Conflict));
    }
    let links = links(plan);
    let lock = connection.prepare_cached("SELECT id FROM links WHERE id = $1 FOR UPDATE").await?;
    let mut prepared = Vec::with_capacity(plan.statements.len());
    for statement in &plan.statements {
        prepared.push(connection.prepare_cached(statement.sql).await?);
    }
    let values: Vec<_> = plan.statements.iter().map(|statement| parameters(&statement.parameters)).collect();
    let links: Vec<_> = links.iter().map(|link| parameters(std::slice::from_ref(*link))).collect();
    // Wait for BEGIN: if it failed, the statements after it would run outside of any transaction.
    connection.batch_execute("BEGIN").await?;
    let (locked, touched) = join(
        join_all(links.iter().map(|link| connection.execute(&lock, link))),
        join_all(prepared.iter().zip(&values).map(|(statement, values)| connection.execute(statement, values))),
    )
    .await;
    let locked = locked.into_iter().find_map(Result::err).map_or(Ok(None), Err);
    // Only the first failure counts; the statements after it failed because of it, or ran on its result.
    let failed = locked.and_then(|_: Option<Guard>| {
        let mut ran = plan.statements.iter().zip(touched);
        let failed = ran.find_map(|(statement, touched)| match touched {
            Ok(touched) => failed_guard(statement, touched).map(Ok),
            Err(error) => Some(Err(error)),
        });
        failed.transpose()
    });
    if let Ok(None) = failed {
        connection.batch_execute("COMMIT").await?;
        return Ok(Ended::Committed);
    }
    connection.batch_execute("ROLLBACK").await?;
    failed.map(|guard| guard.map_or(Ended::Committed, Ended::Conflict))
}

/// The links to lock, always in the same order, so that two plans cannot deadlock.
fn links(plan: &Plan) -> Vec<&Value> {
    let mut links: Vec<_> = plan.links.iter().collect();
    links.sort_unstable();
    links.dedup();
    links
}

async fn execute(connection: &ClientWrapper, statement: &Statement) -> Result<u64, Error> {
    let prepared = connection.prepare_cached(statement.sql).await?;
    connection.execute(&prepared, &parameters(&statement.parameters)).await
}

fn failed_guard(statement: &Statement, touched: u64) -> Option<Guard> {
    statement.guard.filter(|_| touched == 0)
}
