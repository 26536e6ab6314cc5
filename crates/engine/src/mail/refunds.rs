//! Letters to customers about money that goes back to them. Who left an address when they paid gets them, if the project sends
//! receipts.

use domain::{
    language::Language,
    payment::Payment,
    project::{Environment, Project},
    refund::{Refund, RefundState},
    user::{Email, Token},
};
use letters::{Letter, RefundClaim, RefundMade};
use store::Write;

use super::queue::Envelope;
use crate::{Engine, Error};

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
        if !is_told || !self.has_mail() || !self.store.sends_receipts(project.id).await? {
            return Ok(Vec::new());
        }
        let payment = self.payment(project.id, refund.of.about()).await?;
        let left = payment.terms.checkout.as_ref().map(|checkout| checkout.customer.email.as_str());
        let Some(email) = left.and_then(|email| Email::parse(email).ok()) else { return Ok(Vec::new()) };
        let title = match payment.terms.link_id {
            Some(id) => self.store.link(id).await?.map(|link| link.title),
            None => None,
        };
        let title = title.unwrap_or_else(|| project.name.clone());
        let letter = match (refund.state, refund.claim, token) {
            (RefundState::RequiresAction, Some(claim), Some(token)) => Letter::RefundClaim(RefundClaim {
                title,
                amount: refund.amount,
                reason: Some(refund.reason.clone()).filter(|reason| !reason.is_empty()),
                payment_id: payment.id.to_string(),
                reference: reference(&payment),
                claim_url: self.page_url(&format!("/r/{}", token.reveal())),
                expires_at: claim.expires_at,
                is_sandbox: project.environment == Environment::Sandbox,
            }),
            (RefundState::Succeeded { at }, ..) => Letter::RefundMade(RefundMade {
                title,
                amount: refund.amount,
                destination: refund.destination.as_ref().map(|to| format!("{} *{}", to.bank.name, to.last_digits)),
                made_at: at,
                payment_id: payment.id.to_string(),
                reference: reference(&payment),
                payment_url: self.page_url(&format!("/pay/{}", payment.id)),
                is_sandbox: project.environment == Environment::Sandbox,
            }),
            _ => return Ok(Vec::new()),
        };
        self.letter(Envelope::to_address(&email, Language::Indonesian).about(project.id), &letter)
    }
}

fn reference(payment: &Payment) -> Option<String> {
    Some(payment.terms.reference.clone()).filter(|reference| !reference.is_empty())
}
