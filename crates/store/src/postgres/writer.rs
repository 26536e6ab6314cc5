//! Commits plans. Those that look alike are gathered while the last ones are on their way, and committed together, a column of
//! parameters at a time; the others have a transaction of their own on a connection from the pool.
//!
//! A commit that is not answered in time, or during which the server warns, may have been done or not: its caller hears that
//! the database is unavailable and asks again, and guards keep that from doing anything twice.

mod batch;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deadpool_postgres::{ClientWrapper, Pool};
use futures_util::future::{join, join_all};
use tokio::{
    sync::{Semaphore, mpsc, oneshot},
    task::{AbortHandle, JoinHandle},
    time::timeout,
};
use tokio_postgres::Error;

use super::{Borrowed, connect::Connector, fault, parameters, session::Session};
use crate::{
    error::{CommitError, Guard, StoreError},
    plan::{Plan, Statement},
    value::Value,
};
use batch::{Alike, Spoilt};

/// Connections that commit gathered plans. While it waits for the disk the next ones gather, and the more of them the less each costs.
pub(super) const LANES: usize = 1;
/// Plans that may wait; beyond that the caller hears at once that we are too busy.
const QUEUE_MOST: usize = 2_048;
/// Plans committed by one transaction.
const BATCH_MOST: usize = 256;
/// How long a plan may wait for its turn, how long its commit may take, and how long both together.
const TURN_WITHIN: Duration = Duration::from_secs(5);
const COMMIT_WITHIN: Duration = Duration::from_secs(10);
const ANSWER_WITHIN: Duration = Duration::from_secs(15);
/// How often a plan is run again when the database has broken up a race that it lost.
const RACES_MOST: usize = 5;

/// A commit that leaves nothing behind but a line in the log that is sent to standbys.
const CONFIRMATION: &str = "SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' \
    THEN CAST(pg_logical_emit_message(true, 'lunas', '') AS TEXT) END";

type Outcome = Result<(), CommitError>;

pub(super) struct Job {
    plan: Plan,
    answer: oneshot::Sender<Outcome>,
}

pub(super) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Job>>>,
    lanes: Mutex<Vec<JoinHandle<()>>>,
    alone: Alone,
}

impl Writer {
    /// Plans that are not gathered have `connections` of the pool.
    pub(super) fn start(connector: &Connector, pool: &Pool, connections: usize) -> Writer {
        let (sender, receiver) = mpsc::channel(QUEUE_MOST);
        let receiver = Arc::new(tokio::sync::Mutex::new(receiver));
        let turns = Arc::new(Semaphore::new(connections));
        let alone = Alone { pool: pool.clone(), connector: connector.clone(), turns };
        let lanes = (0..LANES).map(|_| {
            let lane = Lane { connector: connector.clone(), session: None, late: None, alone: alone.clone() };
            tokio::spawn(lane.run(Arc::clone(&receiver)))
        });
        Writer { queue: Mutex::new(Some(sender)), lanes: Mutex::new(lanes.collect()), alone }
    }

    pub(super) async fn commit(&self, plan: Plan) -> Outcome {
        if !self.is_alive() {
            return Err(StoreError::unavailable("the database is closed").into());
        }
        if plan.statements.is_empty() {
            return Ok(());
        }
        if !plan.frequent {
            let alone = self.alone.clone();
            // Goes on to its end even when whoever asked has gone.
            let committed = tokio::spawn(async move { alone.commit(&plan).await });
            return committed.await.map_err(StoreError::unavailable)?;
        }
        let (answer, outcome) = oneshot::channel();
        self.enqueue(Job { plan, answer })?;
        let outcome = timeout(ANSWER_WITHIN, outcome).await.map_err(StoreError::unavailable)?;
        outcome.map_err(|_| StoreError::unavailable("the writer has stopped"))?
    }

    /// Where there are standbys that are waited for, commits something that says nothing, and so waits for all before it.
    pub(super) async fn confirm(&self) -> Result<(), StoreError> {
        self.alone.confirm().await
    }

    fn enqueue(&self, job: Job) -> Result<(), StoreError> {
        let queue = self.queue();
        let queue = queue.as_ref().ok_or_else(|| StoreError::unavailable("the database is closed"))?;
        queue.try_send(job).map_err(|refused| StoreError::unavailable(refused.to_string()))
    }

    pub(super) fn is_alive(&self) -> bool {
        self.queue().as_ref().is_some_and(|queue| !queue.is_closed())
    }

    pub(super) async fn close(&self) {
        drop(self.queue().take());
        let lanes = std::mem::take(&mut *self.lanes.lock().unwrap_or_else(PoisonError::into_inner));
        let aborts: Vec<_> = lanes.iter().map(JoinHandle::abort_handle).collect();
        // Who waits for a standby that is away is not waited for.
        if timeout(ANSWER_WITHIN, join_all(lanes)).await.is_err() {
            aborts.iter().for_each(AbortHandle::abort);
        }
    }

    fn queue(&self) -> MutexGuard<'_, Option<mpsc::Sender<Job>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection that commits what is gathered.
struct Lane {
    connector: Connector,
    session: Option<Session>,
    /// A session whose commit was not answered in time.
    late: Option<Session>,
    alone: Alone,
}

impl Lane {
    async fn run(mut self, queue: Arc<tokio::sync::Mutex<mpsc::Receiver<Job>>>) {
        let mut jobs = Vec::new();
        while queue.lock().await.recv_many(&mut jobs, BATCH_MOST).await > 0 {
            // Nobody waits for these any more, and nothing of them was done.
            jobs.retain(|job| !job.answer.is_closed());
            for alike in Alike::sorted(jobs.drain(..)) {
                self.commit(alike).await;
                if let Some(late) = self.late.take() {
                    late.ended(&self.connector).await;
                }
            }
        }
    }

    async fn commit(&mut self, alike: Alike) {
        match self.try_commit(&alike).await {
            Ok(outcomes) => alike.answer(outcomes),
            // One of them cannot be committed; which one shows when each is by itself.
            Err(Spoilt::ByPlan) => self.one_by_one(alike).await,
            Err(Spoilt::ByDatabase(error)) => {
                alike.fail(&error);
            }
        }
    }

    async fn try_commit(&mut self, alike: &Alike) -> Result<Vec<Outcome>, Spoilt> {
        let mut session = match self.session.take().filter(|session| session.is_usable(&self.connector)) {
            Some(session) => session,
            None => {
                let opened = Session::open(&self.connector).await;
                opened.map_err(|error| Spoilt::ByDatabase(error.to_string()))?
            }
        };
        let doubts = self.connector.doubts().count();
        let Ok(committed) = timeout(COMMIT_WITHIN, alike.commit(&mut session)).await else {
            self.late = Some(session);
            return Err(Spoilt::ByDatabase("the server has not answered in time".to_owned()));
        };
        let committed = match committed {
            Ok(_) if self.connector.doubts().count() != doubts => {
                Err(Spoilt::ByDatabase("the server warned during the commit".to_owned()))
            }
            committed => committed,
        };
        if !matches!(committed, Err(Spoilt::ByDatabase(_))) {
            self.session = Some(session);
        }
        committed
    }

    async fn one_by_one(&self, alike: Alike) {
        let committing = alike.into_jobs().into_iter().map(|job| async move {
            let outcome = self.alone.commit(&job.plan).await;
            // Whoever asked may have gone; what was committed stays so.
            let _ = job.answer.send(outcome);
        });
        join_all(committing).await;
    }
}

/// Commits plans in transactions of their own.
#[derive(Clone)]
struct Alone {
    pool: Pool,
    connector: Connector,
    turns: Arc<Semaphore>,
}

/// How a plan by itself ended.
enum Ended {
    Committed,
    Conflict(Guard),
}

impl Alone {
    async fn connection(&self) -> Result<Borrowed, StoreError> {
        let turn = timeout(TURN_WITHIN, Arc::clone(&self.turns).acquire_owned()).await;
        let turn = turn.map_err(StoreError::unavailable)?.map_err(StoreError::unavailable)?;
        Borrowed::from(&self.pool, &self.connector, Some(turn)).await
    }

    async fn confirm(&self) -> Result<(), StoreError> {
        let connection = self.connection().await?;
        let doubts = self.connector.doubts().count();
        let confirmed = async {
            let statement = connection.get().prepare_cached(CONFIRMATION).await?;
            connection.get().execute(&statement, &[]).await
        };
        let confirmed = timeout(COMMIT_WITHIN, confirmed).await.map_err(StoreError::unavailable)?;
        confirmed.map_err(fault::failure)?;
        connection.give_back();
        self.doubtless(doubts)
    }

    /// Whether the server has not warned since.
    fn doubtless(&self, doubts: u64) -> Result<(), StoreError> {
        match self.connector.doubts().count() == doubts {
            true => Ok(()),
            false => Err(StoreError::unavailable("the server warned during the commit")),
        }
    }

    async fn commit(&self, plan: &Plan) -> Outcome {
        for _ in 0..RACES_MOST {
            let connection = self.connection().await?;
            let doubts = self.connector.doubts().count();
            let ended = timeout(COMMIT_WITHIN, run(connection.get(), plan)).await.map_err(StoreError::unavailable)?;
            match ended {
                Ok(ended) => {
                    connection.give_back();
                    self.doubtless(doubts)?;
                    return match ended {
                        Ended::Committed => Ok(()),
                        Ended::Conflict(guard) => Err(CommitError::Conflict(guard)),
                    };
                }
                Err(error) if fault::is_a_lost_race(&error) => {}
                Err(error) => return Err(fault::failure(error).into()),
            }
        }
        Err(StoreError::unavailable("a plan lost every race").into())
    }
}

/// Runs a plan: a single statement by itself, several as one transaction whose statements are sent without waiting in between.
async fn run(connection: &ClientWrapper, plan: &Plan) -> Result<Ended, Error> {
    if let ([statement], []) = (plan.statements.as_slice(), plan.links.as_slice()) {
        let touched = execute(connection, statement).await?;
        return Ok(refused(statement, touched).map_or(Ended::Committed, Ended::Conflict));
    }
    let links = links(plan);
    let take = connection.prepare_cached("SELECT id FROM links WHERE id = $1 FOR UPDATE").await?;
    let mut prepared = Vec::with_capacity(plan.statements.len());
    for statement in &plan.statements {
        prepared.push(connection.prepare_cached(statement.sql).await?);
    }
    let values: Vec<_> = plan.statements.iter().map(|statement| parameters(&statement.parameters)).collect();
    let links: Vec<_> = links.iter().map(|link| parameters(std::slice::from_ref(*link))).collect();
    // Waited for: if it failed, what is sent behind it would be done outside of any transaction.
    connection.batch_execute("BEGIN").await?;
    let (taken, touched) = join(
        join_all(links.iter().map(|link| connection.execute(&take, link))),
        join_all(prepared.iter().zip(&values).map(|(statement, values)| connection.execute(statement, values))),
    )
    .await;
    let taken = taken.into_iter().find_map(Result::err).map_or(Ok(None), Err);
    // The first statement that failed tells why; those after it have failed for its sake, or ran on what it left.
    let failed = taken.and_then(|_: Option<Guard>| {
        let mut ran = plan.statements.iter().zip(touched);
        let failed = ran.find_map(|(statement, touched)| match touched {
            Ok(touched) => refused(statement, touched).map(Ok),
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

/// The links that the plan decides about. They are taken before anything else, and always in the same order.
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

fn refused(statement: &Statement, touched: u64) -> Option<Guard> {
    statement.guard.filter(|_| touched == 0)
}
