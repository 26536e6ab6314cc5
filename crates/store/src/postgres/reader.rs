//! Short reads. Those that ask the same about different rows are gathered while the last ones are on their way, and asked as one.

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
    connect::Connector,
    fault, parameters,
    session::{Session, arrays, columns},
};
use crate::{
    error::StoreError,
    value::{Query, Value},
};

/// Connections that short reads share. While one waits for answers, the other gathers.
pub(super) const LANES: usize = 2;
/// Reads that may wait; beyond that the caller hears at once that we are too busy.
const QUEUE_MOST: usize = 4_096;
/// Reads asked together.
const GATHERED_MOST: usize = 256;
/// How long answers may take, and how long they may be waited for with everything before.
const READ_WITHIN: Duration = Duration::from_secs(5);
const ANSWER_WITHIN: Duration = Duration::from_secs(8);

/// The first row that was found, and where its columns begin.
pub(super) struct Found {
    pub(super) row: Row,
    pub(super) from: usize,
}

type Answer = Result<Option<Found>, StoreError>;

struct Job {
    query: Query,
    answer: oneshot::Sender<Answer>,
}

pub(super) struct Reader {
    connector: Connector,
    /// None while nobody has read anything since the start, or since it was closed.
    queue: Mutex<Option<mpsc::Sender<Job>>>,
}

impl Reader {
    pub(super) fn new(connector: Connector) -> Reader {
        Reader { connector, queue: Mutex::default() }
    }

    pub(super) async fn first(&self, query: Query) -> Answer {
        let (answer, found) = oneshot::channel();
        let queued = self.queue().get_or_insert_with(|| start(&self.connector)).try_send(Job { query, answer });
        queued.map_err(|refused| StoreError::unavailable(refused.to_string()))?;
        let found = timeout(ANSWER_WITHIN, found).await.map_err(StoreError::unavailable)?;
        found.map_err(|_| StoreError::unavailable("the reader has stopped"))?
    }

    /// Ends the connections once what is asked is answered. A read that comes later opens them again.
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
    for _ in 0..LANES {
        let lane = Lane { connector: connector.clone(), session: None };
        tokio::spawn(lane.run(Arc::clone(&receiver)));
    }
    sender
}

struct Lane {
    connector: Connector,
    session: Option<Session>,
}

impl Lane {
    async fn run(mut self, queue: Arc<tokio::sync::Mutex<mpsc::Receiver<Job>>>) {
        let mut jobs = Vec::new();
        while queue.lock().await.recv_many(&mut jobs, GATHERED_MOST).await > 0 {
            // Nobody waits for these any more.
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
        match timeout(READ_WITHIN, ask_all(&mut session, jobs)).await {
            Ok(Usable::Yes) => self.session = Some(session),
            // Whoever still waits finds that the question was dropped.
            Ok(Usable::No) | Err(_) => {}
        }
    }
}

/// Whether a connection can be asked again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Usable {
    Yes,
    No,
}

async fn ask_all(session: &mut Session, jobs: Vec<Job>) -> Usable {
    let mut asked = Vec::new();
    for alike in gathered(jobs) {
        match prepared(session, &alike).await {
            Ok(statement) => asked.push((alike, statement)),
            Err(error) => {
                let usable = usable_after(&error);
                alike.fail(error);
                if usable == Usable::No {
                    return Usable::No;
                }
            }
        }
    }
    let session = &*session;
    let answered = join_all(asked.into_iter().map(|(alike, statement)| ask(session, alike, statement))).await;
    if answered.contains(&Usable::No) { Usable::No } else { Usable::Yes }
}

/// Reads of the same text.
struct Alike {
    jobs: Vec<Job>,
}

/// A statement, for one row or for many.
enum Prepared {
    One(Statement),
    Many(Statement),
}

fn gathered(jobs: Vec<Job>) -> Vec<Alike> {
    let mut gathered: Vec<Alike> = Vec::new();
    for job in jobs {
        match gathered.iter_mut().find(|alike| same_text(&alike.jobs, &job)) {
            Some(alike) => alike.jobs.push(job),
            None => gathered.push(Alike { jobs: vec![job] }),
        }
    }
    gathered
}

/// Where the text stands is quicker to compare than what it says, and texts put together for one read have no others like them.
fn same_text(jobs: &[Job], job: &Job) -> bool {
    match (jobs.first().map(|first| &first.query.sql), &job.query.sql) {
        (Some(Cow::Borrowed(one)), Cow::Borrowed(other)) => {
            std::ptr::eq(*one, *other) && !job.query.parameters.is_empty()
        }
        _ => false,
    }
}

async fn prepared(session: &mut Session, alike: &Alike) -> Result<Prepared, Error> {
    let sql = &alike.jobs[0].query.sql;
    if let Cow::Borrowed(sql) = sql
        && let Some(statement) = session.for_many(sql).await?
    {
        return Ok(Prepared::Many(statement));
    }
    session.client.prepare_cached(sql).await.map(Prepared::One)
}

async fn ask(session: &Session, alike: Alike, prepared: Prepared) -> Usable {
    let statement = match prepared {
        Prepared::One(statement) => statement,
        Prepared::Many(statement) => {
            let rows: Vec<&[Value]> = alike.jobs.iter().map(|job| job.query.parameters.as_slice()).collect();
            let columns = columns(&rows);
            match session.client.query(&statement, &arrays(&columns)).await {
                Ok(rows) => return alike.answer(rows),
                Err(error) if alike.jobs.len() == 1 || usable_after(&error) == Usable::No => return alike.fail(error),
                // One of them cannot be asked; which one shows when each is by itself.
                Err(_) => match session.client.prepare_cached(&alike.jobs[0].query.sql).await {
                    Ok(statement) => statement,
                    Err(error) => return alike.fail(error),
                },
            }
        }
    };
    for Job { query, answer } in alike.jobs {
        let rows = session.client.query(&statement, &parameters(&query.parameters)).await;
        let usable = rows.as_ref().err().map_or(Usable::Yes, usable_after);
        let found = rows.map(|rows| rows.into_iter().next().map(|row| Found { row, from: 0 }));
        let _ = answer.send(found.map_err(fault::failure));
        if usable == Usable::No {
            return Usable::No;
        }
    }
    Usable::Yes
}

fn usable_after(error: &Error) -> Usable {
    if fault::spoils_the_connection(error) { Usable::No } else { Usable::Yes }
}

impl Alike {
    /// Gives each row to whoever asked for it; the first column says who that is.
    fn answer(self, rows: Vec<Row>) -> Usable {
        let mut found: Vec<Option<Found>> = self.jobs.iter().map(|_| None).collect();
        for row in rows {
            let place = usize::try_from(row.get::<_, i64>(0) - 1).ok();
            if let Some(slot) = place.and_then(|place| found.get_mut(place)) {
                slot.get_or_insert(Found { row, from: 1 });
            }
        }
        for (job, found) in self.jobs.into_iter().zip(found) {
            // Whoever asked may have gone.
            let _ = job.answer.send(Ok(found));
        }
        Usable::Yes
    }

    fn fail(self, error: Error) -> Usable {
        let (usable, reason) = (usable_after(&error), error.to_string());
        match fault::failure(error) {
            StoreError::Unavailable(_) => fail(self.jobs, &reason),
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
