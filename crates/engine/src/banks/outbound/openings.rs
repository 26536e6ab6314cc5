//! Having a bank issue the code of a payment. The attempt is committed first, then the bank is called, then the payment is
//! committed; whatever happens in between, the job of the attempt finds out what the bank has done.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{
    id::OpeningId,
    opening::{BankCode, BankSend, JobKey, JobKind, Opening, OpeningState, bank_reference},
    payment::{Payment, PaymentTerms},
    time::Timestamp,
};
use gateway::snap::{CallError, CodeKind, CodeOrder, IssuedCode, Numbers, Service};
use rand::Rng;
use store::{Change, CommitError, Guard, OpeningWrite};

use super::{
    line::{answer_code, not_set_up},
    rows::{answer_write, code_kind, issue_job, issue_key, issue_service, job, job_done},
};
use crate::{Engine, Error, NoBank, banks::contracts::open_account::OpenAccount, besides::Besides};

/// How long a request waits for a code. The work goes on afterwards.
const WAIT_MOST: Duration = Duration::from_secs(25);
/// How often a waiting request looks without having been notified.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// How long the node that calls the bank has for it: longer than a token, a call and its repetition can take.
pub(in crate::banks) const LEASE: Duration = Duration::from_mins(1);
/// An attempt that has led to nothing for so long is given up.
pub(in crate::banks) const GIVE_UP_AFTER: Duration = Duration::from_mins(10);
/// How often another number is drawn, or another external id.
const DRAW_MOST: usize = 8;

/// One try to have the bank issue a code, as it was committed.
pub(in crate::banks) struct Try {
    pub(in crate::banks) opening: Opening,
    pub(in crate::banks) code: BankCode,
    pub(in crate::banks) send: BankSend,
    /// The end of this node's lease of the job.
    pub(in crate::banks) leased_until: Timestamp,
    /// An earlier call may have made the code.
    pub(in crate::banks) may_exist: bool,
    /// How often the bank was asked for this code.
    pub(in crate::banks) tries: i64,
}

impl Engine {
    /// Commits the attempt with the writes of `besides`, and has the bank issue its code.
    pub(crate) async fn open_at_bank(
        &self,
        open: Arc<OpenAccount>,
        opening: Opening,
        besides: Besides<'_>,
    ) -> Result<Payment, Error> {
        if self.outbound.is_down(open.id(), self.now()) {
            return Err(NoBank::Down.into());
        }
        for _ in 0..DRAW_MOST {
            let now = self.now();
            let (code, send) = self.new_code(&open, &opening, now).await?;
            let job = issue_job(&opening, &code, now.plus(LEASE), now);
            let opened = OpeningWrite::Opened { opening: Box::new(opening.clone()), code: code.clone() };
            let change = Change::default().with_all(besides(&opening.id.to_string())).with(opened);
            let change = change.with(OpeningWrite::JobQueued(job)).with(OpeningWrite::Sent(send.clone()));
            match self.store.commit(change).await {
                Ok(()) => {
                    let attempt =
                        Try { opening, code, send, leased_until: now.plus(LEASE), may_exist: false, tries: 1 };
                    return self.issue_and_wait(open, attempt).await;
                }
                Err(CommitError::Conflict(Guard::AccountNumber | Guard::ExternalId)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    /// The payment of an attempt that an earlier request has begun: waits for it, finishes it, or begins it anew when the
    /// bank has refused it.
    pub(crate) async fn follow_opening(&self, id: OpeningId) -> Result<Payment, Error> {
        let deadline = Instant::now() + WAIT_MOST;
        let mut signal = self.store.commit_signal();
        loop {
            let opening = self.store.opening(id).await?.ok_or(Error::NotFound("payment"))?;
            match opening.state {
                OpeningState::Issued { payment_id } => {
                    self.store.confirm().await?;
                    return self.known_payment(payment_id).await;
                }
                // A customer who tries again makes a new attempt.
                OpeningState::Refused { .. } | OpeningState::Abandoned { .. } if opening.terms.link_id.is_some() => {
                    return Err(NoBank::Down.into());
                }
                OpeningState::Refused { .. } | OpeningState::Abandoned { .. } => return self.open_again(opening).await,
                OpeningState::Open if self.outbound.is_down(opening.account_id, self.now()) => {
                    return Err(NoBank::Down.into());
                }
                OpeningState::Open => {}
            }
            let key = JobKey { opening_id: id, kind: JobKind::Issue, generation: opening.generation };
            let job = self.store.bank_job(key).await?;
            if let Some(job) = job.filter(|job| job.due_at.is_some_and(|due| due <= self.now())) {
                self.spawn_and_wait(move |engine| async move { engine.do_job(job).await }, deadline).await?;
                continue;
            }
            if Instant::now() >= deadline {
                return Err(NoBank::Down.into());
            }
            // Whether it has changed or the time is over, the loop looks.
            let _ = tokio::time::timeout(LOOK_AGAIN, signal.changed()).await;
        }
    }

    /// The payment of an attempt of a link, once its code is there; none if the bank has refused it, since the customer
    /// then tries anew.
    pub(crate) async fn opening_leads_to(&self, id: OpeningId) -> Result<Option<Payment>, Error> {
        let opening = self.store.opening(id).await?.ok_or(Error::NotFound("payment"))?;
        match opening.state {
            OpeningState::Refused { .. } | OpeningState::Abandoned { .. } => Ok(None),
            OpeningState::Open | OpeningState::Issued { .. } => self.follow_opening(id).await.map(Some),
        }
    }

    /// Asks for another code after the bank has refused one, or after nobody waited for it any more. The code before it was
    /// never made, was shown to nobody, and has its void where it may exist.
    async fn open_again(&self, opening: Opening) -> Result<Payment, Error> {
        let project = self.project(opening.terms.project_id).await?;
        let open = self.bank_issuer(&project, opening.terms.method).await?;
        if self.outbound.is_down(open.id(), self.now()) {
            return Err(NoBank::Down.into());
        }
        let id = opening.id;
        let lifetime = opening.created_at.until(opening.terms.expires_at);
        let now = self.now();
        let terms = PaymentTerms { expires_at: now.plus(lifetime), ..opening.terms };
        let renewed = Opening { created_at: now, terms, ..opening };
        match self.reopen(&open, renewed, None).await? {
            Some(attempt) => self.issue_and_wait(open, attempt).await,
            // Another request was faster.
            None => Box::pin(self.follow_opening(id)).await,
        }
    }

    /// Commits that the bank is asked for another code of the opening; none if the opening has changed meanwhile. The code
    /// before it is voided where `superseded` names it.
    pub(in crate::banks) async fn reopen(
        &self,
        open: &OpenAccount,
        opening: Opening,
        superseded: Option<&BankCode>,
    ) -> Result<Option<Try>, Error> {
        for _ in 0..DRAW_MOST {
            let now = self.now();
            let next = Opening {
                account_id: open.id(),
                generation: opening.generation + 1,
                state: OpeningState::Open,
                ..opening.clone()
            };
            let (code, send) = self.new_code(open, &next, now).await?;
            let write = OpeningWrite::Reopened {
                id: opening.id,
                version: opening.version,
                account_id: open.id(),
                created_at: opening.created_at,
                expires_at: opening.terms.expires_at,
                code: code.clone(),
            };
            let change = Change::from(write)
                .with(OpeningWrite::JobQueued(issue_job(&next, &code, now.plus(LEASE), now)))
                .with(OpeningWrite::Sent(send.clone()))
                .with_all(superseded.map(|before| job_done(&issue_key(before), "replaced")))
                .with_all(superseded.map(|before| OpeningWrite::JobQueued(job(JobKind::Void, before, now))));
            match self.store.commit(change).await {
                Ok(()) => {
                    let opening = Opening { version: opening.version + 1, ..next };
                    let leased_until = now.plus(LEASE);
                    return Ok(Some(Try { opening, code, send, leased_until, may_exist: false, tries: 1 }));
                }
                Err(CommitError::Conflict(Guard::OpeningVersion)) => return Ok(None),
                Err(CommitError::Conflict(Guard::AccountNumber | Guard::ExternalId)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    /// A code that the bank shall be asked for, and the call that asks.
    async fn new_code(
        &self,
        open: &OpenAccount,
        opening: &Opening,
        now: Timestamp,
    ) -> Result<(BankCode, BankSend), Error> {
        let mut bits = [0; 16];
        rand::rng().fill_bytes(&mut bits);
        let number = match code_kind(opening.terms.method) {
            CodeKind::Va if open.parameters.numbers == Numbers::Ours => Some(open.drawn_number()),
            CodeKind::Va | CodeKind::Qr => None,
        };
        let code = BankCode {
            account_id: open.id(),
            opening_id: opening.id,
            generation: opening.generation,
            reference: bank_reference(u128::from_be_bytes(bits)),
            bank_reference: None,
            number,
            asked_at: now,
        };
        let send = self.first_send(open, &code, issue_service(opening.terms.method), now).await?;
        Ok((code, send))
    }

    /// Runs the call in a task of its own and waits for it, for as long as a request may take.
    async fn issue_and_wait(&self, open: Arc<OpenAccount>, attempt: Try) -> Result<Payment, Error> {
        let deadline = Instant::now() + WAIT_MOST;
        self.spawn_and_wait(move |engine| async move { engine.issue(&open, attempt).await }, deadline).await
    }

    async fn spawn_and_wait<T: Send + 'static, F>(
        &self,
        work: impl FnOnce(Engine) -> F,
        deadline: Instant,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let place = self.outbound.enter().ok_or(NoBank::Down)?;
        let work = work(self.clone());
        let task = tokio::spawn(async move {
            let _place = place;
            work.await
        });
        match tokio::time::timeout_at(deadline.into(), task).await {
            Ok(Ok(outcome)) => outcome,
            // It took too long, or it panicked: its job goes on.
            Ok(Err(_)) | Err(_) => Err(NoBank::Down.into()),
        }
    }

    /// Asks the bank for the code and commits what follows.
    pub(in crate::banks) async fn issue(&self, open: &OpenAccount, attempt: Try) -> Result<Payment, Error> {
        let (result, send) = self.call_issue(open, &attempt).await?;
        match result {
            Ok(issued) => Box::pin(self.conclude(attempt.opening, &attempt.code, issued, Some(&send))).await,
            Err(error) if is_open(&attempt, &error) => {
                self.postpone(&attempt, &send, &error).await?;
                Err(NoBank::Down.into())
            }
            Err(error) => self.refused(&attempt, &send, &error).await,
        }
    }

    /// The call itself; once more with a new token if the bank has refused ours.
    async fn call_issue(
        &self,
        open: &OpenAccount,
        attempt: &Try,
    ) -> Result<(Result<IssuedCode, CallError>, BankSend), Error> {
        let Try { opening, code, .. } = attempt;
        let service = issue_service(opening.terms.method);
        let name = match (&opening.terms.checkout, code_kind(opening.terms.method)) {
            // The bank writes into a QR by what name it knows the merchant.
            (_, CodeKind::Qr) => String::new(),
            (Some(checkout), _) if !checkout.customer.name.is_empty() => checkout.customer.name.clone(),
            _ => self.project(opening.terms.project_id).await?.merchant.name.clone(),
        };
        let order = CodeOrder {
            kind: code_kind(opening.terms.method),
            reference: &code.reference,
            number: code.number.as_deref(),
            name: &name,
            amount: opening.terms.amount,
            expires_at: opening.terms.expires_at,
        };
        let mut send = attempt.send.clone();
        let Ok(outgoing) = open.outgoing() else { return Ok((Err(not_set_up()), send)) };
        for last in [false, true] {
            let call = match self.dial(open, outgoing).await {
                Ok(call) => call,
                Err(error) => return Ok((Err(error), send)),
            };
            let result = call.client.issue(&call.context(open, outgoing, &send.external_id), &order).await;
            self.hang_up(call, open, service, &result);
            if last || !matches!(result, Err(CallError::TokenRefused(_))) {
                return Ok((result, send));
            }
            send = self.sent_again(open, code, service, &send, &result).await?;
        }
        Err(Error::Contended)
    }

    /// Commits that a call is repeated, with a new external id.
    pub(in crate::banks) async fn sent_again<T>(
        &self,
        open: &OpenAccount,
        code: &BankCode,
        service: Service,
        before: &BankSend,
        result: &Result<T, CallError>,
    ) -> Result<BankSend, Error> {
        let now = self.now();
        let send = self.new_send(open, code, service, now).await?;
        let change = Change::from(answer_write(before, answer_code(service, result), now));
        self.store.commit(change.with(OpeningWrite::Sent(send.clone()))).await?;
        Ok(send)
    }
}

/// Whether the code may be at the bank though the call has failed. A call that repeats another says nothing about that one
/// unless the bank has understood it.
fn is_open(attempt: &Try, error: &CallError) -> bool {
    match error {
        CallError::Unknown(_) => true,
        CallError::Refused { .. } => false,
        CallError::Unavailable(_) | CallError::TokenRefused(_) | CallError::Misconfigured(_) => attempt.may_exist,
    }
}
