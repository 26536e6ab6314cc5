//! Commits what the domain has decided about a refund: the refund as it is then, its posting, what its payment or its receipt
//! keeps of it, and what merchants are told.

use domain::{
    event::News,
    id::RefundId,
    money::Rupiah,
    project::Project,
    receipt::UnappliedReceipt,
    refund::{
        Claim, Refund, RefundNews, RefundOf, RefundState, RefundStep, RefundStuck, SumsMove, transfer::TransferAttempt,
    },
    time::Timestamp,
    user::Token,
};
use store::{Change, CommitError, Guard, LedgerWrite, RefundWrite, RefundableNow, SealedClaim, WebhookWrite, Write};

use super::JUDGED_MOST;
use crate::{Engine, Error};

/// What a step is decided by.
pub(crate) struct StepBasis {
    pub(crate) refund: Refund,
    /// Whether the payment's money is still pending, so that what was taken of it goes back there.
    pub(crate) is_unsettled: bool,
    /// The attempt that the bank may have carried out.
    pub(crate) live: Option<TransferAttempt>,
    pub(crate) now: Timestamp,
    /// What is known of the payment whose money it is.
    pub(super) payment: Option<RefundableNow>,
    /// The held money that a refund was to give back which has failed, if nothing else was done with it.
    pub(super) held: Option<UnappliedReceipt>,
}

impl StepBasis {
    pub(crate) const fn may_be_sent(&self) -> bool {
        self.live.is_some()
    }
}

/// A step, and what is committed with it.
pub(crate) struct Decided {
    pub(crate) step: RefundStep,
    /// The number of a new destination, encrypted.
    pub(crate) sealed_number: Option<Vec<u8>>,
    pub(crate) besides: Vec<Write>,
    /// Whether the customer is told of it.
    pub(crate) is_told: bool,
}

impl From<RefundStep> for Decided {
    fn from(step: RefundStep) -> Decided {
        Decided { step, sealed_number: None, besides: Vec::new(), is_told: true }
    }
}

impl Decided {
    pub(crate) fn with(mut self, write: impl Into<Write>) -> Decided {
        self.besides.push(write.into());
        self
    }
}

impl Engine {
    /// Lets a refund go on as `decide` says, which is asked anew when something has changed meanwhile. Answers the refund as it is
    /// then.
    pub(crate) async fn advance_refund<D>(&self, project: &Project, id: RefundId, decide: D) -> Result<Refund, Error>
    where
        D: Fn(&StepBasis) -> Result<Decided, Error> + Send + Sync,
    {
        for _ in 0..JUDGED_MOST {
            let basis = self.step_basis(project, id).await?;
            let decided = decide(&basis)?;
            let is_told = decided.is_told;
            let (change, refund, token) = self.step_change(project, &basis, decided)?;
            // Also a new destination changes who may approve a refund.
            let mut letters = self.approval_letters(project, &refund).await?;
            if is_told && refund.state != basis.refund.state {
                letters.extend(self.refund_letters(project, &refund, token.as_ref()).await?);
            }
            match self.store.commit(change.with_all(letters)).await {
                Ok(()) => return Ok(Refund { version: refund.version + 1, ..refund }),
                Err(CommitError::Conflict(
                    Guard::RefundVersion | Guard::PaymentVersion | Guard::TransferAttempt | Guard::ReceiptUndecided,
                )) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    pub(crate) async fn step_basis(&self, project: &Project, id: RefundId) -> Result<StepBasis, Error> {
        let refund = self.refund(project.id, id).await?;
        let basis = match refund.of {
            RefundOf::Payment(payment) => self.store.refundable(payment).await?,
            RefundOf::Receipt { .. } => None,
        };
        let held = match refund.of {
            RefundOf::Receipt { receipt, .. } if refund.state == RefundState::Failed => {
                Some(self.receipt(project.id, receipt).await?).filter(|held| held.decided.is_none())
            }
            _ => None,
        };
        let attempts = self.store.refund_attempts(id).await?;
        Ok(StepBasis {
            held,
            is_unsettled: basis.is_some_and(|basis| basis.refundable.is_unsettled),
            payment: basis,
            live: attempts.into_iter().find(|attempt| attempt.state.may_be_done()),
            now: self.now(),
            refund,
        })
    }

    /// Everything that a step causes, as one change, the refund as it is then, and what a new link for the customer ends with.
    pub(crate) fn step_change(
        &self,
        project: &Project,
        basis: &StepBasis,
        decided: Decided,
    ) -> Result<(Change, Refund, Option<Token>), Error> {
        let Decided { step, sealed_number, besides, .. } = decided;
        let may_succeed = basis.refund.state.is_unfinished() || basis.refund.state == RefundState::Failed;
        let fee = basis.payment.filter(|_| project.refunds.returns_fee && may_succeed);
        let step = match fee {
            Some(payment) => step.returning_fee(payment.refundable.fee_to_return(basis.refund.amount)),
            None => step,
        };
        let RefundStep { refund, posting, sums, news } = step;
        let (refund, claim) = self.with_claim(refund, basis.now)?;
        let (claim, token) = claim.unzip();
        let simulated_at = self.simulated_next(project, &refund, basis.now);
        let refund = Refund { simulated_at, ..refund };
        let payment = refund.of.payment().zip(basis.payment).filter(|_| sums != SumsMove::default());
        let sums = payment.map(|(payment_id, payment)| {
            let (version, moved) = (payment.version, sums);
            match refund.found == basis.refund.found {
                true => RefundWrite::Sums { payment_id, version, moved },
                false => RefundWrite::SumsFoundDone { payment_id, version, moved },
            }
        });
        let gave_up = gave_up(refund.state) && refund.split.unapplied > Rupiah::ZERO;
        let held_again = refund.of.receipt().filter(|_| gave_up).map(|receipt_id| LedgerWrite::ReceiptHeldAgain {
            receipt_id,
            project_id: refund.project_id,
            refund_id: refund.id,
        });
        let changed =
            RefundWrite::Changed { refund: Box::new(refund.clone()), from: basis.refund.state, sealed_number, claim };
        // The refund's guard comes first. Its payment was read after it, and may be the newer of the two: then the sums would move
        // once more by what has been moved already, which their own rules refuse as a fault.
        let change = Change::from(changed)
            .with_all(sums)
            .with_all(posting.map(LedgerWrite::Posting))
            .with_all(held_again)
            .with_all(news.map(|news| self.refund_event(&refund, news, basis.now)))
            .with_all(besides);
        Ok((change, refund, token))
    }

    /// A refund that waits for an account has a link by which the customer can name it.
    fn with_claim(&self, refund: Refund, now: Timestamp) -> Result<(Refund, Option<(SealedClaim, Token)>), Error> {
        match (refund.state, refund.claim) {
            (RefundState::RequiresAction, None) => {
                let claim = self.new_claim(refund.id)?;
                Ok((Refund { claim: Some(Claim::opened(now)), ..refund }, Some(claim)))
            }
            _ => Ok((refund, None)),
        }
    }

    /// Tells those projects that ask for it what happened to a refund.
    pub(crate) fn refund_event(&self, refund: &Refund, news: RefundNews, now: Timestamp) -> WebhookWrite {
        self.event(refund.project_id, News::Refund { refund: refund.id, news }, now)
    }
}

/// Whether the money of a refund is back where it was taken from.
const fn gave_up(state: RefundState) -> bool {
    matches!(state, RefundState::Failed | RefundState::Cancelled | RefundState::Returned { .. })
}

impl From<RefundStuck> for Error {
    fn from(stuck: RefundStuck) -> Error {
        Error::RefundStuck(stuck)
    }
}
