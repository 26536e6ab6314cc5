//! Plans that look alike: the same statements, each with parameters of its own.

use std::collections::{HashMap, HashSet};

use tokio_postgres::Error;

use super::{
    super::{
        fault,
        session::{Session, arrays, columns},
    },
    Job, Outcome,
};
use crate::{
    error::{CommitError, Guard, StoreError},
    plan::Plan,
    value::Value,
};

/// Parts that a statement may have; a change of more is rare, and is better run by itself.
const RUNS_MOST: usize = 12;

/// Why nothing of a batch was committed, or nobody knows whether it was.
pub(super) enum Spoilt {
    /// A guard or a constraint of some plan does not hold, or a race was lost.
    ByPlan,
    ByDatabase(String),
}

impl Spoilt {
    fn by(error: Error) -> Spoilt {
        match fault::is_a_lost_race(&error) {
            true => Spoilt::ByPlan,
            false => match fault::failure(error) {
                StoreError::Unexpected(_) => Spoilt::ByPlan,
                StoreError::Unavailable(source) => Spoilt::ByDatabase(source.to_string()),
            },
        }
    }
}

pub(super) struct Alike {
    jobs: Vec<Job>,
}

/// One statement, for all rows of a batch.
struct Run<'a> {
    sql: &'static str,
    guard: Option<Guard>,
    rows: Vec<&'a [Value]>,
}

impl Alike {
    /// Puts jobs that look alike together. They are sorted, so that batches that want the same rows take them in one order.
    pub(super) fn sorted(jobs: impl Iterator<Item = Job>) -> impl Iterator<Item = Alike> {
        let mut by_shape: HashMap<Vec<usize>, Vec<Job>> = HashMap::new();
        for job in jobs {
            by_shape.entry(shape(&job.plan)).or_default().push(job);
        }
        by_shape.into_values().map(|mut jobs| {
            jobs.sort_by(|a, b| first_parameters(&a.plan).cmp(first_parameters(&b.plan)));
            Alike { jobs }
        })
    }

    pub(super) fn into_jobs(self) -> Vec<Job> {
        self.jobs
    }

    pub(super) fn answer(self, outcomes: Vec<Outcome>) {
        for (job, outcome) in self.jobs.into_iter().zip(outcomes) {
            // Whoever asked may have gone; what was committed stays so.
            let _ = job.answer.send(outcome);
        }
    }

    pub(super) fn fail(self, error: &str) {
        tracing::warn!(error, plans = self.jobs.len(), "a transaction was not committed");
        let outcomes = self.jobs.iter().map(|_| Err(StoreError::unavailable(error.to_owned()).into())).collect();
        self.answer(outcomes);
    }

    /// Each way is a single statement, which needs no transaction around it.
    pub(super) async fn commit(&self, session: &mut Session) -> Result<Vec<Outcome>, Spoilt> {
        let runs = self.runs();
        match runs.as_slice() {
            [run] if run.sql.starts_with("UPDATE ") && run.rows.len() == self.jobs.len() => update(session, run).await,
            _ => {
                do_together(session, &runs).await?;
                Ok(self.jobs.iter().map(|_| Ok(())).collect())
            }
        }
    }

    /// The statements of all plans; one that a plan has several times in a row is run once.
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

/// An update answers which rows it was done for, and the others are refused.
async fn update(session: &mut Session, run: &Run<'_>) -> Result<Vec<Outcome>, Spoilt> {
    let statement = session.for_many(run.sql).await.map_err(Spoilt::by)?.ok_or(Spoilt::ByPlan)?;
    let columns = columns(&run.rows);
    let rows = session.client.query(&statement, &arrays(&columns)).await.map_err(Spoilt::by)?;
    let done: HashSet<i64> = rows.iter().map(|row| row.get(0)).collect();
    let places = (1..).take(run.rows.len());
    Ok(places
        .map(|place: i64| match run.guard {
            Some(guard) if !done.contains(&place) => Err(CommitError::Conflict(guard)),
            _ => Ok(()),
        })
        .collect())
}

/// All or nothing: where a guard fails, the statement does.
async fn do_together(session: &mut Session, runs: &[Run<'_>]) -> Result<(), Spoilt> {
    if runs.len() > RUNS_MOST {
        return Err(Spoilt::ByPlan);
    }
    let statements: Vec<_> = runs.iter().map(|run| (run.sql, run.guard.is_some())).collect();
    let statement = session.together(&statements).await.map_err(Spoilt::by)?.ok_or(Spoilt::ByPlan)?;
    let columns: Vec<_> = runs.iter().flat_map(|run| columns(&run.rows)).collect();
    session.client.query(&statement, &arrays(&columns)).await.map(drop).map_err(Spoilt::by)
}
