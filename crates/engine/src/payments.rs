//! Direct payments: created once per Idempotency-Key, read by their own project only.

use std::{str::FromStr, sync::Arc};

use domain::{
    id::{OpeningId, PaymentId, ProjectId},
    idempotency::Idempotency,
    opening::{Opening, OpeningAttempt, OpeningState},
    orders::{PaymentOrder, PaymentRequest},
    payment::Payment,
    project::Project,
};
use store::{Change, CommitError, Guard, Listed, PaymentFilter, PaymentWrite, Window};

use crate::{
    Engine, Error, NoBank, OpenAccount,
    banks::Issuer,
    besides::{Besides, bind},
};

/// How often another account number is tried when one is still in use.
const ISSUE_MOST: usize = 8;

/// A resource that this request created, or an earlier request with the same Idempotency-Key.
#[derive(Debug)]
pub enum Created<T> {
    New(T),
    Replayed(T),
}

/// What a key leads to that was used to create a payment.
pub(crate) enum Attempted {
    Payment(PaymentId),
    /// A bank was asked for the code; the payment follows.
    Opening(OpeningId),
}

impl FromStr for Attempted {
    type Err = type_safe_id::Error;

    fn from_str(text: &str) -> Result<Attempted, Self::Err> {
        text.parse().map(Attempted::Payment).or_else(|_| text.parse().map(Attempted::Opening))
    }
}

impl Engine {
    pub async fn create_payment(
        &self,
        project: &Project,
        idempotency: Idempotency,
        request: PaymentRequest,
    ) -> Result<Created<Payment>, Error> {
        self.create_payment_with(project, idempotency, request, &|_| Vec::new()).await
    }

    /// Creates a payment, and commits the writes of `besides` with it.
    pub(crate) async fn create_payment_with(
        &self,
        project: &Project,
        idempotency: Idempotency,
        request: PaymentRequest,
        besides: Besides<'_>,
    ) -> Result<Created<Payment>, Error> {
        let order = match request.check(project) {
            Ok(order) => order,
            Err(invalid) => return self.replayed_or(project, &idempotency, invalid.into()).await,
        };
        let draft = self.draft(project, order);
        let issuer = match self.issuer(project, draft.terms.method).await {
            Ok(issuer) => issuer,
            Err(Error::Store(error)) => return Err(error.into()),
            Err(error) => return self.replayed_or(project, &idempotency, error).await,
        };
        // Most keys are new, so the payment is committed first, and the key is looked up where that fails. But a bank is never
        // asked for a second code, and a request that is repeated shall not wait for a commit.
        let is_looked_up = self.recent_keys.note(&idempotency) || issuer.is_asked();
        if is_looked_up && let Some(payment) = self.replayed_payment(project, &idempotency).await? {
            return Ok(Created::Replayed(payment));
        }
        let besides = |resource: &str| {
            let mut writes = bind(Some(&idempotency), resource);
            writes.extend(besides(resource));
            writes
        };
        let created = match issuer {
            Issuer::Bank(open) => Box::pin(self.issue_at_bank(open, &draft, None, &besides)).await,
            issuer => {
                let change = |payment: &Payment| {
                    let created = PaymentWrite::Created { payment: payment.clone() };
                    Change::default().with_all(besides(&payment.id.to_string())).with(created)
                };
                self.issue_and_commit(project, &issuer, draft, change).await
            }
        };
        match created {
            Ok(payment) => Ok(Created::New(payment)),
            Err(Error::UnexpectedConflict(CommitError::Conflict(Guard::IdempotencyKey))) => {
                self.replayed_or(project, &idempotency, Error::Contended).await
            }
            Err(error @ (Error::Invalid(_) | Error::NoBank(_) | Error::Contended)) if !is_looked_up => {
                self.replayed_or(project, &idempotency, error).await
            }
            Err(error) => Err(error),
        }
    }

    /// A key that was used before returns its payment, even if the rules or the bank would reject the request now. Otherwise
    /// the request fails with `error`.
    async fn replayed_or(
        &self,
        project: &Project,
        idempotency: &Idempotency,
        error: Error,
    ) -> Result<Created<Payment>, Error> {
        let payment = self.replayed_payment(project, idempotency).await?;
        payment.map(Created::Replayed).ok_or(error)
    }

    async fn replayed_payment(&self, project: &Project, idempotency: &Idempotency) -> Result<Option<Payment>, Error> {
        match self.bound_to(idempotency).await? {
            Some(Attempted::Payment(id)) => self.payment(project.id, id).await.map(Some),
            Some(Attempted::Opening(id)) => Box::pin(self.follow_opening(id)).await.map(Some),
            None => Ok(None),
        }
    }

    /// The payment that is ordered, without its code.
    fn draft(&self, project: &Project, order: PaymentOrder) -> Payment {
        let now = self.now();
        let fee = self.fees(project).fee(order.method.kind(), order.amount);
        Payment::pending(self.mint(now), order.terms(project.id, fee, now), String::new(), now)
    }

    /// Has a bank issue the code of `draft`, and creates the payment when the code is there.
    pub(crate) async fn issue_at_bank(
        &self,
        open: Arc<OpenAccount>,
        draft: &Payment,
        attempt: Option<OpeningAttempt>,
        besides: Besides<'_>,
    ) -> Result<Payment, Error> {
        Issuer::Bank(Arc::clone(&open)).check(draft.terms.amount, draft.created_at.until(draft.terms.expires_at))?;
        let opening = Opening {
            id: self.mint(draft.created_at),
            account_id: open.id(),
            terms: draft.terms.clone(),
            attempt,
            state: OpeningState::Open,
            generation: 1,
            created_at: draft.created_at,
            version: 1,
        };
        self.open_at_bank(open, opening, besides).await
    }

    /// Has the simulator issue a code for `draft`, or draws a number of a bank account, and commits the change that creates
    /// the payment.
    pub(crate) async fn issue_and_commit(
        &self,
        project: &Project,
        issuer: &Issuer,
        draft: Payment,
        change: impl Fn(&Payment) -> Change,
    ) -> Result<Payment, Error> {
        issuer.check(draft.terms.amount, draft.created_at.until(draft.terms.expires_at))?;
        for tries in 0..ISSUE_MOST {
            let code = match issuer {
                Issuer::Simulator => self.simulator.code(&draft, &project.merchant),
                Issuer::Account(open) => self.free_number(open, tries).await?,
                // Callers have a bank asked before they come here.
                Issuer::Bank(_) => return Err(NoBank::NotSetUp.into()),
            };
            let payment = Payment { code, ..draft.clone() };
            match self.store.commit(change(&payment).with_all(issuer.taken(&payment, draft.created_at))).await {
                Ok(()) => return Ok(payment),
                Err(CommitError::Conflict(Guard::AccountNumber)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    /// The resource that the key was used for. A request with another body than that time is a conflict.
    pub(crate) async fn bound_to<Id: std::str::FromStr>(&self, idempotency: &Idempotency) -> Result<Option<Id>, Error> {
        let Some(bound) = self.store.bound(idempotency).await? else { return Ok(None) };
        if bound.request != idempotency.request {
            return Err(Error::IdempotencyConflict);
        }
        self.store.confirm().await?;
        Ok(bound.resource.parse().ok())
    }

    pub async fn payment(&self, project_id: ProjectId, id: PaymentId) -> Result<Payment, Error> {
        let payment = self.store.payment(id).await?;
        payment.filter(|payment| payment.terms.project_id == project_id).ok_or(Error::NotFound("payment"))
    }

    pub async fn payments(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        window: Window,
    ) -> Result<Listed<Payment>, Error> {
        Ok(self.store.payments(project_id, filter, window).await?)
    }
}
