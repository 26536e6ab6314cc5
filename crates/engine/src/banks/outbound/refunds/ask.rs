//! Asks banks what became of refunds that were sent: by their status, and when that says "not found" for long enough, by the
//! account's statement. It never sends anything anew.

use std::time::Duration;

use domain::{
    bank_difference::DifferenceKind,
    id::BankAccountId,
    project::Project,
    refund::{
        Failure, FailureKind, Refund,
        answer::AttemptFinding,
        doubt::StatementFinding,
        transfer::{AttemptState, TransferAttempt},
    },
    time::{DAY, Timestamp},
};
use futures_util::{StreamExt, stream};
use gateway::snap::{OrderStanding, RefundAsked, RefundReference, Shown, TransferAsked};
use store::{CommitError, Guard};

use super::{
    call::{Question, Reply},
    judged::Known,
    send::{LEASE, code_asked},
};
use crate::{
    Engine, Error,
    banks::{contracts::open_account::OpenAccount, outbound::back_off::back_off},
};

/// Attempts of one account that one look takes, and those that are asked about at once.
const AT_ONCE: i64 = 64;
const IN_FLIGHT_MOST: usize = 8;
/// How often an attempt is asked about once a person has been told.
const FLAGGED_REST: Duration = Duration::from_hours(1);
/// An attempt that is not known for so long is a matter for a person, whatever the profile says.
const FLAGGED_AFTER_LEAST: Duration = Duration::from_mins(30);

impl Engine {
    /// One round over all attempts that are due; answers how many were.
    pub async fn ask_about_refunds(&self) -> Result<usize, Error> {
        let accounts = self.store.accounts_with_refund_attempts(self.now()).await?;
        let each = accounts.into_iter().map(|id| self.ask_account_about_refunds(id));
        Ok(futures_util::future::join_all(each).await.into_iter().sum())
    }

    async fn ask_account_about_refunds(&self, id: BankAccountId) -> usize {
        let attempts = match self.store.refund_attempts_to_ask(id, self.now(), AT_ONCE).await {
            Ok(attempts) => attempts,
            Err(error) => {
                tracing::warn!(%error, account = %id, "looking for refunds to ask about failed and will be retried");
                return 0;
            }
        };
        let count = attempts.len();
        stream::iter(attempts).for_each_concurrent(IN_FLIGHT_MOST, |attempt| self.ask_about_one(attempt)).await;
        count
    }

    async fn ask_about_one(&self, attempt: TransferAttempt) {
        let refund = attempt.refund_id;
        if let Err(error) = Box::pin(self.ask_about_attempt(attempt)).await {
            tracing::warn!(%error, %refund, "asking about a refund failed and will be retried");
        }
    }

    async fn ask_about_attempt(&self, attempt: TransferAttempt) -> Result<(), Error> {
        let now = self.now();
        // The node that moves the time asks.
        let leased = TransferAttempt {
            state: AttemptState::Unknown,
            ask_at: Some(now.plus(LEASE)),
            asked: attempt.asked + 1,
            updated_at: now,
            ..attempt.clone()
        };
        let lease =
            store::RefundWrite::AttemptNoted { attempt: leased.clone(), from: attempt.state, asked: attempt.asked };
        match self.store.commit(lease.into()).await {
            Ok(()) => {}
            Err(CommitError::Conflict(Guard::TransferAttempt)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let refund = self.store.refund(leased.refund_id).await?.ok_or(Error::NotFound("refund"))?;
        let project = self.project(refund.project_id).await?;
        if self.outbound.is_unsent(&leased.reference) {
            let unsent = Known::ended(AttemptState::Refused, None, AttemptFinding::NeverSent.words());
            self.note_attempt(&leased, unsent).await?;
            self.outbound.forget_unsent(&leased.reference);
            return Ok(());
        }
        let open = match self.open_account(leased.account_id).await {
            Ok(open) => open,
            Err(error) => {
                self.ask_later(&leased, unheard(&leased, AttemptFinding::NotCalled.words()), None).await?;
                return Err(error);
            }
        };
        match self.standing_of(&open, &refund, &leased).await? {
            Ok(standing) => self.conclude_standing(&open, &project, &refund, leased, standing).await,
            Err(word) => self.ask_later(&leased, unheard(&leased, &word), Some(&open)).await,
        }
    }

    /// What the bank says about an attempt; or a word for why it says nothing.
    async fn standing_of(
        &self,
        open: &OpenAccount,
        refund: &Refund,
        attempt: &TransferAttempt,
    ) -> Result<Result<OrderStanding, String>, Error> {
        let reply = match attempt.rail {
            Some(rail) => {
                let number = self.refund_number(refund).await?;
                let asked = TransferAsked {
                    rail,
                    reference: &attempt.reference,
                    external_id: &attempt.external_id,
                    bank_reference: attempt.bank_reference.as_deref(),
                    amount: refund.amount,
                    number: number.as_ref().map(|number| number.reveal()).unwrap_or_default(),
                    ordered_at: attempt.sent_at,
                };
                self.ask_bank(open, &Question::Transfer(asked)).await?
            }
            None => {
                let Some((paid, ..)) = self.code_of_refund(refund).await? else {
                    return Ok(Err(AttemptFinding::NoCode.words().to_owned()));
                };
                let refund_no = match open.parameters.refunds.reference {
                    RefundReference::Ours => attempt.reference.as_str(),
                    RefundReference::Issuers => paid.rrn.as_deref().unwrap_or_default(),
                };
                let asked =
                    RefundAsked { code: code_asked(&paid), refund_no, amount: refund.amount, is_whole: paid.is_whole };
                self.ask_bank(open, &Question::Refund(asked)).await?
            }
        };
        Ok(match reply {
            Ok(Reply::Standing(standing)) => Ok(self.standing_alone(open, refund, attempt, standing).await?),
            Ok(_) => Err(AttemptFinding::Unreadable.words().to_owned()),
            Err(error) => Err(error.code().to_owned()),
        })
    }

    /// What the bank says of a refund by code, where it can be about this attempt alone. All refunds of a payment have the issuer's one
    /// reference, so beside another attempt it decides nothing. The others are read after the bank's answer: what it knows of was
    /// stored before.
    async fn standing_alone(
        &self,
        open: &OpenAccount,
        refund: &Refund,
        attempt: &TransferAttempt,
        standing: OrderStanding,
    ) -> Result<OrderStanding, Error> {
        let is_issuers = attempt.rail.is_none() && open.parameters.refunds.reference == RefundReference::Issuers;
        let Some(payment_id) = refund.of.payment().filter(|_| is_issuers) else { return Ok(standing) };
        let mut by_code = 0;
        for other in self.store.refunds_of_payment(payment_id).await? {
            let attempts = self.store.refund_attempts(other.id).await?;
            by_code += attempts.iter().filter(|attempt| attempt.rail.is_none()).count();
        }
        Ok(if by_code == 1 { standing } else { OrderStanding::AskAgain })
    }

    pub(super) async fn conclude_standing(
        &self,
        open: &OpenAccount,
        project: &Project,
        refund: &Refund,
        attempt: TransferAttempt,
        standing: OrderStanding,
    ) -> Result<(), Error> {
        let says_nothing = matches!(standing, OrderStanding::AskAgain | OrderStanding::NotFound);
        if says_nothing && self.send_same_again(open, project, refund, &attempt).await? {
            return Ok(());
        }
        match standing {
            OrderStanding::Done { shown: Shown::Less, .. } if was_repeated(&attempt) => {
                self.ask_later(&attempt, AttemptFinding::NotShown.words(), Some(open)).await
            }
            OrderStanding::Done { bank_reference, .. } => {
                let done = Known::ended(AttemptState::Done, bank_reference, AttemptFinding::Done.words());
                self.conclude_done(project, &attempt, done).await
            }
            OrderStanding::Returned => self.conclude_returned(project, &attempt).await,
            OrderStanding::NotDone => {
                let words = Failure::from(FailureKind::NotCarriedOut).reason();
                let refused = Known::ended(AttemptState::Refused, None, words.clone());
                match attempt.rail {
                    Some(_) => self.conclude_failed(project, &attempt, refused, words).await,
                    None => self.need_account(project, refund.id, words, Some((&attempt, refused))).await,
                }
            }
            OrderStanding::Differs => {
                self.raise(&attempt, DifferenceKind::Amount, None).await?;
                self.ask_later(&attempt, AttemptFinding::Differs.words(), Some(open)).await
            }
            OrderStanding::Waiting => self.ask_later(&attempt, AttemptFinding::OnItsWay.words(), Some(open)).await,
            OrderStanding::AskAgain => {
                self.ask_later(&attempt, unheard(&attempt, AttemptFinding::NotSaid.words()), Some(open)).await
            }
            OrderStanding::NotFound => self.conclude_not_found(open, project, refund, attempt).await,
        }
    }

    /// The bank knows no such order. That is no proof before the profile says so, and then the statement is looked at.
    async fn conclude_not_found(
        &self,
        open: &OpenAccount,
        project: &Project,
        refund: &Refund,
        attempt: TransferAttempt,
    ) -> Result<(), Error> {
        if !is_patience_over(open, &attempt, self.now()) {
            return self.ask_later(&attempt, AttemptFinding::NotFoundYet.words(), Some(open)).await;
        }
        let reading = self.read_statement_of(open, refund, &attempt).await?;
        match reading.map(|reading| reading.found) {
            Some(StatementFinding::Debited) => {
                let done = Known::ended(AttemptState::Done, None, AttemptFinding::OnStatement.words());
                self.conclude_done(project, &attempt, done).await
            }
            Some(StatementFinding::Returned) => self.conclude_returned(project, &attempt).await,
            Some(StatementFinding::OtherAmount) => {
                self.raise(&attempt, DifferenceKind::Amount, None).await?;
                self.ask_later(&attempt, AttemptFinding::OtherAmountOnStatement.words(), Some(open)).await
            }
            Some(StatementFinding::Absent) => {
                self.ask_later(&attempt, AttemptFinding::NotFoundAnywhere.words(), Some(open)).await
            }
            Some(StatementFinding::Unclear) | None => {
                self.ask_later(&attempt, AttemptFinding::NotFound.words(), Some(open)).await
            }
        }
    }

    /// Asks again after a while; a person is told once the profile's patience is over.
    async fn ask_later(
        &self,
        attempt: &TransferAttempt,
        answer: &str,
        open: Option<&OpenAccount>,
    ) -> Result<(), Error> {
        let now = self.now();
        let is_over = open.is_some_and(|open| is_patience_over(open, attempt, now));
        if is_over {
            self.raise(attempt, DifferenceKind::Unanswered, None).await?;
        }
        let days = open.map_or(u32::MAX, |open| open.parameters.transfers.status_days);
        let is_too_old = now > attempt.sent_at.plus(DAY.saturating_mul(days));
        let rest = if is_over { FLAGGED_REST } else { back_off(attempt.asked) };
        let known = Known {
            state: AttemptState::Unknown,
            bank_reference: None,
            answer: kept_answer(attempt, answer),
            // The bank does not say any more what became of it: people decide.
            ask_at: (!is_too_old).then(|| now.plus(rest)),
        };
        self.note_attempt(attempt, known).await
    }
}

/// Whether the time is over in which "not found" proves nothing.
pub(super) fn is_patience_over(open: &OpenAccount, attempt: &TransferAttempt, now: Timestamp) -> bool {
    now > patience_ends(open, attempt)
}

pub(super) fn patience_ends(open: &OpenAccount, attempt: &TransferAttempt) -> Timestamp {
    attempt.sent_at.plus(open.parameters.transfers.not_found_after.max(FLAGGED_AFTER_LEAST))
}

/// What is kept where the bank was not heard: that it said the order was on its way still counts.
fn unheard<'a>(attempt: &TransferAttempt, why: &'a str) -> &'a str {
    if attempt.is_on_its_way() { AttemptFinding::OnItsWay.words() } else { why }
}

/// The code of the answer to the order stays at the beginning: what follows from a later answer depends on it.
fn kept_answer(attempt: &TransferAttempt, answer: &str) -> String {
    let code = attempt.answer.as_deref().and_then(|answer| answer.split(' ').next()).unwrap_or_default();
    let is_code = code.len() == 7 && code.bytes().all(|byte| byte.is_ascii_digit());
    if is_code { format!("{code} {answer}") } else { answer.to_owned() }
}

/// Whether the bank has called the order one that it knew already: then it must show that this is ours.
pub(super) fn was_repeated(attempt: &TransferAttempt) -> bool {
    let code = attempt.answer.as_deref().unwrap_or_default();
    let case = (code.get(..3), code.get(5..7));
    matches!(case, (Some("409"), Some("01")) | (Some("404"), Some("18")))
}

#[cfg(test)]
mod tests {
    use domain::id::mint;

    use super::*;

    #[test]
    fn the_code_of_an_order_stays_with_what_is_heard_later() {
        let check = |before: Option<&str>, expected: &str, is_repeated: bool| {
            let attempt = TransferAttempt {
                refund_id: mint(Timestamp::from_millis(1), [1; 10]),
                number: 1,
                account_id: mint(Timestamp::from_millis(1), [2; 10]),
                reference: "R".to_owned(),
                external_id: "E".to_owned(),
                rail: None,
                state: AttemptState::Unknown,
                bank_reference: None,
                answer: before.map(str::to_owned),
                sent_at: Timestamp::from_millis(1),
                updated_at: Timestamp::from_millis(1),
                ask_at: None,
                asked: 1,
                statement: None,
            };
            assert_eq!(kept_answer(&attempt, "not found"), expected);
            assert_eq!(was_repeated(&attempt), is_repeated);
        };
        check(Some("4041718 inconsistent"), "4041718 not found", true);
        check(Some("4091801 duplicate"), "4091801 not found", true);
        check(Some("5001700 error"), "5001700 not found", false);
        check(Some("timeout it took too long"), "not found", false);
        check(None, "not found", false);
    }
}
