//! Decisions about money that fits no payment. Each decision posts to the ledger.

use std::{collections::HashMap, sync::Arc};

use domain::{
    audit::Deed,
    id::{PaymentId, ProjectId, ReceiptId, RefundId},
    ledger::Posting,
    link::{Link, LinkClaim},
    money::Rupiah,
    payment::{Payment, State},
    project::Project,
    receipt::{Choice, DECISION_NOTE, Decided, Decider, Decision, Difference, Receipt, UnappliedReceipt, Unfit},
    time::Timestamp,
};
use store::{Change, CommitError, Guard, LedgerWrite, Listed, OpeningWrite, ReceiptFilter, UnappliedFilter, Window};

use crate::{DECIDE_MOST, Engine, Error};

/// The most receipts of one payment that are read at once.
const OF_PAYMENT_MOST: i64 = 100;

/// What accepting held money for a payment would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptFit {
    pub payment: Payment,
    /// By how much the money is more than the payment's amount; negative if it is less.
    pub difference: Rupiah,
    /// What the merchant gets: the money without the fee.
    pub net: Rupiah,
    /// Why the money cannot pay the payment, even if the difference is accepted.
    pub unfit: Option<Unfit>,
}

/// What a decision is made of, as it was read.
struct Weighed {
    project: Arc<Project>,
    payment: Payment,
    claim: LinkClaim,
}

impl Engine {
    /// A receipt that could not pay its payment.
    pub async fn receipt(&self, project_id: ProjectId, id: ReceiptId) -> Result<UnappliedReceipt, Error> {
        self.store.unapplied_receipt(project_id, id).await?.ok_or(Error::NotFound("receipt"))
    }

    /// Receipts that could not pay their payment.
    pub async fn receipts(
        &self,
        project_id: ProjectId,
        filter: ReceiptFilter,
        window: Window,
    ) -> Result<Listed<UnappliedReceipt>, Error> {
        Ok(self.store.filtered_receipts(project_id, filter, window).await?)
    }

    /// The receipts that were sent for a payment and did not pay it, or that pay it by a decision; newest first.
    pub async fn receipts_of_payment(
        &self,
        project_id: ProjectId,
        payment_id: PaymentId,
    ) -> Result<Vec<UnappliedReceipt>, Error> {
        let window = Window { offset: 0, limit: OF_PAYMENT_MOST };
        let (all, payment) = (UnappliedFilter::All, Some(payment_id));
        Ok(self.store.unapplied_receipts(project_id, all, payment, window).await?.items)
    }

    /// What came for these payments in place of their amounts: held money that somebody accepted with the difference. All
    /// others are left out.
    pub(crate) async fn received_instead(
        &self,
        project_id: ProjectId,
        payments: &[Payment],
    ) -> Result<HashMap<PaymentId, Rupiah>, Error> {
        let paid: Vec<PaymentId> =
            payments.iter().filter(|payment| payment.paid_at().is_some()).map(|payment| payment.id).collect();
        Ok(self.store.received_instead(project_id, &paid).await?)
    }

    /// Decides about held money; the decision is final. However many decide at once, one of them does.
    pub async fn decide_receipt(
        &self,
        project_id: ProjectId,
        id: ReceiptId,
        choice: Choice,
        note: String,
    ) -> Result<UnappliedReceipt, Error> {
        let note = DECISION_NOTE.check(note)?;
        for _ in 0..DECIDE_MOST {
            let held = self.receipt(project_id, id).await?;
            if held.decided.is_some() {
                return Err(Error::AlreadyDecided);
            }
            let change = match choice {
                Choice::Accept { payment_id, difference } => {
                    let payment_id = payment_id.unwrap_or(held.payment_id);
                    match self.accepted(&held, payment_id, difference, &note).await {
                        // It fits no more because somebody has decided since it was read.
                        Err(Error::DoesNotFit(_)) if self.receipt(project_id, id).await?.decided.is_some() => {
                            return Err(Error::AlreadyDecided);
                        }
                        judged => judged?,
                    }
                }
                Choice::Return => self.returned(&held, &note),
            };
            match self.store.commit(change).await {
                Ok(()) => return self.receipt(project_id, id).await,
                // Somebody else has decided, or the payment or its link has changed since it was read.
                Err(CommitError::Conflict(Guard::ReceiptUndecided | Guard::PaymentVersion | Guard::LinkUnclaimed)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    /// What accepting held money for this payment of its project would do now. Changes nothing.
    pub(crate) async fn receipt_fit(
        &self,
        held: &UnappliedReceipt,
        payment_id: PaymentId,
    ) -> Result<ReceiptFit, Error> {
        let Weighed { project, payment, claim } = self.weighed(held.project_id, payment_id).await?;
        let (receipt, now) = (&held.receipt, self.now());
        let delay = self.settings.settlement.of(project.environment, payment.terms.method.kind());
        let unfit = payment.clone().accept(receipt, claim, Difference::Accepted, delay, now).err();
        let (difference, net) = (receipt.amount - payment.terms.amount, receipt.amount - payment.terms.fee);
        Ok(ReceiptFit { payment, difference, net, unfit })
    }

    async fn weighed(&self, project_id: ProjectId, payment_id: PaymentId) -> Result<Weighed, Error> {
        let payment = self.payment(project_id, payment_id).await?;
        let project = self.project_of(&payment).await?;
        let link = match payment.terms.link_id {
            Some(id) => self.store.link(id).await?,
            None => None,
        };
        let claim = link.as_ref().map_or(LinkClaim::NotNeeded, Link::claim);
        Ok(Weighed { project, payment, claim })
    }

    /// Held money pays a payment: everything that follows is one change.
    async fn accepted(
        &self,
        held: &UnappliedReceipt,
        payment_id: PaymentId,
        difference: Difference,
        note: &str,
    ) -> Result<Change, Error> {
        let Weighed { project, payment, claim } = self.weighed(held.project_id, payment_id).await?;
        let (now, receipt) = (self.now(), &held.receipt);
        let decision = Decision::Accepted { payment_id, difference: receipt.amount - payment.terms.amount };
        let delay = self.settings.settlement.of(project.environment, payment.terms.method.kind());
        // Nobody may pay the code any more, if a bank has issued it.
        let is_payable = matches!(payment.state, State::Pending | State::Processing);
        let void = is_payable.then_some(OpeningWrite::VoidQueued { payment_id, at: now });
        let transition = payment.accept(receipt, claim, difference, delay, now).map_err(Error::DoesNotFit)?;
        let change = self.decided(held, decision, now, note, None);
        Ok(self.moved(change, &project, transition, now).change.with_all(void))
    }

    /// Held money goes back to the customer.
    fn returned(&self, held: &UnappliedReceipt, note: &str) -> Change {
        let (now, Receipt { key, amount, .. }) = (self.now(), held.receipt.clone());
        let posting = Posting::returned(held.project_id, held.payment_id, key, amount, now);
        self.decided(held, Decision::Returned, now, note, None).with(LedgerWrite::Posting(posting))
    }

    /// The decision itself, and its line of the audit log. `refund` is that by which the money goes back.
    pub(crate) fn decided(
        &self,
        held: &UnappliedReceipt,
        decision: Decision,
        now: Timestamp,
        note: &str,
        refund: Option<RefundId>,
    ) -> Change {
        let (sent_for, amount) = (held.payment_id, held.receipt.amount);
        let (deed, subject, about) = match decision {
            Decision::Returned => (Deed::ReceiptReturned, sent_for, String::new()),
            Decision::Accepted { payment_id, .. } if payment_id != sent_for => {
                (Deed::ReceiptAssigned, payment_id, format!("{sent_for} "))
            }
            Decision::Accepted { payment_id, .. } => (Deed::ReceiptAccepted, payment_id, String::new()),
        };
        let billed = match decision {
            Decision::Accepted { difference, .. } if difference != Rupiah::ZERO => {
                format!("/ {} ", amount - difference)
            }
            Decision::Accepted { .. } | Decision::Returned => String::new(),
        };
        let line = self.audit(Some(held.project_id), deed, subject, format!("{amount} {billed}{about}{note}"));
        let decided = Decided { decision, at: now, note: note.to_owned(), by: Decider::of(&self.actor), refund };
        let (key, project_id) = (held.receipt.key.clone(), held.project_id);
        Change::from(LedgerWrite::ReceiptDecided { key, project_id, decided }).with(line)
    }
}
