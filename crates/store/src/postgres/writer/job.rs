//! A plan that waits to be committed in a batch, and its answer.

use tokio::sync::oneshot;

use crate::{error::CommitError, plan::Plan};

pub(super) type Outcome = Result<(), CommitError>;

/// What waits in the queue: a plan, or several that were requested together.
pub(super) enum Jobs {
    One(Job),
    Many(Vec<Job>),
}

impl Jobs {
    pub(super) fn into_jobs(self) -> Vec<Job> {
        match self {
            Jobs::One(job) => vec![job],
            Jobs::Many(jobs) => jobs,
        }
    }
}

pub(super) struct Job {
    pub(super) plan: Plan,
    pub(super) answer: oneshot::Sender<Outcome>,
}
