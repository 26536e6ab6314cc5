//! What a bank tells of a transfer by itself, later than its answer: it is done, or the money has come back. A notice ends an
//! attempt only where it shows our reference and our amount; in every doubt the bank is asked instead, or a person is told.

use domain::{
    bank_difference::DifferenceKind,
    project::Project,
    refund::{
        Failure, FailureKind, Refund,
        answer::AttemptFinding,
        transfer::{AttemptState, TransferAttempt},
    },
};
use gateway::snap::{OrderStanding, Shown, TransferAsked, TransferNotice};

use super::{ask::was_repeated, judged::Known};
use crate::{Engine, Error, banks::contracts::open_account::OpenAccount};

impl Engine {
    /// Takes what a bank tells of a transfer. What cannot be relied on only makes us ask. A notice about a transfer that this
    /// account has not ordered changes nothing.
    pub async fn record_transfer_notice(
        &self,
        open: &OpenAccount,
        notice: TransferNotice,
        is_reliable: bool,
    ) -> Result<(), Error> {
        let attempt = self.store.refund_attempt_by_reference(&notice.reference).await?;
        let ordered = attempt.filter(|attempt| attempt.account_id == open.id());
        let Some((attempt, rail)) = ordered.and_then(|attempt| attempt.rail.map(|rail| (attempt, rail))) else {
            tracing::warn!(account = %open.id(), "a bank told of a transfer that we have not ordered there");
            return Ok(());
        };
        let refund = self.store.refund(attempt.refund_id).await?.ok_or(Error::NotFound("refund"))?;
        let project = self.project(refund.project_id).await?;
        let number = self.refund_number(&refund).await?;
        let asked = TransferAsked {
            rail,
            reference: &attempt.reference,
            external_id: &attempt.external_id,
            bank_reference: attempt.bank_reference.as_deref(),
            amount: refund.amount,
            number: number.as_ref().map(|number| number.reveal()).unwrap_or_default(),
            ordered_at: attempt.sent_at,
        };
        let standing = if is_reliable { notice.standing(&asked) } else { OrderStanding::AskAgain };
        match attempt.state {
            AttemptState::Sent | AttemptState::Unknown => {
                self.conclude_notice(open, &project, &refund, attempt, standing).await
            }
            AttemptState::Done => self.conclude_notice_of_done(&project, &attempt, standing).await,
            AttemptState::Refused => self.conclude_notice_of_refused(&attempt, standing).await,
        }
    }

    /// A notice about an attempt that is under way.
    async fn conclude_notice(
        &self,
        open: &OpenAccount,
        project: &Project,
        refund: &Refund,
        attempt: TransferAttempt,
        standing: OrderStanding,
    ) -> Result<(), Error> {
        match standing {
            OrderStanding::Done { shown: Shown::Less, .. } if was_repeated(&attempt) => {
                self.ask_at_once(&attempt).await
            }
            OrderStanding::Done { bank_reference, .. } => {
                let done = Known::ended(AttemptState::Done, bank_reference, AttemptFinding::ToldDone.words());
                self.conclude_done(project, &attempt, done).await
            }
            standing @ (OrderStanding::Returned | OrderStanding::NotDone) => {
                self.conclude_standing(open, project, refund, attempt, standing).await
            }
            OrderStanding::Differs => {
                self.raise(&attempt, DifferenceKind::Amount, None).await?;
                self.ask_at_once(&attempt).await
            }
            OrderStanding::Waiting => Ok(()),
            OrderStanding::NotFound | OrderStanding::AskAgain => self.ask_at_once(&attempt).await,
        }
    }

    /// A notice about an attempt that was done: what is done once may come back. What a person has recorded as made stays so.
    async fn conclude_notice_of_done(
        &self,
        project: &Project,
        attempt: &TransferAttempt,
        standing: OrderStanding,
    ) -> Result<(), Error> {
        match standing {
            OrderStanding::Returned | OrderStanding::NotDone if attempt.is_recorded_by_person() => {
                self.differ_from_person(attempt).await
            }
            OrderStanding::Returned | OrderStanding::NotDone => self.conclude_came_back(project, attempt).await,
            OrderStanding::Differs => self.raise(attempt, DifferenceKind::Amount, None).await,
            OrderStanding::Done { .. } | OrderStanding::Waiting | OrderStanding::NotFound | OrderStanding::AskAgain => {
                Ok(())
            }
        }
    }

    /// A notice about an attempt that the bank has refused before, as its answers were understood.
    async fn conclude_notice_of_refused(
        &self,
        attempt: &TransferAttempt,
        standing: OrderStanding,
    ) -> Result<(), Error> {
        match standing {
            OrderStanding::Done { .. } | OrderStanding::Returned => {
                self.raise(attempt, DifferenceKind::Refunded, Some(attempt)).await
            }
            OrderStanding::Differs => self.raise(attempt, DifferenceKind::Amount, None).await,
            OrderStanding::NotDone | OrderStanding::Waiting | OrderStanding::NotFound | OrderStanding::AskAgain => {
                Ok(())
            }
        }
    }

    /// The money of a transfer that was done is back. A refund that has ended otherwise stays as it is.
    async fn conclude_came_back(&self, project: &Project, attempt: &TransferAttempt) -> Result<(), Error> {
        let back = self.advance_refund(project, attempt.refund_id, |basis| {
            let why = Failure::from(FailureKind::CameBack).reason();
            Ok(basis.refund.clone().come_back(why, basis.is_unsettled, basis.now)?.into())
        });
        match back.await {
            Ok(_) | Err(Error::RefundStuck(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The next round asks the bank what became of it.
    async fn ask_at_once(&self, attempt: &TransferAttempt) -> Result<(), Error> {
        let known = Known {
            state: AttemptState::Unknown,
            bank_reference: None,
            answer: attempt.answer.clone().unwrap_or_default(),
            ask_at: Some(self.now()),
        };
        self.note_attempt(attempt, known).await
    }
}
