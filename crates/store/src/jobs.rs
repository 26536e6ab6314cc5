//! Plans that wait in the queue of a writer, and their answers.

use tokio::sync::oneshot;

use crate::{
    error::{CommitError, StoreError},
    plan::Plan,
};

pub(crate) type Outcome = Result<(), CommitError>;
pub(crate) type Answer = oneshot::Receiver<Outcome>;

pub(crate) struct Job {
    pub(crate) plan: Plan,
    pub(crate) answer: oneshot::Sender<Outcome>,
}

impl Job {
    fn new(plan: Plan) -> (Job, Answer) {
        let (answer, outcome) = oneshot::channel();
        (Job { plan, answer }, outcome)
    }
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
