//! A plan that waits to be committed in a batch, and its answer.

use tokio::sync::oneshot;

use crate::{error::CommitError, plan::Plan};

pub(super) type Outcome = Result<(), CommitError>;

pub(super) struct Job {
    pub(super) plan: Plan,
    pub(super) answer: oneshot::Sender<Outcome>,
}
