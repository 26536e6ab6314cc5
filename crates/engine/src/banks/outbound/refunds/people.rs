//! When people may end as failed what a bank may have carried out: once the time is over in which "not found" proves nothing, and
//! not against the account's statement.

use domain::{
    id::RefundId,
    project::Project,
    refund::{RefundStuck, transfer::AttemptState},
};
use gateway::snap::OnStatement;

use super::ask::is_patience_over;
use crate::{Engine, Error};

impl Engine {
    /// Whether people may say now that a refund was not carried out. Of what no bank was asked for, they always may.
    pub(crate) async fn check_may_be_doubted(&self, project: &Project, id: RefundId) -> Result<(), Error> {
        let attempts = self.store.refund_attempts(id).await?;
        let Some(attempt) = attempts.into_iter().find(|attempt| attempt.state == AttemptState::Unknown) else {
            return Ok(());
        };
        let open = self.open_account(attempt.account_id).await?;
        if !is_patience_over(&open, &attempt, self.now()) {
            return Err(RefundStuck::Sent.into());
        }
        let refund = self.refund(project.id, id).await?;
        match self.on_statement(&open, &refund, &attempt).await? {
            Some(OnStatement::Absent) | None => Ok(()),
            // The money has left.
            Some(OnStatement::Debited | OnStatement::Returned | OnStatement::OtherAmount) => {
                Err(RefundStuck::Sent.into())
            }
        }
    }
}
