//! Commits what follows from what is known of an attempt. A late answer never changes what people have decided: it becomes a
//! difference, which a person looks at.

use std::time::Duration;

use domain::{
    bank_difference::{Difference, DifferenceKey, DifferenceKind},
    bank_request::jakarta_day,
    id::RefundId,
    money::Rupiah,
    project::Project,
    refund::{
        Failure, FailureKind, Refund, RefundState, RefundStuck,
        answer::AttemptFinding,
        transfer::{AttemptState, TransferAttempt},
    },
    time::Timestamp,
};
use gateway::snap::{OrderSent, Verdict};
use store::{CommitError, Guard, OpeningWrite, RefundWrite, Write};

use super::plan::morning_after;
use crate::{
    Engine, Error,
    banks::contracts::open_account::OpenAccount,
    refunds::{Decided, StepBasis},
};

/// When an attempt is asked about first after an answer that says nothing.
const FIRST_ASKED_AFTER: Duration = Duration::from_secs(5);
/// How long no money is sent from an account that lacks it, or whose messages are not taken.
const ACCOUNT_REST: Duration = Duration::from_mins(10);
/// How much of a bank's words is kept.
const ANSWER_CHARACTERS_MOST: usize = 200;

/// What is known of an attempt by now.
pub(super) struct Known {
    pub(super) state: AttemptState,
    pub(super) bank_reference: Option<String>,
    pub(super) answer: String,
    pub(super) ask_at: Option<Timestamp>,
}

impl Known {
    pub(super) fn ended(state: AttemptState, bank_reference: Option<String>, answer: impl Into<String>) -> Known {
        Known { state, bank_reference, answer: answer.into(), ask_at: None }
    }
}

impl Engine {
    /// What follows from the bank's answer to an order.
    pub(super) async fn conclude_order(
        &self,
        open: &OpenAccount,
        project: &Project,
        attempt: TransferAttempt,
        sent: OrderSent,
    ) -> Result<(), Error> {
        let now = self.now();
        let answer = format!("{} {}", sent.code, sent.message);
        let refused = Known::ended(AttemptState::Refused, None, answer.clone());
        let id = attempt.refund_id;
        match sent.verdict {
            Verdict::Done => {
                let done = Known::ended(AttemptState::Done, sent.bank_reference, answer);
                self.conclude_done(project, &attempt, done).await
            }
            Verdict::Unknown | Verdict::ProvesNothing => {
                let ask_at = Some(now.plus(FIRST_ASKED_AFTER.max(open.parameters.status_delay)));
                let bank_reference = sent.bank_reference;
                let known = Known { state: AttemptState::Unknown, bank_reference, answer, ask_at };
                self.note_attempt(&attempt, known).await
            }
            Verdict::NotSent | Verdict::NotTaken => {
                if sent.verdict == Verdict::NotTaken {
                    tracing::error!(account = %open.id(), code = sent.code, "a bank does not take our orders as they stand");
                    self.outbound.rest(open.id(), now.plus(ACCOUNT_REST));
                }
                self.note_attempt(&attempt, refused).await
            }
            Verdict::CutOff => {
                self.outbound.rest(open.id(), morning_after(now));
                self.note_attempt(&attempt, refused).await
            }
            Verdict::NoMoney => {
                tracing::warn!(account = %open.id(), "the account that pays refunds lacks money");
                self.outbound.rest(open.id(), now.plus(ACCOUNT_REST));
                self.conclude_short(project, &attempt, refused).await
            }
            Verdict::OverLimit if attempt.rail.is_some() => self.note_attempt(&attempt, refused).await,
            Verdict::OverLimit | Verdict::NotThisWay => {
                let why = Failure::of_refusal(&sent.code).reason();
                self.need_account(project, id, why, Some((&attempt, refused))).await
            }
            Verdict::WrongDestination if attempt.rail.is_none() => {
                let why = Failure::of_refusal(&sent.code).reason();
                self.need_account(project, id, why, Some((&attempt, refused))).await
            }
            Verdict::WrongDestination => {
                self.conclude_failed(project, &attempt, refused, Failure::of_refusal(&sent.code).reason()).await
            }
            Verdict::AboveWhatIsLeft => {
                self.raise(&attempt, DifferenceKind::Amount, None).await?;
                self.conclude_failed(project, &attempt, refused, Failure::of_refusal(&sent.code).reason()).await
            }
        }
    }

    /// The bank has carried it out, and the customer is told.
    pub(super) async fn conclude_done(
        &self,
        project: &Project,
        attempt: &TransferAttempt,
        done: Known,
    ) -> Result<(), Error> {
        self.book_done(project, attempt, done, true).await
    }

    async fn book_done(
        &self,
        project: &Project,
        attempt: &TransferAttempt,
        done: Known,
        is_told: bool,
    ) -> Result<(), Error> {
        let ended = self.advance_refund(project, attempt.refund_id, |basis| {
            let reference = done.bank_reference.clone().unwrap_or_else(|| attempt.reference.clone());
            // Of an attempt that was recorded as refused, it is a difference.
            let noted = self.still_noted(basis, attempt, &done)?;
            // People have ended it as failed meanwhile.
            let decided = match basis.refund.state {
                RefundState::Failed => {
                    self.found_done(basis, (attempt.account_id, attempt.reference.clone()), reference)?
                }
                _ => basis.refund.clone().succeed(Some(reference), basis.now)?.into(),
            };
            Ok(Decided { is_told, ..decided }.with(noted))
        });
        match self.settled(ended.await)? {
            Settled::Yes | Settled::ByAnother => Ok(()),
            Settled::Late => {
                // People have decided otherwise meanwhile.
                if !self.is_booked(attempt).await? {
                    self.raise(attempt, DifferenceKind::Refunded, Some(attempt)).await?;
                }
                self.note_attempt(attempt, done).await
            }
        }
    }

    /// Whether the refund has succeeded by this attempt already: then an answer that says so once more is no difference.
    async fn is_booked(&self, attempt: &TransferAttempt) -> Result<bool, Error> {
        let attempts = self.store.refund_attempts(attempt.refund_id).await?;
        let refund = self.store.refund(attempt.refund_id).await?.ok_or(Error::NotFound("refund"))?;
        let may_be_done = attempts.iter().any(|one| one.number == attempt.number && one.state.may_be_done());
        Ok(may_be_done && refund.state.succeeded_at().is_some())
    }

    /// The bank has carried it out, and the money has come back. The customer is not told of money that they did not get.
    pub(super) async fn conclude_returned(&self, project: &Project, attempt: &TransferAttempt) -> Result<(), Error> {
        let words = AttemptFinding::CameBack.words();
        // The attempt ends with the refund's last step: a node that goes on after a crash between the two asks again.
        let ask_at = Some(self.now());
        let gone = Known { state: AttemptState::Unknown, bank_reference: None, answer: words.to_owned(), ask_at };
        self.book_done(project, attempt, gone, false).await?;
        let done = Known::ended(AttemptState::Done, None, words);
        let back = self.advance_refund(project, attempt.refund_id, |basis| {
            if basis.live.as_ref().is_some_and(TransferAttempt::is_recorded_by_person) {
                return Err(RefundStuck::Ended.into());
            }
            let why = Failure::from(FailureKind::CameBack).reason();
            let step = basis.refund.clone().come_back(why, basis.is_unsettled, basis.now)?;
            let besides = self.unended_noted(basis, attempt, &done).into_iter().map(Write::from).collect();
            Ok(Decided { besides, ..step.into() })
        });
        match self.settled(back.await)? {
            Settled::Yes | Settled::ByAnother => Ok(()),
            Settled::Late => {
                self.note_attempt(attempt, done).await?;
                self.differ_from_person(attempt).await
            }
        }
    }

    /// The bank says that the order was not carried out, or that its money is back. Where a person has recorded that it was made, that
    /// stays, and a difference tells of it.
    pub(super) async fn differ_from_person(&self, attempt: &TransferAttempt) -> Result<(), Error> {
        let attempts = self.store.refund_attempts(attempt.refund_id).await?;
        let is_recorded = |one: &TransferAttempt| one.number == attempt.number && one.is_recorded_by_person();
        match attempts.iter().any(is_recorded) {
            true => self.raise(attempt, DifferenceKind::MissingThere, None).await,
            false => Ok(()),
        }
    }

    /// What is known of an attempt now, as a write beside a step; none where it has ended. Another node may have asked about it since
    /// it was read.
    fn unended_noted(&self, basis: &StepBasis, attempt: &TransferAttempt, known: &Known) -> Option<RefundWrite> {
        let live = basis.live.as_ref().filter(|live| live.number == attempt.number);
        live.filter(|live| live.state != AttemptState::Done).map(|live| self.attempt_noted(live, known))
    }

    /// The same for a step that is taken only if nobody has ended the attempt meanwhile.
    fn still_noted(
        &self,
        basis: &StepBasis,
        attempt: &TransferAttempt,
        known: &Known,
    ) -> Result<RefundWrite, RefundStuck> {
        self.unended_noted(basis, attempt, known).ok_or(RefundStuck::NotProcessing)
    }

    /// The same for a refusal. By code, another node that has asked since may have sent the same order again, of which the refusal of
    /// the first says nothing.
    fn refusal_noted(
        &self,
        basis: &StepBasis,
        attempt: &TransferAttempt,
        refused: &Known,
    ) -> Result<RefundWrite, RefundStuck> {
        let is_asked_since = basis.live.as_ref().is_some_and(|live| live.asked != attempt.asked);
        if attempt.rail.is_none() && is_asked_since {
            return Err(RefundStuck::NotProcessing);
        }
        self.still_noted(basis, attempt, refused)
    }

    /// The bank has not carried it out and never will: the refund ends.
    pub(super) async fn conclude_failed(
        &self,
        project: &Project,
        attempt: &TransferAttempt,
        refused: Known,
        why: String,
    ) -> Result<(), Error> {
        let ended = self.advance_refund(project, attempt.refund_id, |basis| {
            let step = basis.refund.clone().fail(why.clone(), basis.is_unsettled, basis.now)?;
            Ok(Decided::from(step).with(self.refusal_noted(basis, attempt, &refused)?))
        });
        match self.settled(ended.await)? {
            Settled::Yes | Settled::ByAnother => Ok(()),
            Settled::Late => self.note_attempt(attempt, refused).await,
        }
    }

    /// The account that pays lacks money.
    async fn conclude_short(&self, project: &Project, attempt: &TransferAttempt, refused: Known) -> Result<(), Error> {
        let ended = self.advance_refund(project, attempt.refund_id, |basis| {
            let step = basis.refund.clone().note_balance(false, basis.now)?;
            Ok(Decided::from(step).with(self.refusal_noted(basis, attempt, &refused)?))
        });
        match self.settled(ended.await)? {
            Settled::Yes | Settled::ByAnother => Ok(()),
            Settled::Late => self.note_attempt(attempt, refused).await,
        }
    }

    /// It goes on by the customer's bank account.
    pub(super) async fn need_account(
        &self,
        project: &Project,
        id: RefundId,
        why: String,
        refused: Option<(&TransferAttempt, Known)>,
    ) -> Result<(), Error> {
        let ended = self.advance_refund(project, id, |basis| {
            if refused.is_none() && basis.may_be_sent() {
                return Err(RefundStuck::Sent.into());
            }
            let decided = Decided::from(basis.refund.clone().need_destination(why.clone(), basis.now)?);
            Ok(match &refused {
                Some((attempt, known)) => decided.with(self.refusal_noted(basis, attempt, known)?),
                None => decided,
            })
        });
        match (self.settled(ended.await)?, refused) {
            (Settled::Late, Some((attempt, known))) => self.note_attempt(attempt, known).await,
            _ => Ok(()),
        }
    }

    /// Nothing was sent, and nothing can be.
    pub(super) async fn fail_unsent(&self, project: &Project, id: RefundId, why: String) -> Result<(), Error> {
        let ended = self.advance_refund(project, id, |basis| {
            if basis.may_be_sent() {
                return Err(RefundStuck::Sent.into());
            }
            // Only people end what they took to the bank.
            if basis.refund.batch.is_some() {
                return Err(RefundStuck::InBatch.into());
            }
            Ok(basis.refund.clone().fail(why.clone(), basis.is_unsettled, basis.now)?.into())
        });
        self.settled(ended.await).map(|_| ())
    }

    /// Stores what is known of an attempt, and nothing else.
    pub(super) async fn note_attempt(&self, attempt: &TransferAttempt, known: Known) -> Result<(), Error> {
        match self.store.commit(self.attempt_noted(attempt, &known).into()).await {
            Ok(()) => Ok(()),
            // Somebody else has asked meanwhile, or knows more.
            Err(CommitError::Conflict(Guard::TransferAttempt)) => match known.state {
                AttemptState::Refused => self.note_late_refusal(attempt, &known).await,
                AttemptState::Sent | AttemptState::Unknown | AttemptState::Done => Ok(()),
            },
            Err(error) => Err(error.into()),
        }
    }

    /// A refusal that comes after another node has asked. Of a transfer, which is never sent again, it still says all.
    async fn note_late_refusal(&self, attempt: &TransferAttempt, refused: &Known) -> Result<(), Error> {
        let attempts = self.store.refund_attempts(attempt.refund_id).await?;
        let is_open = |one: &&TransferAttempt| {
            one.number == attempt.number && matches!(one.state, AttemptState::Sent | AttemptState::Unknown)
        };
        let Some(live) = attempts.iter().find(is_open).filter(|live| live.rail.is_some()) else {
            return self.differ_from_person(attempt).await;
        };
        match self.store.commit(self.attempt_noted(live, refused).into()).await {
            Ok(()) | Err(CommitError::Conflict(Guard::TransferAttempt)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn attempt_noted(&self, attempt: &TransferAttempt, known: &Known) -> RefundWrite {
        let now = TransferAttempt {
            state: known.state,
            bank_reference: known.bank_reference.clone().or_else(|| attempt.bank_reference.clone()),
            answer: Some(known.answer.trim().chars().take(ANSWER_CHARACTERS_MOST).collect()),
            updated_at: self.now(),
            ask_at: known.ask_at,
            ..attempt.clone()
        };
        RefundWrite::AttemptNoted { attempt: now, from: attempt.state, asked: attempt.asked }
    }

    /// Tells a person that books and bank differ about an attempt.
    pub(super) async fn raise(
        &self,
        attempt: &TransferAttempt,
        kind: DifferenceKind,
        theirs: Option<&TransferAttempt>,
    ) -> Result<(), Error> {
        let refund = self.store.refund(attempt.refund_id).await?.ok_or(Error::NotFound("refund"))?;
        let now = self.now();
        let key = DifferenceKey { account_id: attempt.account_id, subject: attempt.reference.clone(), kind };
        let difference = Difference {
            key,
            day: jakarta_day(now),
            payment_id: Some(refund.of.about()),
            ours: Some(if theirs.is_some() { Rupiah::ZERO } else { refund.amount }),
            theirs: theirs.map(|_| refund.amount),
            found_at: now,
            settled: None,
        };
        Ok(self.store.commit(OpeningWrite::DifferenceFound(difference).into()).await?)
    }

    fn settled(&self, ended: Result<Refund, Error>) -> Result<Settled, Error> {
        match ended {
            Ok(_) => Ok(Settled::Yes),
            Err(Error::RefundStuck(_)) => Ok(Settled::Late),
            Err(Error::UnexpectedConflict(CommitError::Conflict(Guard::TransferAttempt))) => Ok(Settled::ByAnother),
            Err(error) => Err(error),
        }
    }
}

/// How a step about an attempt ended.
enum Settled {
    Yes,
    /// Somebody else has stored what became of the attempt.
    ByAnother,
    /// The refund is not on its way any more.
    Late,
}
