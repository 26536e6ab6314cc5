//! Letters to customers about money that goes back to them. Who left an address when they paid gets them, if the project sends
//! receipts.
//!
//! Their causes begin with the word of receipts and end with the payment, so they are deleted with the receipts of a customer whose
//! data is deleted.

use domain::{
    hex::hex,
    payment::Payment,
    project::{Environment, Project},
    refund::{Refund, RefundState},
    time::Timestamp,
    user::{Email, Token},
};
use letters::{Letter, RefundClaim, RefundMade};
use store::Write;

use super::{causes::reachable, queue::Envelope};
use crate::{Engine, Error};

/// A refund that a customer is told of.
struct RefundTold<'a> {
    project: &'a Project,
    refund: &'a Refund,
    /// The payment that it is about.
    payment: &'a Payment,
    /// What was paid for.
    title: String,
}

impl Engine {
    /// Asks the customer where the money shall go, by the link with this token; or tells them that it has gone. Nothing for refunds
    /// that stand otherwise.
    pub(crate) async fn refund_letters(
        &self,
        project: &Project,
        refund: &Refund,
        token: Option<&Token>,
    ) -> Result<Vec<Write>, Error> {
        let is_told = matches!(refund.state, RefundState::RequiresAction | RefundState::Succeeded { .. });
        if !is_told || !self.has_letters() {
            return Ok(Vec::new());
        }
        let payment = self.payment(project.id, refund.of.about()).await?;
        let Some(checkout) = payment.terms.checkout.as_ref() else { return Ok(Vec::new()) };
        let title = match payment.terms.link_id {
            Some(id) => self.store.link(id).await?.map(|link| link.title),
            None => None,
        };
        let email = self.receipts_go_to(project, &checkout.customer.email).await?;
        let told =
            RefundTold { project, refund, payment: &payment, title: title.unwrap_or_else(|| project.name.clone()) };
        match (refund.state, token) {
            (RefundState::RequiresAction, Some(token)) => self.claim_letter(told, email.as_ref(), token),
            (RefundState::Succeeded { at }, _) => self.refund_made_letters(told, email.as_ref(), at).await,
            _ => Ok(Vec::new()),
        }
    }

    /// The link is for the customer alone, so it never becomes a notice.
    fn claim_letter(&self, told: RefundTold<'_>, email: Option<&Email>, token: &Token) -> Result<Vec<Write>, Error> {
        let RefundTold { project, refund, payment, title } = told;
        let Some((email, claim)) = email.zip(refund.claim) else { return Ok(Vec::new()) };
        let letter = Letter::RefundClaim(RefundClaim {
            title,
            amount: refund.amount,
            reason: reason(refund),
            payment_id: payment.id.to_string(),
            reference: reference(payment),
            claim_url: self.page_url(&format!("/r/{}", token.reveal())),
            expires_at: claim.expires_at,
            is_sandbox: project.environment == Environment::Sandbox,
        });
        let cause = format!("receipt claim {} {} {}", refund.id, hex(&token.hash().0[..8]), payment.id);
        let envelope = Envelope::to_address(email, payment.terms.customer_language()).about(project.id);
        self.letter(envelope.once_for(&cause), &letter)
    }

    /// To the customer, and to the project's URL if it wants receipts there, for customers who can be reached.
    async fn refund_made_letters(
        &self,
        told: RefundTold<'_>,
        email: Option<&Email>,
        made_at: Timestamp,
    ) -> Result<Vec<Write>, Error> {
        let RefundTold { project, refund, payment, title } = told;
        let made = RefundMade {
            title,
            amount: refund.amount,
            destination: destination(refund),
            made_at,
            payment_id: payment.id.to_string(),
            reference: reference(payment),
            payment_url: self.page_url(&format!("/pay/{}", payment.id)),
            is_sandbox: project.environment == Environment::Sandbox,
            customer: None,
        };
        let cause = format!("receipt refund {} {}", refund.id, payment.id);
        let mut writes = Vec::new();
        if let Some(email) = email {
            let envelope = Envelope::to_address(email, payment.terms.customer_language()).about(project.id);
            writes.extend(self.letter(envelope.once_for(&cause), &Letter::RefundMade(made.clone()))?);
        }
        if let Some(customer) = reachable(payment) {
            let noticed = RefundMade { customer: Some(customer), ..made };
            writes.extend(self.project_notice(project.id, &Letter::RefundMade(noticed), Some(cause)).await?);
        }
        Ok(writes)
    }
}

fn reference(payment: &Payment) -> Option<String> {
    Some(payment.terms.reference.clone()).filter(|reference| !reference.is_empty())
}

/// Why the money goes back, as the merchant says.
pub(super) fn reason(refund: &Refund) -> Option<String> {
    Some(refund.reason.clone()).filter(|reason| !reason.is_empty())
}

/// The bank and the last digits of the account.
pub(super) fn destination(refund: &Refund) -> Option<String> {
    refund.destination.as_ref().map(|to| format!("{} *{}", to.bank.name, to.last_digits))
}
