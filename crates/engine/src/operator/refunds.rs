//! Refunds of all projects that wait for a second person: for an approval, or for somebody who also says that an uncertain one was
//! not made. An operator may be that person where the project has nobody else.

use std::sync::Arc;

use domain::{
    id::RefundId,
    payment::Payment,
    project::Project,
    refund::{Party, PendingReason, Refund, RefundState, RefundStuck},
};
use store::{Listed, Window};

use super::Operator;
use crate::{Approval, Error, NamedParty, Sending, UncertainRefund};

/// A refund that waits for a second person, or that did.
pub struct WaitingRefund {
    pub refund: Refund,
    pub payment: Payment,
    pub project: Arc<Project>,
    pub sending: Sending,
    /// None where it does not wait any more.
    pub approval: Option<Approval>,
    pub made_by: NamedParty,
    pub destination_by: Option<NamedParty>,
    /// Where a bank may have made it and has not said so.
    pub uncertain: Option<UncertainRefund>,
    /// Who has said that it was not made.
    pub doubted_by: Option<NamedParty>,
}

impl Operator {
    /// The refunds of all projects that wait for a second person, longest waiting first.
    pub async fn waiting_refunds(&self, window: Window) -> Result<Listed<WaitingRefund>, Error> {
        let Listed { items, total } = self.engine.store.refunds_for_a_second(window).await?;
        let mut waiting = Vec::with_capacity(items.len());
        for refund in items {
            waiting.push(self.shown(refund).await?);
        }
        Ok(Listed { items: waiting, total })
    }

    pub async fn waiting_refund(&self, id: RefundId) -> Result<WaitingRefund, Error> {
        let refund = self.engine.store.refund(id).await?.ok_or(Error::NotFound("refund"))?;
        self.shown(refund).await
    }

    /// `seen` is the refund's version as it was shown.
    pub async fn approve_refund(&self, id: RefundId, seen: i64) -> Result<Refund, Error> {
        self.fresh_proof().await?;
        let project = self.waiting_refund(id).await?.project;
        self.engine.approve_refund(&project, id, seen, false).await
    }

    pub async fn decline_refund(&self, id: RefundId, why: String) -> Result<Refund, Error> {
        let project = self.waiting_refund(id).await?.project;
        self.engine.decline_refund(&project, id, why).await
    }

    /// The operator also says that a refund was not made which is uncertain or in a batch. `is_confirmed`: they have looked at the bank's own statement.
    pub async fn mark_not_transferred(&self, id: RefundId, why: String, is_confirmed: bool) -> Result<Refund, Error> {
        self.fresh_proof().await?;
        let waiting = self.waiting_refund(id).await?;
        // What no bank has got, the project's own people transfer.
        if waiting.uncertain.is_none() && waiting.refund.batch.is_none() {
            return Err(RefundStuck::NotProcessing.into());
        }
        self.engine.mark_not_transferred(&waiting.project, id, why, is_confirmed).await
    }

    async fn shown(&self, refund: Refund) -> Result<WaitingRefund, Error> {
        let payment = self.engine.payment(refund.project_id, refund.of.about()).await?;
        let project = self.engine.project_of(&payment).await?;
        let waits = refund.state == RefundState::Pending(PendingReason::AwaitingApproval);
        let by = Party::User(self.user.id);
        let attempts = self.engine.refund_attempts(refund.id).await?;
        let uncertain = self.engine.uncertain_refund(&refund, &attempts).await;
        let sending = if uncertain.is_some() { Sending::Uncertain } else { Sending::Usual };
        Ok(WaitingRefund {
            sending,
            uncertain,
            doubted_by: self.engine.named_if(refund.doubt.map(|doubt| doubt.by)).await?,
            approval: waits.then(|| self.engine.approval_of(&refund, by, false)),
            made_by: self.engine.named(refund.made_by).await?,
            destination_by: self.engine.named_if(refund.destination_by).await?,
            refund,
            payment,
            project,
        })
    }
}
