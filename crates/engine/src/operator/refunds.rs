//! Refunds that wait for an approval, of all projects: an operator may give it where the project has nobody else.

use std::sync::Arc;

use domain::{
    id::RefundId,
    payment::Payment,
    project::Project,
    refund::{Party, PendingReason, Refund, RefundState},
};
use store::{Listed, Window};

use super::Operator;
use crate::{Approval, Error, NamedParty, Sending};

/// A refund that waits for an approval, or that did.
pub struct WaitingRefund {
    pub refund: Refund,
    pub payment: Payment,
    pub project: Arc<Project>,
    pub sending: Sending,
    /// None where it does not wait any more.
    pub approval: Option<Approval>,
    pub made_by: NamedParty,
    pub destination_by: Option<NamedParty>,
}

impl Operator {
    /// The refunds of all projects that wait for an approval, longest waiting first.
    pub async fn waiting_refunds(&self, window: Window) -> Result<Listed<WaitingRefund>, Error> {
        let Listed { items, total } = self.engine.store.refunds_to_approve(window).await?;
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

    async fn shown(&self, refund: Refund) -> Result<WaitingRefund, Error> {
        let payment = self.engine.payment(refund.project_id, refund.of.about()).await?;
        let project = self.engine.project_of(&payment).await?;
        let waits = refund.state == RefundState::Pending(PendingReason::AwaitingApproval);
        let by = Party::User(self.user.id);
        Ok(WaitingRefund {
            sending: Sending::Usual,
            approval: waits.then(|| self.engine.approval_of(&refund, by, false)),
            made_by: self.engine.named(refund.made_by).await?,
            destination_by: self.engine.named_if(refund.destination_by).await?,
            refund,
            payment,
            project,
        })
    }
}
