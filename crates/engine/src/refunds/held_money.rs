//! Held money that goes back to the customer by a transfer: a refund out of the held money, which the decision names. If the refund
//! ends without the customer having it, the money is held again.

use domain::{
    destination::DestinationRequest,
    id::ReceiptId,
    project::Project,
    receipt::{DECISION_NOTE, Decision, UnappliedReceipt},
    refund::{RefundOf, Split},
};
use store::{CommitError, Guard};

use super::{JUDGED_MOST, create::Draft};
use crate::{Engine, Error};

impl Engine {
    /// Sends held money to an account; without one, the customer is asked for it. However many decide at once, one of them does.
    pub async fn return_receipt(
        &self,
        project: &Project,
        id: ReceiptId,
        destination: impl Into<Option<DestinationRequest>>,
        note: String,
    ) -> Result<UnappliedReceipt, Error> {
        let destination = destination.into();
        let note = DECISION_NOTE.check(note)?;
        for _ in 0..JUDGED_MOST {
            let held = self.receipt(project.id, id).await?;
            if held.decided.is_some() {
                return Err(Error::AlreadyDecided);
            }
            let amount = held.receipt.amount;
            let draft = Draft {
                of: RefundOf::Receipt { receipt: id, sent_for: held.payment_id },
                amount,
                split: Split::of_held_money(amount),
                is_qris: false,
                reason: String::new(),
                metadata: None,
            };
            let new =
                self.new_refund(project, draft, destination.clone().map(|typed| typed.check(amount)).transpose()?)?;
            let (refund, at) = (new.step.refund.id, new.step.refund.created_at);
            let decided = self.decided(&held, Decision::Returned, at, &note, Some(refund));
            let letters = self.creation_letters(project, &new).await?;
            match self.store.commit(decided.then(self.creation(project, new)).with_all(letters)).await {
                Ok(()) => return self.receipt(project.id, id).await,
                Err(CommitError::Conflict(Guard::ReceiptUndecided)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }
}
