//! Decisions about money that fits no payment, and the sandbox's simulator.

use domain::{
    access::Act,
    audit::Deed,
    id::PaymentId,
    payment::{Payment, Status},
    project::Environment,
    receipt::{Decision, ReceiptKey},
    time::Timestamp,
};
use gateway::Outcome;
use store::{PaymentFilter, Write};

use super::Desk;
use crate::{Error, Observed};

impl Desk {
    /// Lets held money pay its payment; it must have the payment's amount.
    pub async fn accept_receipt(&self, key: &ReceiptKey, note: String) -> Result<Payment, Error> {
        self.check(Act::DecideReceipts)?;
        self.engine.decide_receipt(self.id(), key, Decision::Accepted, note).await
    }

    /// Records that held money was given back to the customer.
    pub async fn return_receipt(&self, key: &ReceiptKey, note: String) -> Result<Payment, Error> {
        self.check(Act::DecideReceipts)?;
        self.engine.decide_receipt(self.id(), key, Decision::Returned, note).await
    }

    /// Lets the simulator report `outcome`. `receipt` identifies the report, so that one that is sent twice counts
    /// once.
    pub async fn simulate(
        &self,
        id: PaymentId,
        receipt: &str,
        outcome: impl FnOnce(&Payment, Timestamp) -> Outcome,
    ) -> Result<Observed, Error> {
        self.check_sandbox()?;
        let payment = self.payment(id).await?;
        let observed = self.engine.simulate(&payment, Some(receipt), |now| outcome(&payment, now)).await?;
        self.engine.store.commit(self.simulated(id).into()).await?;
        Ok(observed)
    }

    /// Expires a pending sandbox payment before its time.
    pub async fn expire(&self, id: PaymentId) -> Result<Payment, Error> {
        self.check_sandbox()?;
        self.payment(id).await?;
        self.engine.expire_early(id, || Some(self.simulated(id))).await
    }

    /// The live payment with this QRIS payload or account number.
    pub async fn payment_by_code(&self, code: &str) -> Result<Payment, Error> {
        let found = self.engine.store.payment_by_code(self.id(), code).await?;
        let now = self.engine.now();
        found.filter(|payment| !payment.status_at(now).is_final()).ok_or(Error::NotFound("payment"))
    }

    /// The newest pending payments.
    pub async fn waiting(&self, most: i64) -> Result<Vec<Payment>, Error> {
        let filter = PaymentFilter { status: Some((Status::Pending, self.engine.now())), ..PaymentFilter::default() };
        Ok(self.engine.store.payments_page(self.id(), &filter, None, most).await?)
    }

    fn simulated(&self, id: PaymentId) -> Write {
        self.engine.audit(Some(self.id()), Deed::PaymentSimulated, id, "")
    }

    pub(super) fn check_sandbox(&self) -> Result<(), Error> {
        self.check(Act::Simulate)?;
        match self.project.environment {
            Environment::Sandbox => self.check_usable(),
            Environment::Production => Err(Error::NotSandbox),
        }
    }
}
