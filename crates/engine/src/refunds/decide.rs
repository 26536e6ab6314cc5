//! What people decide about refunds: where they go, whether they go, and that they do not.

use domain::{
    audit::Deed,
    destination::DestinationRequest,
    id::RefundId,
    project::Project,
    refund::{Claim, FAILURE, Party, Refund, RefundRoad, RefundState, RefundStuck},
};
use store::{Change, CommitError, Guard, RefundWrite};

use super::{JUDGED_MOST, create::refund_line, steps::Decided};
use crate::{Engine, Error};

impl Engine {
    /// Takes a refund back, as long as nothing of it was sent.
    pub async fn cancel_refund(&self, project: &Project, id: RefundId) -> Result<Refund, Error> {
        self.advance_refund(project, id, |basis| {
            let step = basis.refund.clone().cancel(basis.may_be_sent(), basis.is_unsettled, basis.now)?;
            let line = self.audit(Some(project.id), Deed::RefundCancelled, id, refund_line(&basis.refund));
            Ok(Decided::from(step).with(line))
        })
        .await
    }

    /// Lets a refund go that waits for an approval. `seen` is its version as it was shown to who approves: an approval is for one
    /// amount and one destination. `alone`: nobody else could approve it.
    pub async fn approve_refund(
        &self,
        project: &Project,
        id: RefundId,
        seen: i64,
        alone: bool,
    ) -> Result<Refund, Error> {
        self.advance_refund(project, id, |basis| {
            if basis.refund.version != seen {
                return Err(Error::RefundChanged);
            }
            let step = basis.refund.clone().approve(Party::of(&self.actor), alone, basis.now)?;
            let line = self.audit(Some(project.id), Deed::RefundApproved, id, refund_line(&basis.refund));
            Ok(Decided::from(step).with(line))
        })
        .await
    }

    /// Decides that a refund which waits for an approval does not go.
    pub async fn decline_refund(&self, project: &Project, id: RefundId, why: String) -> Result<Refund, Error> {
        let why = FAILURE.check(why)?;
        self.advance_refund(project, id, |basis| {
            let step = basis.refund.clone().decline(why.clone(), basis.is_unsettled, basis.now)?;
            Ok(Decided::from(step).with(self.audit(Some(project.id), Deed::RefundDeclined, id, &why)))
        })
        .await
    }

    /// The merchant says where the money shall go.
    pub async fn give_destination(
        &self,
        project: &Project,
        id: RefundId,
        typed: DestinationRequest,
    ) -> Result<Refund, Error> {
        let by = Party::of(&self.actor);
        self.advance_refund(project, id, |basis| {
            let to = typed.clone().check(basis.refund.amount)?;
            let needs_approval = self.needs_approval(project, basis.refund.amount, Some(by));
            let step = basis.refund.clone().give_destination(to.shown(), by, needs_approval, basis.now)?;
            let line = self.audit(Some(project.id), Deed::RefundDestinationGiven, id, refund_line(&step.refund));
            let sealed_number = Some(self.sealed_number(id, &to)?);
            Ok(Decided { sealed_number, ..Decided::from(step).with(line) })
        })
        .await
    }

    /// It cannot go back the way that the money came: the customer's account is needed. `why` is shown to the merchant.
    pub async fn refund_by_transfer(&self, project: &Project, id: RefundId, why: String) -> Result<Refund, Error> {
        let why = FAILURE.check(why)?;
        self.advance_refund(project, id, |basis| {
            if basis.may_be_sent() {
                return Err(RefundStuck::Sent.into());
            }
            if basis.refund.road == RefundRoad::Transfer {
                return Err(RefundStuck::NoDestinationNeeded.into());
            }
            let step = basis.refund.clone().need_destination(why.clone(), basis.now)?;
            Ok(Decided::from(step).with(self.audit(Some(project.id), Deed::RefundMovedToTransfer, id, &why)))
        })
        .await
    }

    /// Makes a new link for the customer; the one before leads nowhere.
    pub async fn renew_refund_link(&self, project: &Project, id: RefundId) -> Result<Refund, Error> {
        for _ in 0..JUDGED_MOST {
            let now = self.now();
            let refund = self.refund(project.id, id).await?;
            if refund.state != RefundState::RequiresAction {
                return Err(RefundStuck::NoDestinationNeeded.into());
            }
            let refund = Refund { claim: Some(Claim::opened(now)), updated_at: now, ..refund };
            let (claim, token) = self.new_claim(id)?;
            let changed = RefundWrite::Changed {
                refund: Box::new(refund.clone()),
                from: refund.state,
                sealed_number: None,
                claim: Some(claim),
            };
            let letters = self.refund_letters(project, &refund, Some(&token)).await?;
            let line = self.audit(Some(project.id), Deed::RefundLinkRenewed, id, "");
            match self.store.commit(Change::from(changed).with(line).with_all(letters)).await {
                Ok(()) => return Ok(Refund { version: refund.version + 1, ..refund }),
                Err(CommitError::Conflict(Guard::RefundVersion)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    /// The transfer of a refund came back: its money is where it was taken from.
    pub async fn note_returned(&self, project: &Project, id: RefundId, why: String) -> Result<Refund, Error> {
        let why = FAILURE.check(why)?;
        self.advance_refund(project, id, |basis| {
            let step = basis.refund.clone().come_back(why.clone(), basis.is_unsettled, basis.now)?;
            Ok(Decided::from(step).with(self.audit(Some(project.id), Deed::RefundMarkedReturned, id, &why)))
        })
        .await
    }
}
