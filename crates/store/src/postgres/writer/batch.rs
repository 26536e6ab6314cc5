//! Plans that look alike: the same statements, each with parameters of its own.

use std::collections::{HashMap, HashSet};

use deadpool_postgres::ClientWrapper;
use futures_util::future::join_all;
use tokio_postgres::{Error, Statement as Prepared};

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

impl Run<'_> {
    /// Every guarded statement touches one row of each plan whose guard holds.
    fn holds(&self, touched: u64) -> bool {
        self.guard.is_none() || usize::try_from(touched) == Ok(self.rows.len())
    }
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

    pub(super) async fn commit(&self, session: &mut Session) -> Result<Vec<Outcome>, Spoilt> {
        let runs = self.runs();
        let mut prepared = Vec::with_capacity(runs.len());
        for run in &runs {
            prepared.push(session.for_many(run.sql).await.map_err(Spoilt::by)?.ok_or(Spoilt::ByPlan)?);
        }
        match (runs.as_slice(), prepared.as_slice()) {
            ([run], [statement]) if run.sql.starts_with("UPDATE ") => update(&session.client, run, statement).await,
            _ => {
                transact(&session.client, &runs, &prepared).await?;
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

/// A single statement needs no transaction: it answers which rows it was done for, and the others are refused.
async fn update(client: &ClientWrapper, run: &Run<'_>, statement: &Prepared) -> Result<Vec<Outcome>, Spoilt> {
    let columns = columns(&run.rows);
    let rows = client.query(statement, &arrays(&columns)).await.map_err(Spoilt::by)?;
    let done: HashSet<i64> = rows.iter().map(|row| row.get(0)).collect();
    let places = (1..).take(run.rows.len());
    Ok(places
        .map(|place: i64| match run.guard {
            Some(guard) if !done.contains(&place) => Err(CommitError::Conflict(guard)),
            _ => Ok(()),
        })
        .collect())
}

/// Sends everything at once and then commits, if every guard holds. Only the beginning is waited for: if it failed, what is
/// sent behind it would be done outside of any transaction.
async fn transact(client: &ClientWrapper, runs: &[Run<'_>], prepared: &[Prepared]) -> Result<(), Spoilt> {
    let columns: Vec<_> = runs.iter().map(|run| columns(&run.rows)).collect();
    let parameters: Vec<_> = columns.iter().map(|columns| arrays(columns)).collect();
    let executed = prepared.iter().zip(&parameters).map(|(statement, values)| client.execute(statement, values));
    client.batch_execute("BEGIN").await.map_err(Spoilt::by)?;
    let touched = join_all(executed).await.into_iter().collect::<Result<Vec<u64>, Error>>();
    let held = touched.map(|touched| runs.iter().zip(touched).all(|(run, touched)| run.holds(touched)));
    match held {
        Ok(true) => client.batch_execute("COMMIT").await.map_err(Spoilt::by),
        held => {
            client.batch_execute("ROLLBACK").await.map_err(Spoilt::by)?;
            held.map_or_else(|error| Err(Spoilt::by(error)), |_| Err(Spoilt::ByPlan))
        }
    }
}
