//! Decisions about money that fits no payment. Each decision posts to the ledger.

use domain::{
    audit::Deed,
    id::ProjectId,
    ledger::Posting,
    link::{Link, LinkClaim},
    payment::Payment,
    receipt::{DECISION_NOTE, Decision, ReceiptKey, UnappliedReceipt},
};
use store::{Change, CommitError, Guard, LedgerWrite};

use crate::{DECIDE_MOST, Engine, Error};

impl Engine {
    pub(crate) async fn unapplied(&self, project_id: ProjectId, key: &ReceiptKey) -> Result<UnappliedReceipt, Error> {
        let receipt = self.store.unapplied_receipt(key).await?;
        receipt.filter(|receipt| receipt.project_id == project_id).ok_or(Error::NotFound("receipt"))
    }

    /// Decides about held money. Accepting it pays its payment, so it must have the payment's amount.
    pub(crate) async fn decide_receipt(
        &self,
        project_id: ProjectId,
        key: &ReceiptKey,
        decision: Decision,
        note: String,
    ) -> Result<Payment, Error> {
        let note = DECISION_NOTE.check(note)?;
        for _ in 0..DECIDE_MOST {
            let held = self.unapplied(project_id, key).await?;
            if held.decided.is_some() {
                return Err(Error::AlreadyDecided);
            }
            let change = self.decided(&held, decision, &note).await?;
            match self.store.commit(change).await {
                Ok(()) => return self.payment(project_id, held.payment_id).await,
                Err(CommitError::Conflict(Guard::ReceiptUndecided | Guard::PaymentVersion | Guard::LinkUnclaimed)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    async fn decided(&self, held: &UnappliedReceipt, decision: Decision, note: &str) -> Result<Change, Error> {
        let (now, receipt) = (self.now(), &held.receipt);
        let (project_id, payment_id, key) = (held.project_id, held.payment_id, receipt.key.clone());
        let deed = match decision {
            Decision::Accepted => Deed::ReceiptAccepted,
            Decision::Returned => Deed::ReceiptReturned,
        };
        let line = self.audit(Some(project_id), deed, payment_id, format!("{} {note}", receipt.amount));
        let note = note.to_owned();
        let change =
            Change::from(LedgerWrite::ReceiptDecided { key: key.clone(), project_id, decision, note, at: now })
                .with(line);
        if decision == Decision::Returned {
            let posting = Posting::returned(project_id, payment_id, key, receipt.amount, now);
            return Ok(change.with(LedgerWrite::Posting(posting)));
        }
        let payment = self.payment(project_id, payment_id).await?;
        let project = self.project(project_id).await?;
        let link = match payment.link_id {
            Some(id) => self.store.link(id).await?,
            None => None,
        };
        let claim = link.as_ref().map_or(LinkClaim::NotNeeded, Link::claim);
        let delay = self.settings.settlement.of(project.environment, payment.method.kind());
        let transition = payment.accept(receipt, claim, delay, now).map_err(Error::DoesNotFit)?;
        Ok(self.with_transition(change, &project, transition, now))
    }
}
