//! Reads by key. Reads with the same statement that arrive together, or while the last ones are under way, are sent as
//! one query for many rows.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};
use tokio_postgres::{Error, Row, Statement};

use super::{
    borrowed::parameters,
    connect::Connector,
    fault,
    gather::gather,
    session::{Session, arrays, columns},
};
use crate::{
    error::StoreError,
    value::{Query, Value},
};

/// Connections that these reads share. While one waits for answers, the other collects the next reads.
pub(super) const WORKERS: usize = 2;
/// Reads that may wait. One more fails at once, as the database is too busy.
const QUEUE_MOST: usize = 4_096;
/// Reads that are sent together.
const BATCH_MOST: usize = 256;
/// How long the server may take to answer, and how long a caller waits including the time in the queue.
const READ_WITHIN: Duration = Duration::from_secs(5);
const ANSWER_WITHIN: Duration = Duration::from_secs(8);

/// The first row that was found, and the index of its first column.
pub(super) struct FoundRow {
    pub(super) row: Row,
    pub(super) from: usize,
}

type Answer = Result<Option<FoundRow>, StoreError>;

struct Job {
    query: Query,
    answer: oneshot::Sender<Answer>,
}

pub(super) struct Reader {
    connector: Connector,
    /// None before the first read, and after it was closed.
    queue: Mutex<Option<mpsc::Sender<Job>>>,
}

impl Reader {
    pub(super) fn new(connector: Connector) -> Reader {
        Reader { connector, queue: Mutex::default() }
    }

    pub(super) async fn first(&self, query: Query) -> Answer {
        let (answer, found) = oneshot::channel();
        let queued = self.queue().get_or_insert_with(|| start(&self.connector)).try_send(Job { query, answer });
        queued.map_err(|error| StoreError::unavailable(error.to_string()))?;
        let found = timeout(ANSWER_WITHIN, found).await.map_err(StoreError::unavailable)?;
        found.map_err(|_| StoreError::unavailable("the reader has stopped"))?
    }

    /// Closes the connections once all waiting reads are answered. A later read opens them again.
    pub(super) fn close(&self) {
        drop(self.queue().take());
    }

    fn queue(&self) -> MutexGuard<'_, Option<mpsc::Sender<Job>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn start(connector: &Connector) -> mpsc::Sender<Job> {
    let (sender, receiver) = mpsc::channel(QUEUE_MOST);
    let receiver = Arc::new(tokio::sync::Mutex::new(receiver));
    for _ in 0..WORKERS {
        let worker = Worker { connector: connector.clone(), session: None };
        tokio::spawn(worker.run(Arc::clone(&receiver)));
    }
    sender
}

struct Worker {
    connector: Connector,
    session: Option<Session>,
}

impl Worker {
    async fn run(mut self, queue: Arc<tokio::sync::Mutex<mpsc::Receiver<Job>>>) {
        let mut jobs = Vec::new();
        while gather(&mut *queue.lock().await, &mut jobs, BATCH_MOST).await {
            // The callers of these have gone.
            jobs.retain(|job| !job.answer.is_closed());
            self.answer(std::mem::take(&mut jobs)).await;
        }
    }

    async fn answer(&mut self, jobs: Vec<Job>) {
        let mut session = match self.session.take().filter(|session| session.is_usable(&self.connector)) {
            Some(session) => session,
            None => match Session::open(&self.connector).await {
                Ok(session) => session,
                Err(error) => return fail(jobs, &error.to_string()),
            },
        };
        match timeout(READ_WITHIN, send_all(&mut session, jobs)).await {
            Ok(Usable::Yes) => self.session = Some(session),
            // Callers that still wait get an error, as their answer's sender was dropped.
            Ok(Usable::No) | Err(_) => {}
        }
    }
}

/// Whether a connection can be used again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Usable {
    Yes,
    No,
}

async fn send_all(session: &mut Session, jobs: Vec<Job>) -> Usable {
    let mut prepared_batches = Vec::new();
    for batch in batched(jobs) {
        match prepared(session, &batch).await {
            Ok(statement) => prepared_batches.push((batch, statement)),
            Err(error) => {
                let usable = usable_after(&error);
                batch.fail(error);
                if usable == Usable::No {
                    return Usable::No;
                }
            }
        }
    }
    let session = &*session;
    let answered =
        join_all(prepared_batches.into_iter().map(|(batch, statement)| send(session, batch, statement))).await;
    if answered.contains(&Usable::No) { Usable::No } else { Usable::Yes }
}

/// Reads with the same statement.
struct Batch {
    jobs: Vec<Job>,
}

/// A prepared statement for one row or for many.
enum Prepared {
    One(Statement),
    Many(Statement),
}

fn batched(jobs: Vec<Job>) -> Vec<Batch> {
    let mut batched: Vec<Batch> = Vec::new();
    for job in jobs {
        match batched.iter_mut().find(|batch| same_text(&batch.jobs, &job)) {
            Some(batch) => batch.jobs.push(job),
            None => batched.push(Batch { jobs: vec![job] }),
        }
    }
    batched
}

/// Compares the address of the text, which is faster than comparing the text. A text that was built for one read has an
/// address of its own, so it is never batched.
fn same_text(jobs: &[Job], job: &Job) -> bool {
    match (jobs.first().map(|first| &first.query.sql), &job.query.sql) {
        (Some(Cow::Borrowed(one)), Cow::Borrowed(other)) => {
            std::ptr::eq(*one, *other) && !job.query.parameters.is_empty()
        }
        _ => false,
    }
}

async fn prepared(session: &mut Session, batch: &Batch) -> Result<Prepared, Error> {
    let sql = &batch.jobs[0].query.sql;
    if let Cow::Borrowed(sql) = sql
        && let Some(statement) = session.for_many(sql).await?
    {
        return Ok(Prepared::Many(statement));
    }
    session.client.prepare_cached(sql).await.map(Prepared::One)
}

async fn send(session: &Session, batch: Batch, prepared: Prepared) -> Usable {
    let statement = match prepared {
        Prepared::One(statement) => statement,
        Prepared::Many(statement) => {
            let rows: Vec<&[Value]> = batch.jobs.iter().map(|job| job.query.parameters.as_slice()).collect();
            let columns = columns(&rows);
            match session.client.query(&statement, &arrays(&columns)).await {
                Ok(rows) => return batch.answer(rows),
                Err(error) if batch.jobs.len() == 1 || usable_after(&error) == Usable::No => return batch.fail(error),
                // One read of the batch failed; send them one by one to find out which.
                Err(_) => match session.client.prepare_cached(&batch.jobs[0].query.sql).await {
                    Ok(statement) => statement,
                    Err(error) => return batch.fail(error),
                },
            }
        }
    };
    for Job { query, answer } in batch.jobs {
        let rows = session.client.query(&statement, &parameters(&query.parameters)).await;
        let usable = rows.as_ref().err().map_or(Usable::Yes, usable_after);
        let found = rows.map(|rows| rows.into_iter().next().map(|row| FoundRow { row, from: 0 }));
        let _ = answer.send(found.map_err(fault::failure));
        if usable == Usable::No {
            return Usable::No;
        }
    }
    Usable::Yes
}

fn usable_after(error: &Error) -> Usable {
    if fault::breaks_the_connection(error) { Usable::No } else { Usable::Yes }
}

impl Batch {
    /// Gives each row to its caller; the first column is the number of the read in the batch.
    fn answer(self, rows: Vec<Row>) -> Usable {
        let mut found: Vec<Option<FoundRow>> = self.jobs.iter().map(|_| None).collect();
        for row in rows {
            let place = usize::try_from(row.get::<_, i64>(0) - 1).ok();
            if let Some(slot) = place.and_then(|place| found.get_mut(place)) {
                slot.get_or_insert(FoundRow { row, from: 1 });
            }
        }
        for (job, found) in self.jobs.into_iter().zip(found) {
            // The caller may have gone.
            let _ = job.answer.send(Ok(found));
        }
        Usable::Yes
    }

    fn fail(self, error: Error) -> Usable {
        let (usable, reason) = (usable_after(&error), error.to_string());
        match fault::failure(error) {
            StoreError::Unavailable(_) | StoreError::Undecided(_) => fail(self.jobs, &reason),
            StoreError::Unexpected(_) => {
                for job in self.jobs {
                    let _ = job.answer.send(Err(StoreError::unexpected(reason.clone())));
                }
            }
        }
        usable
    }
}

fn fail(jobs: Vec<Job>, reason: &str) {
    for job in jobs {
        let _ = job.answer.send(Err(StoreError::unavailable(reason.to_owned())));
    }
}
