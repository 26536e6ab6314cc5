//! Refunds of a project, and how it stands with them.

use domain::{
    id::{PaymentId, ProjectId, RefundId},
    refund::{Refund, transfer::TransferAttempt},
};
use store::{Listed, RefundFilter, RefundStanding, Window};

use crate::{Engine, Error};

impl Engine {
    pub async fn refund(&self, project_id: ProjectId, id: RefundId) -> Result<Refund, Error> {
        let refund = self.store.refund(id).await?;
        refund.filter(|refund| refund.project_id == project_id).ok_or(Error::NotFound("refund"))
    }

    /// The attempts to send a refund by a bank, oldest first.
    pub async fn refund_attempts(&self, id: RefundId) -> Result<Vec<TransferAttempt>, Error> {
        Ok(self.store.refund_attempts(id).await?)
    }

    /// Newest first.
    pub async fn refunds(
        &self,
        project_id: ProjectId,
        filter: RefundFilter,
        window: Window,
    ) -> Result<Listed<Refund>, Error> {
        Ok(self.store.refunds(project_id, filter, window).await?)
    }

    /// All refunds of a payment's money, oldest first.
    pub async fn refunds_of_payment(&self, payment_id: PaymentId) -> Result<Vec<Refund>, Error> {
        Ok(self.store.refunds_of_payment(payment_id).await?)
    }

    /// How many refunds of the project stand how, and what they add up to.
    pub async fn refund_standings(&self, project_id: ProjectId) -> Result<Vec<RefundStanding>, Error> {
        Ok(self.store.refund_standings(project_id).await?)
    }
}
