//! Refunds of the sandbox. What becomes of one is in the last three digits of its amount, and when it happens is stored with it: so
//! each end is one guarded commit by whichever node comes first, and a restart delays none.

use std::time::Duration;

use domain::{
    audit::{Actor, Deed},
    id::RefundId,
    money::Rupiah,
    project::{Environment, Project},
    refund::{Failure, FailureKind, PendingReason, Refund, RefundState, RefundStep, RefundStuck},
    time::Timestamp,
};
use futures_util::future::join_all;

use super::steps::Decided;
use crate::{Engine, Error};

/// How long a refund of the sandbox is on its way.
const ON_ITS_WAY: Duration = Duration::from_secs(2);
/// How long after its success one comes back.
const COMES_BACK: Duration = Duration::from_secs(10);
/// Refunds that one round ends.
const AT_ONCE: i64 = 100;

const FAILS: i64 = 901;
const NEEDS_ACCOUNT: i64 = 902;
const STAYS_UNKNOWN: i64 = 903;
const COMES_BACK_LATER: i64 = 904;

/// What the sandbox's simulator shall say of a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefundOutcome {
    Succeeded,
    Failed,
    Returned,
}

impl RefundOutcome {
    pub const ALL: [RefundOutcome; 3] = [RefundOutcome::Succeeded, RefundOutcome::Failed, RefundOutcome::Returned];

    pub const fn word(self) -> &'static str {
        match self {
            RefundOutcome::Succeeded => "succeeded",
            RefundOutcome::Failed => "failed",
            RefundOutcome::Returned => "returned",
        }
    }

    pub fn parse(word: &str) -> Option<RefundOutcome> {
        RefundOutcome::ALL.into_iter().find(|outcome| outcome.word() == word)
    }
}

const fn last_digits(amount: Rupiah) -> i64 {
    amount.get() % 1_000
}

impl Engine {
    /// Whether the sandbox takes this refund as one that cannot go back the way that the money came.
    pub(crate) fn refuses_qris(&self, project: &Project, amount: Rupiah) -> bool {
        project.environment == Environment::Sandbox && last_digits(amount) == NEEDS_ACCOUNT
    }

    /// When the sandbox does something next with a refund that stands like this.
    pub(crate) fn simulated_next(&self, project: &Project, refund: &Refund, now: Timestamp) -> Option<Timestamp> {
        if project.environment != Environment::Sandbox {
            return None;
        }
        match (refund.state, last_digits(refund.amount)) {
            (RefundState::Pending(PendingReason::Processing), STAYS_UNKNOWN) => None,
            (RefundState::Pending(PendingReason::Processing), _) => Some(now.plus(ON_ITS_WAY)),
            (RefundState::Succeeded { .. }, COMES_BACK_LATER) => Some(now.plus(COMES_BACK)),
            _ => None,
        }
    }

    /// One round; answers how many refunds have ended.
    pub async fn simulate_due_refunds(&self) -> Result<usize, Error> {
        let due = self.store.refunds_to_simulate(self.now(), AT_ONCE).await?;
        // Concurrently, so that they are committed in one batch.
        let ended = join_all(due.iter().map(|refund| self.simulate_due_refund(refund))).await;
        let failed = due.iter().zip(&ended).filter_map(|(refund, ended)| Some((refund, ended.as_ref().err()?)));
        // One that cannot be ended delays no other.
        for (refund, error) in failed {
            tracing::warn!(%error, refund = %refund.id, "simulating a refund failed and will be retried");
        }
        Ok(ended.iter().filter(|ended| ended.is_ok()).count())
    }

    async fn simulate_due_refund(&self, refund: &Refund) -> Result<(), Error> {
        let project = self.project(refund.project_id).await?;
        let outcome = match (refund.state, last_digits(refund.amount)) {
            (RefundState::Succeeded { .. }, _) => RefundOutcome::Returned,
            (_, FAILS) => RefundOutcome::Failed,
            _ => RefundOutcome::Succeeded,
        };
        let ended = self.advance_refund(&project, refund.id, |basis| {
            // Somebody was quicker.
            if basis.refund.simulated_at != refund.simulated_at {
                return Err(Error::RefundChanged);
            }
            Ok(simulated(outcome, &basis.refund, basis.is_unsettled, basis.now)?.into())
        });
        match ended.await {
            Ok(_) | Err(Error::RefundChanged | Error::RefundStuck(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Lets the simulator say what has become of a refund, whatever its amount says. A refund that has ended so already stays as
    /// it is.
    pub async fn simulate_refund(
        &self,
        project: &Project,
        id: RefundId,
        outcome: RefundOutcome,
    ) -> Result<Refund, Error> {
        if project.environment != Environment::Sandbox {
            return Err(Error::NotSandbox);
        }
        let is_person = matches!(*self.actor, Actor::User { .. });
        let ended = self.advance_refund(project, id, |basis| {
            let step = simulated(outcome, &basis.refund, basis.is_unsettled, basis.now)?;
            let line = is_person.then(|| self.audit(Some(project.id), Deed::RefundSimulated, id, outcome.word()));
            Ok(Decided { besides: line.into_iter().collect(), ..step.into() })
        });
        match ended.await {
            Err(Error::RefundStuck(RefundStuck::Ended | RefundStuck::NotSucceeded)) => {
                let refund = self.refund(project.id, id).await?;
                if refund.status().word() == outcome.word() {
                    return Ok(refund);
                }
                let stuck = match outcome {
                    RefundOutcome::Returned => RefundStuck::NotSucceeded,
                    RefundOutcome::Succeeded | RefundOutcome::Failed => RefundStuck::Ended,
                };
                Err(stuck.into())
            }
            ended => ended,
        }
    }
}

fn simulated(
    outcome: RefundOutcome,
    refund: &Refund,
    is_unsettled: bool,
    now: Timestamp,
) -> Result<RefundStep, RefundStuck> {
    let refund = refund.clone();
    match outcome {
        RefundOutcome::Succeeded => {
            let reference = format!("SIM{}", now.as_millis());
            refund.succeed(Some(reference), now)
        }
        RefundOutcome::Failed => refund.fail(Failure::from(FailureKind::SandboxRefused).reason(), is_unsettled, now),
        RefundOutcome::Returned => {
            refund.come_back(Failure::from(FailureKind::SandboxReturned).reason(), is_unsettled, now)
        }
    }
}
