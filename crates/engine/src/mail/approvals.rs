//! Letters about refunds that wait for an approval, to those who may give it. Who asked for a refund, or typed where it goes, gets
//! none: they know, and cannot approve it. The only owner of a project approves by themselves what they asked for, so operators are
//! not asked there either.

use domain::{
    access::Act,
    project::{Environment, Project},
    refund::{Party, PendingReason, Refund, RefundState},
    user::User,
};
use letters::{ApprovalWanted, Asker, Letter};
use store::Write;

use super::{
    queue::Envelope,
    refunds::{destination, reason},
};
use crate::{Approval, Engine, Error};

impl Engine {
    /// Tells those who may approve a refund that it waits for them, each of them once for each destination; nothing for refunds that
    /// do not wait for that.
    /// Where no owner of a production project may approve it, operators are told.
    pub(crate) async fn approval_letters(&self, project: &Project, refund: &Refund) -> Result<Vec<Write>, Error> {
        let waits = refund.state == RefundState::Pending(PendingReason::AwaitingApproval);
        if !waits || !self.has_letters() {
            return Ok(Vec::new());
        }
        // An approval is for one destination, so those who heard of another one are told again.
        let to = refund.destination.as_ref().map(|to| format!(" {} {}", to.bank.code, to.last_digits));
        let cause = format!("approval {}{}", refund.id, to.unwrap_or_default());
        let letter = self.approval_wanted(project, refund).await?;
        let for_owners = Letter::ApprovalWanted(letter.clone());
        let mut writes = self.project_notice(project.id, &for_owners, Some(cause.clone())).await?;
        let members = self.store.members(project.id).await?;
        let owners = members.into_iter().filter(|member| member.role.may(Act::Refund) && member.user.is_active());
        let owners: Vec<User> = owners.map(|member| member.user).collect();
        let approvers: Vec<&User> = owners.iter().filter(|owner| self.may_approve(refund, owner)).collect();
        for approver in &approvers {
            let envelope = Envelope::to_user(approver).about(project.id).once_for(&cause);
            writes.extend(self.letter(envelope, &for_owners)?);
        }
        let is_up_to_operators = approvers.is_empty() && owners.len() != 1;
        if is_up_to_operators && project.environment == Environment::Production {
            writes.extend(self.approval_letters_to_operators(refund, letter, &cause).await?);
        }
        Ok(writes)
    }

    /// Owners of a project see the addresses of letters about it, so these are not said to be about it.
    async fn approval_letters_to_operators(
        &self,
        refund: &Refund,
        letter: ApprovalWanted,
        cause: &str,
    ) -> Result<Vec<Write>, Error> {
        let page_url = self.page_url(&format!("/dashboard/operator/refunds/{}", refund.id));
        let letter = Letter::ApprovalWanted(ApprovalWanted { page_url, for_operators: true, ..letter });
        let mut writes = self.operator_notice_once(&letter, &format!("{cause} operators"))?;
        for operator in self.store.operators().await? {
            if self.may_approve(refund, &operator) {
                writes.extend(self.letter(Envelope::to_user(&operator).once_for(cause), &letter)?);
            }
        }
        Ok(writes)
    }

    fn may_approve(&self, refund: &Refund, user: &User) -> bool {
        self.approval_of(refund, Party::User(user.id), false) == Approval::Another
    }

    async fn approval_wanted(&self, project: &Project, refund: &Refund) -> Result<ApprovalWanted, Error> {
        let asked_by = match refund.made_by {
            Party::User(_) => self.named(refund.made_by).await?.email.map(|email| Asker::User(email.to_string())),
            Party::Key(_) => Some(Asker::Key),
            Party::CommandLine => Some(Asker::CommandLine),
            Party::Customer => None,
        };
        Ok(ApprovalWanted {
            project: project.name.clone(),
            amount: refund.amount,
            asked_by,
            asked_at: refund.created_at,
            destination: destination(refund),
            reason: reason(refund),
            refund_id: refund.id.to_string(),
            payment_id: refund.of.about().to_string(),
            page_url: self.page_url(&format!("/dashboard/{}/refunds/{}", project.id, refund.id)),
            for_operators: false,
            is_sandbox: project.environment == Environment::Sandbox,
        })
    }
}
