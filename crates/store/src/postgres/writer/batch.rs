//! A batch: plans with the same statements and different parameters, committed by one statement for all of them.

use std::collections::{HashMap, HashSet};

use futures_util::future::join3;
use tokio_postgres::{Error, Row, Statement};

use super::{
    super::{
        connect::STATEMENT_TIMEOUT,
        fault,
        session::{Session, arrays, columns},
    },
    statement_limit::{COMMIT_NEEDS, statement_limit},
};
use crate::{
    error::{CommitError, Guard, StoreError},
    jobs::{Job, Outcome, unanswered},
    plan::Plan,
    value::Value,
};

/// The most different statements of a batch. Larger plans are rare and are committed one by one.
const RUNS_MOST: usize = 12;

/// Why a batch failed. Nothing of it was committed, unless it says otherwise.
pub(super) enum BatchError {
    /// A guard or a constraint of some plan does not hold, or there was a deadlock.
    Plan,
    /// A plan must not be committed any more.
    Late,
    Database(String),
    /// It is unknown whether it was committed, if it was begun to be.
    Unanswered(String),
}

impl BatchError {
    fn of(error: Error) -> BatchError {
        let (is_retryable, is_undone) = (fault::is_retryable(&error), fault::is_undone(&error));
        match fault::failure(error) {
            _ if is_retryable => BatchError::Plan,
            StoreError::Unexpected(_) => BatchError::Plan,
            StoreError::Unavailable(source) | StoreError::Undecided(source) => match is_undone {
                true => BatchError::Database(source.to_string()),
                false => BatchError::Unanswered(source.to_string()),
            },
        }
    }
}

pub(super) struct Batch {
    jobs: Vec<Job>,
}

/// One statement with the parameters of all plans of a batch.
struct Run<'a> {
    sql: &'static str,
    guard: Option<Guard>,
    rows: Vec<&'a [Value]>,
}

impl Batch {
    /// Groups jobs by their statements. Each batch is sorted, so that batches which change the same rows lock them in
    /// the same order.
    pub(super) fn sorted(jobs: Vec<Job>) -> impl Iterator<Item = Batch> {
        let mut by_shape: HashMap<Vec<usize>, Vec<Job>> = HashMap::new();
        for job in jobs {
            by_shape.entry(shape(&job.plan)).or_default().push(job);
        }
        by_shape.into_values().map(|mut jobs| {
            jobs.sort_by(|a, b| first_parameters(&a.plan).cmp(first_parameters(&b.plan)));
            Batch { jobs }
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    pub(super) fn into_jobs(self) -> Vec<Job> {
        self.jobs
    }

    pub(super) fn answer(self, outcomes: Vec<Outcome>) {
        for (job, outcome) in self.jobs.into_iter().zip(outcomes) {
            // The caller may have gone; the commit stands all the same.
            let _ = job.answer.send(outcome);
        }
    }

    pub(super) fn fail(self, error: &str) {
        tracing::warn!(error, plans = self.jobs.len(), "a transaction was not committed");
        let outcomes = self.jobs.iter().map(|job| Err(unanswered(job.deadline.as_deref(), error).into())).collect();
        self.answer(outcomes);
    }

    /// What of it was begun to be committed has been undone.
    pub(super) fn undo(&self) {
        self.jobs.iter().for_each(Job::undo);
    }

    /// Without the plans that must not be committed any more, whose callers are told so. One that has hardly any time left would
    /// take the others with it when the server cancels their common statement.
    pub(super) fn without_late(self) -> Batch {
        Batch { jobs: Job::end_late(self.jobs, COMMIT_NEEDS) }
    }

    /// Runs a statement that commits by itself. Where a plan has a deadline, the server cancels the statement before it.
    async fn run(
        &self,
        session: &Session,
        statement: &Statement,
        columns: &[Vec<&Value>],
    ) -> Result<Vec<Row>, BatchError> {
        let limits = self.jobs.iter().filter_map(|job| job.deadline.as_deref()).map(statement_limit);
        let limit = limits.min();
        if !self.jobs.iter().all(Job::begin_commit) {
            self.undo();
            return Err(BatchError::Late);
        }
        let arrays = arrays(columns);
        let running = session.client.query(statement, &arrays);
        let Some(limit) = limit else { return running.await.map_err(BatchError::of) };
        // All three are sent at once, and the server runs them in this order.
        let limit = format!("SET statement_timeout = {}", limit.as_millis().max(1));
        let set = session.client.batch_execute(&limit);
        let (_, rows, _) = join3(set, running, session.client.batch_execute(STATEMENT_TIMEOUT)).await;
        rows.map_err(BatchError::of)
    }

    /// Either way runs a single statement, which needs no transaction around it.
    pub(super) async fn commit(&self, session: &mut Session) -> Result<Vec<Outcome>, BatchError> {
        let runs = self.runs();
        match runs.as_slice() {
            [run] if run.sql.starts_with("UPDATE ") && run.rows.len() == self.jobs.len() => {
                self.update(session, run).await
            }
            _ if runs.len() > RUNS_MOST => Err(BatchError::Plan),
            _ => {
                if runs.iter().all(|run| run.rows.len() == self.jobs.len())
                    && let Some(outcomes) = self.do_each(session, &runs).await?
                {
                    return Ok(outcomes);
                }
                self.do_together(session, &runs).await?;
                Ok(self.jobs.iter().map(|_| Ok(())).collect())
            }
        }
    }

    /// Runs a single update. It returns which plans it changed a row for; the others get a conflict.
    async fn update(&self, session: &mut Session, run: &Run<'_>) -> Result<Vec<Outcome>, BatchError> {
        let statement = session.for_many(run.sql).await.map_err(BatchError::of)?.ok_or(BatchError::Plan)?;
        let columns = columns(&run.rows);
        let rows = self.run(session, &statement, &columns).await?;
        Ok(outcomes(run, &rows))
    }

    /// Runs all statements as one, which returns for which plans the first has changed a row; the others get a conflict.
    /// None where the plans are not such that one of them can fail by itself.
    async fn do_each(&self, session: &mut Session, runs: &[Run<'_>]) -> Result<Option<Vec<Outcome>>, BatchError> {
        let statement = session.each_by_itself(&statements(runs)).await.map_err(BatchError::of)?;
        let Some((statement, first)) = statement.zip(runs.first()) else { return Ok(None) };
        let columns: Vec<_> = runs.iter().flat_map(|run| columns(&run.rows)).collect();
        let rows = self.run(session, &statement, &columns).await?;
        Ok(Some(outcomes(first, &rows)))
    }

    /// Runs all statements as one. If a guard does not hold, the whole statement fails.
    async fn do_together(&self, session: &mut Session, runs: &[Run<'_>]) -> Result<(), BatchError> {
        let statement = session.together(&statements(runs)).await.map_err(BatchError::of)?.ok_or(BatchError::Plan)?;
        let columns: Vec<_> = runs.iter().flat_map(|run| columns(&run.rows)).collect();
        self.run(session, &statement, &columns).await.map(drop)
    }

    /// The statements of all plans. One that a plan has several times in a row becomes a single run.
    fn runs(&self) -> Vec<Run<'_>> {
        let mut runs: Vec<Run<'_>> = Vec::new();
        let first = self.jobs.first().map_or(&[][..], |job| &job.plan.statements);
        for (index, statement) in first.iter().enumerate() {
            let rows = self.jobs.iter().map(|job| job.plan.statements[index].parameters.as_slice());
            match runs.last_mut() {
                Some(last) if std::ptr::eq(last.sql, statement.sql) => last.rows.extend(rows),
                _ => runs.push(Run { sql: statement.sql, guard: statement.guard, rows: rows.collect() }),
            }
        }
        runs
    }
}

fn shape(plan: &Plan) -> Vec<usize> {
    plan.statements.iter().map(|statement| statement.sql.as_ptr().addr()).collect()
}

fn first_parameters(plan: &Plan) -> &[Value] {
    plan.statements.first().map_or(&[], |statement| &statement.parameters)
}

fn statements(runs: &[Run<'_>]) -> Vec<(&'static str, bool)> {
    runs.iter().map(|run| (run.sql, run.guard.is_some())).collect()
}

/// What became of each plan, by the places of those for which the update `run` has changed a row.
fn outcomes(run: &Run<'_>, changed: &[Row]) -> Vec<Outcome> {
    let changed: HashSet<i64> = changed.iter().map(|row| row.get(0)).collect();
    let places = (1..).take(run.rows.len());
    places
        .map(|place: i64| match run.guard {
            Some(guard) if !changed.contains(&place) => Err(CommitError::Conflict(guard)),
            _ => Ok(()),
        })
        .collect()
}
