//! What is still to be asked of banks: whether they have made a code, whether it was paid, and that they void it. A job is
//! leased by moving the time at which it is due, so that one node does it; when that node dies, another does it later.

use std::time::Duration;

use domain::{
    bank_difference::{Difference, DifferenceKey, DifferenceKind},
    bank_request::jakarta_day,
    opening::{BankCode, BankJob, BankSend, JobKind, MoneySource, Opening, OpeningState},
    payment::{OwedEvent, Payment, State, Status},
    time::{DAY, Timestamp},
};
use gateway::{
    BoxFuture,
    snap::{CallContext, CallError, CodeAsked, CodeKind, IssuedCode, Retry, Service, SnapClient, Standing, Voided},
};
use store::{Change, CommitError, Guard, OpeningWrite};

use super::{
    back_off::back_off,
    conclude::next_look,
    line::{answer_code, not_set_up},
    openings::{GIVE_UP_AFTER, LEASE, Try},
    rows::{answer_write, code_kind, issue_service, job, job_ended, moved, our_name},
};
use crate::{Engine, Error, banks::contracts::open_account::OpenAccount};

/// The wait once a person has been told that the bank does not answer.
const BACK_OFF_FLAGGED: Duration = Duration::from_hours(1);
/// A bank that could not be asked about a code for so long is a matter for a person.
const FLAGGED_AFTER: Duration = DAY;

/// A job with all that it is about, leased.
struct Task<'a> {
    job: BankJob,
    open: &'a OpenAccount,
    opening: Opening,
    code: BankCode,
    leased_until: Timestamp,
}

/// One of the calls that ask something about a code.
type CodeCall<T> =
    for<'a> fn(&'a SnapClient, &'a CallContext<'a>, &'a CodeAsked<'a>) -> BoxFuture<'a, Result<T, CallError>>;

impl Engine {
    /// Does one job, unless another node has taken it.
    pub(crate) async fn do_job(&self, job: BankJob) -> Result<(), Error> {
        let (Some(due_at), now) = (job.due_at, self.now()) else { return Ok(()) };
        let opening = self.store.opening(job.key.opening_id).await?.ok_or(Error::NotFound("opening"))?;
        let code = self.store.code_of_generation(opening.id, job.key.generation).await?;
        let code = code.ok_or(Error::NotFound("code"))?;
        let leased_until = now.plus(LEASE);
        let lease = OpeningWrite::JobLeased { key: job.key, from: due_at, to: leased_until };
        match self.store.commit(lease.into()).await {
            Ok(()) => {}
            Err(CommitError::Conflict(Guard::JobDue)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let job = BankJob { tries: job.tries + 1, ..job };
        let open = match self.open_account(job.account_id).await {
            Ok(open) => open,
            // Its settings are not understood any more, or its secrets do not open.
            Err(error) => {
                self.postpone_job(job, leased_until, now.plus(back_off(job.tries)), "settings").await?;
                return Err(error);
            }
        };
        let task = Task { job, open: &open, opening, code, leased_until };
        match job.key.kind {
            JobKind::Issue => Box::pin(self.do_issue(task)).await,
            JobKind::Query => Box::pin(self.do_query(task)).await,
            JobKind::Void => Box::pin(self.do_void(task)).await,
        }
    }

    /// Finds out whether the bank has made the code, and has it made if it has not.
    async fn do_issue(&self, task: Task<'_>) -> Result<(), Error> {
        let Task { opening, code, open, .. } = &task;
        let now = self.now();
        if opening.state != OpeningState::Open || opening.generation != code.generation {
            return self.end(&task, "overtaken").await;
        }
        if now > opening.terms.expires_at || now > opening.created_at.plus(GIVE_UP_AFTER) {
            return self.abandon(opening, code, "no bank has answered in time").await;
        }
        match (code_kind(opening.terms.method), open.parameters.retry) {
            (CodeKind::Qr, Retry::Same) => self.issue_once_more(task).await,
            (CodeKind::Qr, Retry::Fresh) => self.issue_another(task).await,
            (CodeKind::Qr, Retry::QueryFirst) | (CodeKind::Va, _) => self.look_for_code(task).await,
        }
    }

    /// Asks whether the code exists: if so it is used, and if not it is made.
    async fn look_for_code(&self, task: Task<'_>) -> Result<(), Error> {
        let standing = match self.query_code(task.open, &task.opening, &task.code).await? {
            Ok(standing) => standing,
            Err(error) => return self.try_later(&task, error.code()).await,
        };
        let Task { opening, code, .. } = &task;
        match (standing, code_kind(opening.terms.method)) {
            (Standing::Paid(money), _) => {
                self.record_money(&task.open.account, Some(code), &our_name(code), money, MoneySource::Query).await
            }
            (Standing::Unpaid { code: Some(issued) }, _) => self.adopt(&task, issued).await,
            (Standing::Unpaid { code: None } | Standing::Processing, CodeKind::Va) => match code.number.clone() {
                Some(number) => self.adopt(&task, IssuedCode { code: number, bank_reference: None }).await,
                None => self.issue_another(task).await,
            },
            (Standing::NotFound, CodeKind::Va) => self.issue_once_more(task).await,
            // What the bank has made cannot be shown to anybody, so nobody can pay it.
            (Standing::NotFound | Standing::Unpaid { code: None }, CodeKind::Qr) => self.issue_another(task).await,
            (Standing::Ended | Standing::Refunded, _) => self.issue_another(task).await,
            (Standing::Processing, CodeKind::Qr) | (Standing::AskAgain, _) => self.try_later(&task, "pending").await,
        }
    }

    async fn adopt(&self, task: &Task<'_>, issued: IssuedCode) -> Result<(), Error> {
        ended(Box::pin(self.conclude(task.opening.clone(), &task.code, issued, None)).await)
    }

    /// Asks for the same code again, under the same reference.
    async fn issue_once_more(&self, task: Task<'_>) -> Result<(), Error> {
        let Task { open, opening, code, leased_until, job } = task;
        let now = self.now();
        let send = self.new_send(open, &code, issue_service(opening.terms.method), now).await?;
        // What was asked before has used up a part of the lease.
        let renewed = now.plus(LEASE);
        let outcome = "asked again".to_owned();
        let lease = OpeningWrite::JobPostponed { key: job.key, from: leased_until, to: renewed, outcome };
        match self.store.commit(Change::from(lease).with(OpeningWrite::Sent(send.clone()))).await {
            Ok(()) => {}
            Err(CommitError::Conflict(Guard::JobDue)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let attempt = Try { opening, code, send, leased_until: renewed, may_exist: true, tries: job.tries };
        ended(Box::pin(self.issue(open, attempt)).await)
    }

    /// Asks for another code, and has the one before it voided.
    async fn issue_another(&self, task: Task<'_>) -> Result<(), Error> {
        let Task { open, opening, code, .. } = task;
        match self.reopen(open, opening, Some(&code)).await? {
            Some(attempt) => ended(Box::pin(self.issue(open, attempt)).await),
            None => Ok(()),
        }
    }

    /// Asks whether the code was paid.
    async fn do_query(&self, task: Task<'_>) -> Result<(), Error> {
        let payment = match task.opening.payment_id() {
            Some(id) => Some(self.known_payment(id).await?),
            None => None,
        };
        let is_paid = match &payment {
            Some(payment) => self.is_paid_by_its_code(payment).await?,
            None => false,
        };
        let may_wait = |payment: &Payment| !payment.status_at(self.now()).is_final() || payment.state == State::Pending;
        let standing = match self.query_code(task.open, &task.opening, &task.code).await? {
            Ok(standing) => standing,
            Err(error) => return self.try_later(&task, error.code()).await,
        };
        let code = &task.code;
        match standing {
            Standing::Paid(money) => {
                self.record_money(&task.open.account, Some(code), &our_name(code), money, MoneySource::Query).await?;
                self.look_on(&task, "paid").await
            }
            Standing::Refunded => {
                self.flag(&task, DifferenceKind::Refunded, payment.as_ref()).await?;
                self.look_on(&task, "refunded").await
            }
            Standing::AskAgain | Standing::Processing if is_paid => self.end(&task, "paid").await,
            Standing::AskAgain => self.try_later(&task, "pending").await,
            Standing::Processing => {
                self.record_standing(code, &Standing::Processing).await?;
                self.try_later(&task, "processing").await
            }
            Standing::Ended | Standing::NotFound | Standing::Unpaid { .. } => match payment {
                Some(payment) if may_wait(&payment) => self.conclude_unpaid(&task, payment, &standing, "unpaid").await,
                _ => self.end(&task, "unpaid").await,
            },
        }
    }

    /// Whether money for the payment's own code has paid it, and not money that was held for a decision.
    async fn is_paid_by_its_code(&self, payment: &Payment) -> Result<bool, Error> {
        if !matches!(payment.state, State::Paid { .. }) {
            return Ok(false);
        }
        let held = self.receipts_of_payment(payment.terms.project_id, payment.id).await?;
        Ok(!held.iter().any(|receipt| receipt.pays(payment.id)))
    }

    /// The bank knows of money. If that has not paid the payment, the payment still waits, or expires.
    async fn look_on(&self, task: &Task<'_>, outcome: &str) -> Result<(), Error> {
        let opening = self.store.opening(task.opening.id).await?.ok_or(Error::NotFound("opening"))?;
        let payment = match opening.payment_id() {
            Some(id) => self.known_payment(id).await?,
            None => return self.end(task, outcome).await,
        };
        match payment.state {
            State::Pending => self.conclude_unpaid(task, payment, &Standing::Unpaid { code: None }, outcome).await,
            _ => self.end(task, outcome).await,
        }
    }

    /// The bank has said that the code of a payment that we wait for is not paid.
    async fn conclude_unpaid(
        &self,
        task: &Task<'_>,
        payment: Payment,
        standing: &Standing,
        outcome: &str,
    ) -> Result<(), Error> {
        let now = self.now();
        let has_expired = payment.status_at(now) == Status::Expired;
        if payment.state == State::Pending && has_expired {
            let told = self.event_write(&payment, OwedEvent::Expired, now);
            let expired = moved(&Payment { state: State::Expired, ..payment });
            let change = Change::from(expired).with(told).with(job_ended(task.job.key, task.leased_until, outcome));
            return match self.store.commit(change).await {
                // Something has happened to it: ask again.
                Ok(()) | Err(CommitError::Conflict(Guard::PaymentVersion)) => Ok(()),
                Err(error) => Err(error.into()),
            };
        }
        if *standing == Standing::Ended {
            self.record_standing(&task.code, standing).await?;
            return self.end(task, "ended").await;
        }
        match payment.state {
            State::Processing => self.try_later(task, outcome).await,
            _ => {
                let next = next_look(&task.open.parameters, payment.terms.expires_at, now);
                self.postpone_to(task, next, outcome).await
            }
        }
    }

    /// Has the code voided, where the bank can do that.
    async fn do_void(&self, task: Task<'_>) -> Result<(), Error> {
        let kind = code_kind(task.opening.terms.method);
        let Some(service) = task.open.parameters.void_service(kind) else {
            return self.end(&task, "the bank cannot void it").await;
        };
        match self.void_code(&task, service).await? {
            Ok(Voided::Done) => self.end(&task, "voided").await,
            Ok(Voided::NotFound) => self.end(&task, "unknown there").await,
            Ok(Voided::Paid) => {
                let query = OpeningWrite::JobQueued(job(JobKind::Query, &task.code, self.now()));
                let ended = job_ended(task.job.key, task.leased_until, "paid");
                self.store.commit(Change::from(ended).with(query)).await?;
                Ok(())
            }
            Err(error) => self.try_later(&task, error.code()).await,
        }
    }

    /// Asks the bank where a code stands.
    pub(in crate::banks) async fn query_code(
        &self,
        open: &OpenAccount,
        opening: &Opening,
        code: &BankCode,
    ) -> Result<Result<Standing, CallError>, Error> {
        let service = open.parameters.query_service(code_kind(opening.terms.method));
        let query: CodeCall<Standing> = |client, context, question| Box::pin(client.query(context, question));
        self.call_about(open, (opening, code), service, query).await
    }

    async fn void_code(&self, task: &Task<'_>, service: Service) -> Result<Result<Voided, CallError>, Error> {
        let void: CodeCall<Voided> = |client, context, question| Box::pin(client.void(context, question));
        self.call_about(task.open, (&task.opening, &task.code), service, void).await
    }

    /// Calls the bank about a code; once more with a new token if the bank has refused ours.
    async fn call_about<T>(
        &self,
        open: &OpenAccount,
        (opening, code): (&Opening, &BankCode),
        service: Service,
        make: CodeCall<T>,
    ) -> Result<Result<T, CallError>, Error> {
        let question = question_about(opening, code);
        let Ok(outgoing) = open.outgoing() else { return Ok(Err(not_set_up())) };
        let mut before: Option<(BankSend, Result<T, CallError>)> = None;
        for last in [false, true] {
            // Only what is really sent is stored.
            let call = match self.dial(open, outgoing).await {
                Ok(call) => call,
                Err(error) => return Ok(Err(error)),
            };
            let send = match &before {
                None => self.stored_send(open, code, service).await?,
                Some((send, result)) => self.sent_again(open, code, service, send, result).await?,
            };
            let result = make(&call.client, &call.context(open, outgoing, &send.external_id), &question).await;
            self.hang_up(call, open, service, &result);
            if last || !matches!(result, Err(CallError::TokenRefused(_))) {
                self.store.commit(answer_write(&send, answer_code(service, &result), self.now()).into()).await?;
                return Ok(result);
            }
            before = Some((send, result));
        }
        Err(Error::Contended)
    }

    /// A call, stored before it is sent.
    async fn stored_send(&self, open: &OpenAccount, code: &BankCode, service: Service) -> Result<BankSend, Error> {
        let send = self.new_send(open, code, service, self.now()).await?;
        self.store.commit(OpeningWrite::Sent(send.clone()).into()).await?;
        Ok(send)
    }

    async fn end(&self, task: &Task<'_>, outcome: &str) -> Result<(), Error> {
        Ok(self.store.commit(job_ended(task.job.key, task.leased_until, outcome).into()).await?)
    }

    /// Tries again after a while; a person is told when that has not helped for a day.
    async fn try_later(&self, task: &Task<'_>, outcome: &str) -> Result<(), Error> {
        let now = self.now();
        let since = match task.job.key.kind {
            JobKind::Query => task.job.created_at.max(task.opening.terms.expires_at),
            JobKind::Issue | JobKind::Void => task.job.created_at,
        };
        let mut rest = back_off(task.job.tries);
        if now > since.plus(FLAGGED_AFTER) {
            let payment = match task.opening.payment_id() {
                Some(id) => Some(self.known_payment(id).await?),
                None => None,
            };
            self.flag(task, DifferenceKind::Unanswered, payment.as_ref()).await?;
            rest = BACK_OFF_FLAGGED;
        }
        self.postpone_to(task, now.plus(rest), outcome).await
    }

    async fn postpone_to(&self, task: &Task<'_>, to: Timestamp, outcome: &str) -> Result<(), Error> {
        self.postpone_job(task.job, task.leased_until, to, outcome).await
    }

    async fn postpone_job(
        &self,
        job: BankJob,
        leased_until: Timestamp,
        to: Timestamp,
        outcome: &str,
    ) -> Result<(), Error> {
        let write = OpeningWrite::JobPostponed { key: job.key, from: leased_until, to, outcome: outcome.to_owned() };
        match self.store.commit(write.into()).await {
            // Somebody has asked for it to be done sooner, or another node has taken it over.
            Ok(()) | Err(CommitError::Conflict(Guard::JobDue)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn flag(&self, task: &Task<'_>, kind: DifferenceKind, payment: Option<&Payment>) -> Result<(), Error> {
        let now = self.now();
        let key = DifferenceKey { account_id: task.open.id(), subject: task.code.reference.clone(), kind };
        let difference = Difference {
            key,
            day: jakarta_day(now),
            payment_id: payment.map(|payment| payment.id),
            ours: Some(task.opening.terms.amount),
            theirs: None,
            found_at: now,
            settled: None,
        };
        Ok(self.store.commit(OpeningWrite::DifferenceFound(difference).into()).await?)
    }
}

fn question_about<'a>(opening: &'a Opening, code: &'a BankCode) -> CodeAsked<'a> {
    CodeAsked {
        kind: code_kind(opening.terms.method),
        reference: &code.reference,
        bank_reference: code.bank_reference.as_deref(),
        number: code.number.as_deref(),
        amount: opening.terms.amount,
        created_at: code.asked_at,
    }
}

/// A job is done whether or not the bank has issued the code; only what keeps us from knowing is an error.
fn ended<T>(outcome: Result<T, Error>) -> Result<(), Error> {
    match outcome {
        Ok(_) | Err(Error::NoBank(_) | Error::Invalid(_) | Error::UnexpectedConflict(_)) => Ok(()),
        Err(error) => Err(error),
    }
}
