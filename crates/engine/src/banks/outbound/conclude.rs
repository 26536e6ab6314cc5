//! What follows from a bank's answer to a request for a code: the payment, a refusal, a code that nobody wants any more, or
//! another look.

use std::time::Duration;

use domain::{
    link::LinkStanding,
    opening::{BankCode, BankJob, BankSend, JobKind, Opening, OpeningState},
    payment::{Payment, Status},
    rules::Invalid,
    time::Timestamp,
};
use gateway::snap::{CallError, IssuedCode, Parameters};
use store::{Change, CommitError, Guard, LinkAttempt, LinkWrite, OpeningWrite, PaymentWrite};

use super::{
    back_off::back_off,
    line::answer_code,
    openings::Try,
    rows::{answer_write, issue_key, issue_service, job, job_done, moved},
};
use crate::{DECIDE_MOST, Engine, Error, NoBank};

/// How long after its expiry a bank is asked whether a payment was paid: banks need a moment to know.
const QUERY_GRACE: Duration = Duration::from_mins(1);
/// How often a bank is asked about a pending payment if it tells of money only once.
const POLL_EVERY: Duration = Duration::from_mins(5);

impl Engine {
    /// Creates the payment, now that its code is there.
    pub(in crate::banks) async fn conclude(
        &self,
        mut opening: Opening,
        code: &BankCode,
        issued: IssuedCode,
        send: Option<&BankSend>,
    ) -> Result<Payment, Error> {
        for _ in 0..DECIDE_MOST {
            let now = self.now();
            if opening.state != OpeningState::Open || opening.generation != code.generation {
                return self.conclude_overtaken(opening, code, &issued).await;
            }
            if now > opening.terms.expires_at {
                self.abandon(&opening, code, "the code came after its expiry").await?;
                return Err(NoBank::Down.into());
            }
            let payment = opening.payment(self.mint(now), issued.code.clone(), now);
            let change = match self.issue_writes(&opening, code, &issued, &payment).await? {
                Ok(change) => change,
                Err(guard) => return self.given_up(&opening, code, guard).await,
            };
            let service = issue_service(opening.terms.method);
            let answered = send.map(|send| answer_write(send, answer_code(service, &Ok::<(), CallError>(())), now));
            match self.store.commit(change.with_all(answered)).await {
                Ok(()) => return Ok(payment),
                Err(CommitError::Conflict(guard)) => {
                    let before = opening.version;
                    opening = self.store.opening(opening.id).await?.ok_or(Error::NotFound("payment"))?;
                    // Other guards fail too where money has made the payment meanwhile.
                    if opening.version == before {
                        return self.given_up(&opening, code, guard).await;
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    /// The code has come, and something else has happened to the opening meanwhile: money has made the payment, or nobody
    /// waits for this code any more.
    async fn conclude_overtaken(
        &self,
        opening: Opening,
        code: &BankCode,
        issued: &IssuedCode,
    ) -> Result<Payment, Error> {
        let OpeningState::Issued { payment_id } = opening.state else {
            self.void_unused(code).await?;
            return Err(NoBank::Down.into());
        };
        let payment = self.known_payment(payment_id).await?;
        // Money for an earlier code may have made it.
        let void = (payment.code != issued.code).then(|| OpeningWrite::JobQueued(job(JobKind::Void, code, self.now())));
        self.store.commit(Change::from(job_done(&issue_key(code), "issued")).with_all(void)).await?;
        Ok(payment)
    }

    /// Has a code voided that came after its opening had been decided about, unless the opening's payment has it.
    async fn void_unused(&self, code: &BankCode) -> Result<(), Error> {
        let opening = self.store.opening(code.opening_id).await?.ok_or(Error::NotFound("payment"))?;
        if opening.payment_id().is_some() && opening.generation == code.generation {
            return Ok(());
        }
        Ok(self.store.commit(OpeningWrite::JobQueued(job(JobKind::Void, code, self.now())).into()).await?)
    }

    /// Everything that the payment writes; or which guard would refuse it.
    async fn issue_writes(
        &self,
        opening: &Opening,
        code: &BankCode,
        issued: &IssuedCode,
        payment: &Payment,
    ) -> Result<Result<Change, Guard>, Error> {
        let now = payment.created_at;
        let change = match self.attempt_writes(opening, payment).await? {
            Ok(change) => change,
            Err(guard) => return Ok(Err(guard)),
        };
        let number =
            opening.terms.method.bank().map(|_| issued.code.clone()).filter(|told| code.number.as_ref() != Some(told));
        // Where the number is ours and the bank has no name of its own for it, its answer told nothing new.
        let told = (number.is_some() || issued.bank_reference.is_some()).then(|| OpeningWrite::CodeTold {
            account_id: code.account_id,
            reference: code.reference.clone(),
            bank_reference: issued.bank_reference.clone(),
            number,
        });
        let account = self.open_account(opening.account_id).await?;
        let first_query = next_look(&account.parameters, opening.terms.expires_at, now);
        Ok(Ok(change
            .with(OpeningWrite::Issued { id: opening.id, version: opening.version, payment_id: payment.id })
            .with_all(told)
            .with(job_done(&issue_key(code), "issued"))
            .with(OpeningWrite::JobQueued(BankJob {
                due_at: Some(first_query),
                created_at: now,
                ..job(JobKind::Query, code, now)
            }))))
    }

    /// What creates the payment, and for the payment of a link what goes with it.
    async fn attempt_writes(&self, opening: &Opening, payment: &Payment) -> Result<Result<Change, Guard>, Error> {
        let created = PaymentWrite::CreatedAtBank { payment: payment.clone() };
        let (Some(link_id), Some(attempt)) = (opening.terms.link_id, &opening.attempt) else {
            return Ok(Ok(created.into()));
        };
        let now = payment.created_at;
        let page = self.link_page(link_id).await?;
        if page.standing != LinkStanding::Open {
            return Ok(Err(Guard::LinkOpen));
        }
        let bounds = self.attempt_bounds(&page.link, attempt.network.as_ref().and_then(|text| text.parse().ok()));
        let mut change = Change::default();
        for id in &attempt.replaces {
            let replaced = self.known_payment(*id).await?;
            if matches!(replaced.status_at(now), Status::Processing | Status::Paid) {
                return Ok(Err(Guard::PaymentVersion));
            }
            if let Ok(transition) = replaced.replace(now) {
                change = change.with(OpeningWrite::VoidQueued { payment_id: *id, at: now });
                change = change.with(moved(&transition.payment));
                change = change.with_all(transition.event.map(|owed| self.event_write(&transition.payment, owed, now)));
            }
        }
        let visitor = attempt.visitor.clone();
        let same_visitor = visitor.map(|visitor| PaymentWrite::VisitorReplaced { link_id, visitor, at: now });
        let recorded = LinkAttempt {
            link_id,
            payment_id: payment.id,
            project_id: payment.terms.project_id,
            visitor: attempt.visitor.clone(),
            network: bounds.network.as_ref().map(|bound| bound.network.clone()),
            at: now,
        };
        Ok(Ok(change
            .with_all(same_visitor)
            .with(LinkWrite::Attempted { id: link_id, at: now, bounds })
            .with(created)
            .with(LinkWrite::AttemptRecorded(recorded))))
    }

    /// Gives the opening up, since its payment cannot be created: the caller judges anew.
    async fn given_up(&self, opening: &Opening, code: &BankCode, guard: Guard) -> Result<Payment, Error> {
        self.abandon(opening, code, "its link or its number was taken meanwhile").await?;
        match guard {
            // The bank has given out a number that another payment still has.
            Guard::AccountNumber => Err(NoBank::Down.into()),
            guard => Err(Error::UnexpectedConflict(CommitError::Conflict(guard))),
        }
    }

    /// Nobody waits for the code any more: it is voided.
    pub(in crate::banks) async fn abandon(&self, opening: &Opening, code: &BankCode, why: &str) -> Result<(), Error> {
        let now = self.now();
        tracing::warn!(opening = %opening.id, why, "a code at a bank was given up and is voided");
        let change = Change::from(OpeningWrite::Abandoned { id: opening.id, version: opening.version, at: now })
            .with(job_done(&issue_key(code), why))
            .with(OpeningWrite::JobQueued(job(JobKind::Void, code, now)));
        match self.store.commit(change).await {
            Ok(()) => Ok(()),
            // It has been issued, refused or abandoned since.
            Err(CommitError::Conflict(Guard::OpeningVersion)) => self.void_unused(code).await,
            Err(error) => Err(error.into()),
        }
    }

    /// The bank has said no, or was not reached: nothing was made there. A code that it made and that is not fit for use must
    /// be voided, and so must one that it may have made: the code of its answer says success, or an earlier call was lost.
    pub(in crate::banks) async fn refused<T>(
        &self,
        attempt: &Try,
        send: &BankSend,
        error: &CallError,
    ) -> Result<T, Error> {
        let Try { opening, code, .. } = attempt;
        let now = self.now();
        let is_made = attempt.may_exist || error.code().starts_with('2');
        let is_unfit = matches!(error, CallError::Refused { code, .. } if is_our_word(code));
        let is_there = is_made || is_unfit;
        let void = is_there.then(|| OpeningWrite::JobQueued(job(JobKind::Void, code, now)));
        let change = Change::from(OpeningWrite::Refused { id: opening.id, version: opening.version, at: now })
            .with(job_done(&issue_key(code), error.code()))
            .with(answer_write(send, error.code().to_owned(), now))
            .with_all(void);
        match self.store.commit(change).await {
            Ok(()) => {}
            Err(CommitError::Conflict(Guard::OpeningVersion)) if is_there => self.void_unused(code).await?,
            Err(CommitError::Conflict(Guard::OpeningVersion)) => {}
            Err(error) => return Err(error.into()),
        }
        Err(match error {
            error if is_about_amount(error.code()) => Invalid::new("amount", "is not one that this bank takes").into(),
            _ => NoBank::Down.into(),
        })
    }

    /// Nobody knows whether the bank has made the code: the job asks.
    pub(in crate::banks) async fn postpone(
        &self,
        attempt: &Try,
        send: &BankSend,
        error: &CallError,
    ) -> Result<(), Error> {
        let now = self.now();
        let write = OpeningWrite::JobPostponed {
            key: issue_key(&attempt.code),
            from: attempt.leased_until,
            // Each code that is asked for anew counts as a try.
            to: now.plus(back_off(attempt.tries.max(attempt.code.generation))),
            outcome: error.code().to_owned(),
        };
        let change = Change::from(write).with(answer_write(send, error.code().to_owned(), now));
        match self.store.commit(change).await {
            // Another node has taken it over.
            Ok(()) | Err(CommitError::Conflict(Guard::JobDue)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// A code of small letters is ours: the bank has made something that is not fit for use.
fn is_our_word(code: &str) -> bool {
    code.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Whether the bank takes no such amount: limits (403xx02) or an amount that it calls invalid (404xx13).
fn is_about_amount(code: &str) -> bool {
    (code.starts_with("403") && code.ends_with("02")) || (code.starts_with("404") && code.ends_with("13"))
}

/// When a bank is asked next about a payment that can still be paid.
pub(in crate::banks) fn next_look(parameters: &Parameters, expires_at: Timestamp, now: Timestamp) -> Timestamp {
    let at_expiry = expires_at.plus(QUERY_GRACE.max(parameters.status_delay));
    if parameters.notify_retries { at_expiry } else { at_expiry.min(now.plus(POLL_EVERY)) }
}
