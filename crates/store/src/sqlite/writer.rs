//! The writer: one thread that commits plans from a bounded queue and answers once they are on disk.
//!
//! All plans that are in the queue when a transaction begins are committed with it, so one sync to disk serves many
//! requests. The writer never waits for more plans: under load the queue fills by itself while the disk is busy.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use futures_util::future::join_all;
use rusqlite::{Connection, ErrorCode};
use tokio::sync::mpsc;

use super::log::Log;
use crate::{
    error::{CommitError, StoreError},
    jobs::{Job, Jobs, Outcome, refused, unanswered},
    plan::{Plan, Statement},
    short_ids::{Projects, ShortIds},
    value::{Value, bind},
};

/// Plans that may wait. One more fails at once, as the database is too busy.
const QUEUE_MOST: usize = 2_048;
/// Plans committed by one transaction, but for the rest of those that were requested together.
const BATCH_MOST: usize = 512;

pub(super) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Jobs>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(super) fn start(connection: Connection, log: Log) -> Result<Writer, StoreError> {
        let (sender, receiver) = mpsc::channel(QUEUE_MOST);
        let thread = thread::Builder::new()
            .name("lunas-writer".to_owned())
            .spawn(move || run(&connection, receiver, log))
            .map_err(StoreError::unavailable)?;
        Ok(Writer { queue: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)) })
    }

    /// A writer that takes no commits, for a file that is only read.
    pub(super) fn closed() -> Writer {
        Writer { queue: Mutex::new(None), thread: Mutex::new(None) }
    }

    pub(super) async fn commit(&self, plan: Plan) -> Outcome {
        let (jobs, answer) = Jobs::one(plan);
        self.enqueue(jobs)?;
        answer.wait(None).await
    }

    /// Commits each plan by itself. They are taken from the queue together, so that one sync to disk serves all of them.
    pub(super) async fn commit_each(&self, plans: Vec<Plan>) -> Vec<Outcome> {
        let (jobs, answers) = Jobs::many(plans);
        match self.enqueue(jobs) {
            Ok(()) => join_all(answers.into_iter().map(|answer| answer.wait(None))).await,
            Err(error) => refused(answers.len(), &error),
        }
    }

    fn enqueue(&self, jobs: Jobs) -> Result<(), StoreError> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = queue.as_ref().ok_or_else(|| StoreError::unavailable("the database is closed"))?;
        queue.try_send(jobs).map_err(|error| StoreError::unavailable(error.to_string()))
    }

    /// Whether commits can still be taken.
    pub(super) fn is_alive(&self) -> bool {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.as_ref().is_some_and(|queue| !queue.is_closed())
    }

    pub(super) async fn close(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // Joining waits for the last commit, so it must not block a worker thread.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

/// A connection with its prepared statements. They are found by the addresses of their texts, which is quicker than by the
/// texts.
struct Session<'c> {
    connection: &'c Connection,
    prepared: HashMap<usize, rusqlite::Statement<'c>>,
    projects: Projects,
}

impl Session<'_> {
    /// Runs a statement, and answers how many rows it has changed.
    fn execute(&mut self, sql: &'static str, parameters: &[Value]) -> rusqlite::Result<usize> {
        let statement = match self.prepared.entry(sql.as_ptr().addr()) {
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(first) => first.insert(self.connection.prepare(sql)?),
        };
        bind(statement, parameters, ShortIds::new(self.connection, &self.projects))?;
        statement.raw_execute()
    }

    /// Rolls back with `sql`.
    fn roll_back(&self, sql: &str) -> rusqlite::Result<()> {
        self.projects.forget();
        self.connection.execute_batch(sql)
    }
}

fn run(connection: &Connection, mut queue: mpsc::Receiver<Jobs>, mut log: Log) {
    let mut session = Session { connection, prepared: HashMap::new(), projects: Projects::default() };
    while let Some(first) = queue.blocking_recv() {
        let mut batch = Vec::new();
        first.add_to(&mut batch);
        while batch.len() < BATCH_MOST {
            match queue.try_recv() {
                Ok(jobs) => jobs.add_to(&mut batch),
                Err(_) => break,
            }
        }
        commit_batch(&mut session, batch);
        log.maintain(connection);
    }
    log.close();
}

/// Commits the plans of a batch whose guards hold, and answers each job. If the transaction itself fails, all jobs
/// fail.
fn commit_batch(session: &mut Session<'_>, batch: Vec<Job>) {
    let mut batch = Job::end_late(batch, Duration::ZERO);
    let outcomes = loop {
        if batch.is_empty() {
            return;
        }
        let outcomes = match transact(session, &batch, Rollback::Nothing) {
            // This is rare, so running the batch again with savepoints costs less than using savepoints every time.
            Err(TransactionError::Plan) => transact(session, &batch, Rollback::EachPlan),
            done => done,
        };
        match outcomes {
            // While the transaction waited for the file, a caller has given up: the others go on without that plan.
            Err(TransactionError::Late) => batch = Job::end_late(batch, Duration::ZERO),
            outcomes => break outcomes,
        }
    };
    let outcomes = outcomes.unwrap_or_else(|failed| {
        let error = failed.to_string();
        tracing::error!(error, plans = batch.len(), "a transaction was not committed");
        batch.iter().map(|job| Err(unanswered(job.deadline.as_deref(), &error).into())).collect()
    });
    for (job, outcome) in batch.into_iter().zip(outcomes) {
        // The caller may have gone; the commit stands all the same.
        let _ = job.answer.send(outcome);
    }
}

/// What a transaction can roll back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rollback {
    /// No single plan: one that fails after it has written something fails the whole transaction.
    Nothing,
    /// Each plan by itself, with a savepoint around it.
    EachPlan,
}

/// Why a transaction was rolled back.
#[derive(Debug, thiserror::Error)]
enum TransactionError {
    #[error("a plan failed after it had written something")]
    Plan,
    #[error("a plan must not be committed any more")]
    Late,
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
}

impl TransactionError {
    fn is_of_disk(&self) -> bool {
        match self {
            TransactionError::Plan | TransactionError::Late => false,
            TransactionError::Sqlite(error) => error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy),
        }
    }
}

fn transact(session: &mut Session<'_>, batch: &[Job], rollback: Rollback) -> Result<Vec<Outcome>, TransactionError> {
    let mut run = || {
        session.execute("BEGIN IMMEDIATE", &[])?;
        let outcomes =
            batch.iter().map(|job| apply(session, &job.plan, rollback)).collect::<Result<_, TransactionError>>()?;
        if !batch.iter().all(Job::begin_commit) {
            return Err(TransactionError::Late);
        }
        session.execute("COMMIT", &[])?;
        Ok(outcomes)
    };
    let outcomes = run();
    if let Err(error) = &outcomes {
        // Where writing to the disk has failed, what was written may still be found there after a crash.
        if !error.is_of_disk() {
            batch.iter().for_each(Job::undo);
        }
        // SQLite may have rolled back by itself.
        let sql = if session.connection.is_autocommit() { "" } else { "ROLLBACK" };
        if let Err(error) = session.roll_back(sql) {
            tracing::error!(%error, "a transaction was not rolled back");
        }
    }
    outcomes
}

/// Runs one plan. The outer error means that the whole transaction must be rolled back.
fn apply(session: &mut Session<'_>, plan: &Plan, rollback: Rollback) -> Result<Outcome, TransactionError> {
    // A failed statement changes nothing, so a plan that fails at its first statement needs no rollback.
    let savepoint = rollback == Rollback::EachPlan && plan.statements.len() > 1;
    if savepoint {
        session.execute("SAVEPOINT plan", &[])?;
    }
    let mut done = 0;
    let outcome = plan.statements.iter().try_for_each(|statement| {
        execute(session, statement)?;
        done += 1;
        Ok(())
    });
    let failed = outcome.is_err();
    let outcome = fatal_or(session.connection, outcome)?;
    if failed && done > 0 && !savepoint {
        return Err(TransactionError::Plan);
    }
    if savepoint && failed {
        session.roll_back("ROLLBACK TO plan; RELEASE plan")?;
    } else if savepoint {
        session.connection.execute_batch("RELEASE plan")?;
    }
    Ok(outcome)
}

enum Failure {
    Conflict(CommitError),
    Sqlite(rusqlite::Error),
}

fn execute(session: &mut Session<'_>, statement: &Statement) -> Result<(), Failure> {
    let changed = session.execute(statement.sql, &statement.parameters).map_err(Failure::Sqlite)?;
    match (changed, statement.guard) {
        (0, Some(guard)) => Err(Failure::Conflict(CommitError::Conflict(guard))),
        _ => Ok(()),
    }
}

/// A conflict or a violated constraint fails one plan; a full disk or a lost transaction fails the batch.
fn fatal_or(connection: &Connection, outcome: Result<(), Failure>) -> rusqlite::Result<Outcome> {
    match outcome {
        Ok(()) => Ok(Ok(())),
        Err(Failure::Conflict(conflict)) => Ok(Err(conflict)),
        Err(Failure::Sqlite(error)) => {
            let of_this_plan_only = error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation);
            if connection.is_autocommit() || !of_this_plan_only {
                return Err(error);
            }
            Ok(Err(StoreError::unexpected(error).into()))
        }
    }
}
