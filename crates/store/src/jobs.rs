//! Plans that wait in the queue of a writer, and their answers.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::oneshot, time::timeout_at};

use crate::{
    deadline::Deadline,
    error::{CommitError, StoreError},
    plan::Plan,
};

pub(crate) type Outcome = Result<(), CommitError>;

const STOPPED: &str = "the writer has stopped";
const UNANSWERED: &str = "the database has not answered in time";
const TOO_LATE: &str = "it was not committed in time, and will not be";

pub(crate) struct Job {
    pub(crate) plan: Plan,
    pub(crate) answer: oneshot::Sender<Outcome>,
    /// Of a plan that must be committed by some time or not at all.
    pub(crate) deadline: Option<Arc<Deadline>>,
}

/// The outcome of a job, to be waited for.
pub(crate) struct Answer {
    outcome: oneshot::Receiver<Outcome>,
    deadline: Option<Arc<Deadline>>,
}

impl Job {
    pub(crate) fn new(plan: Plan) -> (Job, Answer) {
        let (answer, outcome) = oneshot::channel();
        let deadline = plan.by.map(|by| Arc::new(Deadline::new(by)));
        (Job { plan, answer, deadline: deadline.clone() }, Answer { outcome, deadline })
    }

    /// Whether it may be committed now. Asked right before that.
    pub(crate) fn begin_commit(&self) -> bool {
        self.deadline.as_ref().is_none_or(|deadline| deadline.begin_commit())
    }

    /// What was begun to be committed has been undone.
    pub(crate) fn undo(&self) {
        if let Some(deadline) = &self.deadline {
            deadline.undo();
        }
    }

    fn is_late(&self, needs: Duration) -> bool {
        self.deadline.as_ref().is_some_and(|deadline| deadline.is_over() || deadline.left() < needs)
    }

    /// Takes out the jobs that must not be committed any more, or have less time left than a commit `needs`, and answers them.
    pub(crate) fn end_late(jobs: Vec<Job>, needs: Duration) -> Vec<Job> {
        let (late, timely): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(|job| job.is_late(needs));
        for job in late {
            // The caller has usually gone.
            let _ = job.answer.send(Err(too_late().into()));
        }
        timely
    }
}

impl Answer {
    /// Waits for the outcome: until the deadline of the plan, or else for as long as `within` says.
    pub(crate) async fn wait(mut self, within: Option<Duration>) -> Outcome {
        let by = self.deadline.as_ref().map(|deadline| deadline.by());
        let ended = match by.or_else(|| within.map(|within| Instant::now() + within)) {
            Some(by) => timeout_at(by.into(), &mut self.outcome).await.map_err(|_| UNANSWERED),
            None => Ok((&mut self.outcome).await),
        };
        match ended {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(unanswered(self.deadline.as_deref(), STOPPED).into()),
            Err(reason) => match &self.deadline {
                Some(deadline) if deadline.give_up() => Err(too_late().into()),
                // The outcome may have come this very moment.
                _ => {
                    self.outcome.try_recv().unwrap_or_else(|_| Err(unanswered(self.deadline.as_deref(), reason).into()))
                }
            },
        }
    }
}

/// The error of a plan whose outcome is not known, if it can matter: where there is a deadline, the caller must know.
pub(crate) fn unanswered(deadline: Option<&Deadline>, reason: &str) -> StoreError {
    match deadline {
        Some(deadline) if deadline.is_committing() => StoreError::Undecided(reason.to_owned().into()),
        _ => StoreError::unavailable(reason.to_owned()),
    }
}

pub(crate) fn too_late() -> StoreError {
    StoreError::unavailable(TOO_LATE)
}

/// What waits in the queue: a plan, or several that were requested together.
pub(crate) enum Jobs {
    One(Job),
    Many(Vec<Job>),
}

impl Jobs {
    pub(crate) fn one(plan: Plan) -> (Jobs, Answer) {
        let (job, answer) = Job::new(plan);
        (Jobs::One(job), answer)
    }

    pub(crate) fn many(plans: Vec<Plan>) -> (Jobs, Vec<Answer>) {
        let (jobs, answers) = plans.into_iter().map(Job::new).unzip();
        (Jobs::Many(jobs), answers)
    }

    pub(crate) fn add_to(self, batch: &mut Vec<Job>) {
        match self {
            Jobs::One(job) => batch.push(job),
            Jobs::Many(jobs) => batch.extend(jobs),
        }
    }
}

/// The outcomes of jobs that found no room in the queue, or no writer.
pub(crate) fn refused(jobs: usize, error: &StoreError) -> Vec<Outcome> {
    let reason = error.to_string();
    (0..jobs).map(|_| Err(StoreError::unavailable(reason.clone()).into())).collect()
}
