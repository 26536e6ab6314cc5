//! The sandbox's simulator: reports of a bank that nobody had to pay for, and expiries before their time.

use domain::{
    id::PaymentId,
    payment::{OwedEvent, Payment},
    project::{Environment, Project},
    time::Timestamp,
};
use gateway::Outcome;
use store::{Change, CommitError, Guard, PaymentWrite, Write};

use crate::{DECIDE_MOST, Engine, Error, Observed};

impl Engine {
    /// Lets the simulator report `outcome` for a sandbox payment, which the same request has read, and its project. Without a
    /// `receipt_id`, the report is a new one.
    pub async fn simulate(
        &self,
        project: &Project,
        payment: Payment,
        receipt_id: Option<&str>,
        outcome: impl FnOnce(Timestamp) -> Outcome,
    ) -> Result<Observed, Error> {
        check_sandbox(project, &payment)?;
        let now = self.now();
        let fresh: PaymentId = self.mint(now);
        let receipt_id = receipt_id.map_or_else(|| fresh.to_string(), str::to_owned);
        let report = self.simulator.report(project.id, payment.id, &receipt_id, outcome(now));
        self.observe_known(report, Some((payment, project))).await
    }

    /// Expires a pending sandbox payment now, whenever it was to expire.
    pub async fn simulate_expiry(&self, project: &Project, payment: &Payment) -> Result<Payment, Error> {
        check_sandbox(project, payment)?;
        self.expire_early(payment.id, || None).await
    }

    /// Expires a pending payment now. `also` is committed with it.
    pub(crate) async fn expire_early(&self, id: PaymentId, also: impl Fn() -> Option<Write>) -> Result<Payment, Error> {
        for _ in 0..DECIDE_MOST {
            let payment = self.store.payment(id).await?.ok_or(Error::NotFound("payment"))?;
            let expired = payment.expire_now(self.now()).map_err(|_| Error::NotEditable)?;
            let write = PaymentWrite::ExpiredEarly { id, version: expired.version, at: expired.terms.expires_at };
            let told = self.event_write(&expired, OwedEvent::Expired, expired.terms.expires_at);
            match self.store.commit(Change::from(write).with(told).with_all(also())).await {
                Ok(()) => return Ok(Payment { version: expired.version + 1, ..expired }),
                Err(CommitError::Conflict(Guard::PaymentVersion)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }
}

fn check_sandbox(project: &Project, payment: &Payment) -> Result<(), Error> {
    match project.environment {
        _ if payment.terms.project_id != project.id => Err(Error::NotFound("payment")),
        Environment::Sandbox => Ok(()),
        Environment::Production => Err(Error::NotSandbox),
    }
}
