//! Commits plans. Frequent plans that arrive together, or while the last ones are being committed, are collected, and
//! those with the same statements are committed as one batch; every other plan has a transaction of its own on a
//! connection from the pool.
//!
//! A commit that is not answered in time, or during which the server sends a warning, may or may not be durable. Its
//! caller gets the error that the database is unavailable and retries; guards keep the retry from doing anything twice.

mod batch;
mod statement_limit;

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
    deadline::Deadline,
    error::{CommitError, Guard, StoreError},
    jobs::{Job, Jobs, Outcome, refused, too_late, unanswered},
    plan::{Plan, Queue, Statement},
    value::Value,
};
use batch::{Batch, BatchError};
use statement_limit::{COMMIT_WITHIN, statement_limit};

/// Queues, each with one connection that commits its batches. With a single one, more plans are collected while it waits
/// for the disk, and a larger batch costs less per plan.
pub(super) const QUEUES: usize = 2;
/// Plans that may wait. One more fails at once, as the database is too busy.
const QUEUE_MOST: usize = 2_048;
/// Plans in one batch; those that were requested together count as one.
const BATCH_MOST: usize = 256;
/// How long a plan may wait for a connection, how long its commit may take, and how long both together.
const PERMIT_WITHIN: Duration = Duration::from_secs(5);
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
            let ((job, answer), single) = (Job::new(plan), self.single.clone());
            // A task of its own, which finishes even when the caller has gone.
            tokio::spawn(async move { single.commit_job(job).await });
            return answer.wait(None).await;
        };
        let (jobs, answer) = Jobs::one(plan);
        self.enqueue(queue, jobs)?;
        answer.wait(Some(ANSWER_WITHIN)).await
    }

    /// Commits each plan by itself. Those of one queue are taken from it together, so that they are in one batch.
    pub(super) async fn commit_each(&self, plans: Vec<Plan>) -> Vec<Outcome> {
        let queue = plans.first().and_then(|plan| plan.queue);
        let Some(queue) = queue.filter(|queue| plans.iter().all(|plan| plan.is_for(*queue))) else {
            return join_all(plans.into_iter().map(|plan| self.commit(plan))).await;
        };
        let (jobs, answers) = Jobs::many(plans);
        match self.enqueue(queue, jobs) {
            Ok(()) => join_all(answers.into_iter().map(|answer| answer.wait(Some(ANSWER_WITHIN)))).await,
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

    async fn commit(&mut self, mut batch: Batch) {
        loop {
            batch = batch.without_late();
            if batch.is_empty() {
                return;
            }
            match self.try_commit(&batch).await {
                Ok(outcomes) => return batch.answer(outcomes),
                // A caller has given up meanwhile: the others go on without that plan.
                Err(BatchError::Late) => {}
                // One plan of the batch cannot be committed; commit them one by one to find out which.
                Err(BatchError::Plan) => return self.one_by_one(batch).await,
                Err(BatchError::Database(error)) => {
                    batch.undo();
                    return batch.fail(&error);
                }
                Err(BatchError::Unanswered(error)) => return batch.fail(&error),
            }
        }
    }

    async fn try_commit(&mut self, batch: &Batch) -> Result<Vec<Outcome>, BatchError> {
        let mut session = match self.session.take().filter(|session| session.is_usable(&self.connector)) {
            Some(session) => session,
            None => {
                let opened = Session::open(&self.connector).await;
                opened.map_err(|error| BatchError::Unanswered(error.to_string()))?
            }
        };
        let warnings = self.connector.warnings().count();
        let Ok(committed) = timeout(COMMIT_WITHIN, batch.commit(&mut session)).await else {
            self.late = Some(session);
            return Err(BatchError::Unanswered("the server has not answered in time".to_owned()));
        };
        let committed = match committed {
            Ok(_) if self.connector.warnings().count() != warnings => {
                Err(BatchError::Unanswered("the server sent a warning during the commit".to_owned()))
            }
            committed => committed,
        };
        if !matches!(committed, Err(BatchError::Database(_) | BatchError::Unanswered(_))) {
            self.session = Some(session);
        }
        committed
    }

    async fn one_by_one(&self, batch: Batch) {
        batch.undo();
        join_all(batch.into_jobs().into_iter().map(|job| self.single.commit_job(job))).await;
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
    /// Its caller has given up, so it was undone.
    Late,
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

    async fn commit_job(&self, job: Job) {
        let deadline = job.deadline.as_deref();
        let committing = self.commit(&job.plan, deadline);
        let outcome = match deadline {
            // Dropping it undoes what was not begun to be committed.
            Some(deadline) => match timeout(deadline.left(), committing).await {
                Ok(outcome) => outcome,
                Err(_) => Err(unanswered(Some(deadline), "the server has not answered in time").into()),
            },
            None => committing.await,
        };
        // The caller may have gone; the commit stands all the same.
        let _ = job.answer.send(outcome);
    }

    async fn commit(&self, plan: &Plan, deadline: Option<&Deadline>) -> Outcome {
        for _ in 0..TRIES_MOST {
            let connection = self.connection().await?;
            let warnings = self.connector.warnings().count();
            let ended = timeout(COMMIT_WITHIN, run(connection.get(), plan, deadline)).await;
            let ended = ended.map_err(|_| unanswered(deadline, "the server has not answered in time"))?;
            match ended {
                Ok(ended) => {
                    connection.give_back();
                    self.unless_warned(warnings).map_err(|error| unanswered(deadline, &error.to_string()))?;
                    return match ended {
                        Ended::Committed => Ok(()),
                        Ended::Conflict(guard) => Err(CommitError::Conflict(guard)),
                        Ended::Late => Err(too_late().into()),
                    };
                }
                Err(error) if fault::is_retryable(&error) => undo(deadline),
                Err(error) if fault::is_undone(&error) => {
                    undo(deadline);
                    return Err(fault::failure(error).into());
                }
                Err(error) => {
                    let is_open = deadline.is_some_and(Deadline::is_committing);
                    let failure = fault::failure(error);
                    return Err(if is_open { unanswered(deadline, &failure.to_string()) } else { failure }.into());
                }
            }
        }
        Err(StoreError::unavailable("the database cancelled a plan again and again because of deadlocks").into())
    }
}

fn undo(deadline: Option<&Deadline>) {
    if let Some(deadline) = deadline {
        deadline.undo();
    }
}

/// Runs a plan: a single statement without a transaction; several, and those with a deadline, as one transaction, all sent
/// without waiting in between.
async fn run(connection: &ClientWrapper, plan: &Plan, deadline: Option<&Deadline>) -> Result<Ended, Error> {
    if let ([statement], [], None) = (plan.statements.as_slice(), plan.links.as_slice(), deadline) {
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
    connection.batch_execute(&begin(deadline)).await?;
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
    if let Ok(None) = failed
        && deadline.is_none_or(Deadline::begin_commit)
    {
        connection.batch_execute("COMMIT").await?;
        return Ok(Ended::Committed);
    }
    connection.batch_execute("ROLLBACK").await?;
    failed.map(|guard| guard.map_or(Ended::Late, Ended::Conflict))
}

/// Begins a transaction, whose statements the server cancels before the deadline.
fn begin(deadline: Option<&Deadline>) -> String {
    match deadline {
        Some(deadline) => {
            let millis = statement_limit(deadline).as_millis().max(1);
            format!("BEGIN; SET LOCAL statement_timeout = {millis}; SET LOCAL lock_timeout = {millis}")
        }
        None => "BEGIN".to_owned(),
    }
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
