//! Decisions about money that fits no payment, and the sandbox's simulator.

use domain::{
    access::Act,
    audit::Deed,
    destination::DestinationRequest,
    id::{PaymentId, ReceiptId},
    payment::{Payment, Status},
    project::Environment,
    receipt::{Choice, DECISION_NOTE, UnappliedReceipt},
    rules::Invalid,
    time::Timestamp,
};
use gateway::Outcome;
use store::{PaymentFilter, Write};

use super::Desk;
use crate::{Error, Observed, ReceiptFit};

/// Receipts that can be decided about at once: a page of the list.
pub const DECISIONS_MOST: usize = 100;

impl Desk {
    /// Decides about held money: it pays its payment or another one of the project, or was given back to the customer.
    pub async fn decide_receipt(&self, id: ReceiptId, choice: Choice, note: String) -> Result<UnappliedReceipt, Error> {
        self.check(Act::DecideReceipts)?;
        self.fresh_proof().await?;
        self.engine.decide_receipt(self.id(), id, choice, note).await
    }

    /// Sends held money to an account.
    pub async fn return_receipt(
        &self,
        id: ReceiptId,
        destination: impl Into<Option<DestinationRequest>>,
        note: String,
    ) -> Result<UnappliedReceipt, Error> {
        self.check(Act::DecideReceipts)?;
        self.check(Act::Refund)?;
        self.fresh_proof().await?;
        self.engine.return_receipt(&self.project, id, destination, note).await
    }

    /// Decides alike about several receipts. Each is decided about on its own, so that one that does not fit keeps no
    /// other from being decided about; the outcomes are in the order of `ids`.
    pub async fn decide_receipts(
        &self,
        ids: &[ReceiptId],
        choice: Choice,
        note: String,
    ) -> Result<Vec<(ReceiptId, Result<UnappliedReceipt, Error>)>, Error> {
        self.check(Act::DecideReceipts)?;
        self.fresh_proof().await?;
        let note = DECISION_NOTE.check(note)?;
        if ids.len() > DECISIONS_MOST {
            return Err(Invalid::new("receipts", format!("must be at most {DECISIONS_MOST}")).into());
        }
        let mut outcomes = Vec::with_capacity(ids.len());
        for id in ids {
            outcomes.push((*id, self.engine.decide_receipt(self.id(), *id, choice, note.clone()).await));
        }
        Ok(outcomes)
    }

    /// What accepting held money for this payment would do now; without one, for the payment that it was sent for.
    pub async fn receipt_fit(&self, id: ReceiptId, payment: Option<PaymentId>) -> Result<ReceiptFit, Error> {
        let held = self.receipt(id).await?;
        self.engine.receipt_fit(&held, payment.unwrap_or(held.payment_id)).await
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
        let report = outcome(&payment, self.engine.now());
        let observed = self.engine.simulate(&self.project, payment, Some(receipt), |_| report).await?;
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
