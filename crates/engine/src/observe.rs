//! What a provider reports: read the payment, let the domain decide, commit all that follows at once.
//!
//! Real notifications and the sandbox's simulated ones take this same road.

use domain::{
    event::{Event, EventKind, News},
    id::PaymentId,
    ledger::Posting,
    link::Link,
    money::Rupiah,
    payment::{LinkClaim, NotMoved, Payment, State, Step},
    project::{Environment, Project},
    receipt::{Receipt, Unapplied},
    time::Timestamp,
};
use gateway::{Observation, Outcome};
use store::{Change, CommitError, Guard, Noted, ReceiptNote, Write};

use crate::{DECIDE_MOST, Engine, Error};

/// What became of a report, with the payment as it is after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// The payment took it.
    Moved(Payment),
    /// Money came that pays nothing; it is kept and the payment is as it was.
    Unapplied(Payment, Unapplied),
    /// The same report came before, or says what is known already.
    Known(Payment),
    /// The payment has ended, and this report cannot change that.
    Ended(Payment),
}

impl Observed {
    pub fn into_payment(self) -> Payment {
        match self {
            Observed::Moved(payment)
            | Observed::Unapplied(payment, _)
            | Observed::Known(payment)
            | Observed::Ended(payment) => payment,
        }
    }
}

/// A decision: what to commit, and what to answer once it is.
struct Decision {
    change: Change,
    unapplied: Option<Unapplied>,
}

impl Engine {
    /// Reports `outcome` for a sandbox payment, as its bank would. No amount means the payment's own.
    pub async fn simulate(
        &self,
        payment: &Payment,
        receipt_id: Option<&str>,
        outcome: impl FnOnce(Timestamp) -> Outcome,
    ) -> Result<Observed, Error> {
        let project = self.project_of(payment).await?;
        if project.environment != Environment::Sandbox {
            return Err(Error::NotSandbox);
        }
        let now = self.now();
        let fresh: PaymentId = self.mint(now);
        let receipt_id = receipt_id.map_or_else(|| fresh.to_string(), str::to_owned);
        self.observe(self.providers.sandbox.report(project.id, payment.id, &receipt_id, outcome(now))).await
    }

    pub async fn observe(&self, observation: Observation) -> Result<Observed, Error> {
        for _ in 0..DECIDE_MOST {
            let payment = self.observed(&observation).await?;
            let decision = match observation.outcome {
                Outcome::Paid { amount, paid_at } => self.on_money(&observation, &payment, amount, paid_at).await?,
                Outcome::Failed | Outcome::Processing => match self.on_notice(&observation, &payment).await? {
                    Ok(decision) => decision,
                    Err(unmoved) => match self.unmoved(&observation, payment, unmoved).await? {
                        Some(observed) => return Ok(observed),
                        None => continue,
                    },
                },
            };
            match self.store.commit(decision.change).await {
                Ok(()) => {
                    let payment = self.observed(&observation).await?;
                    return Ok(match decision.unapplied {
                        Some(reason) => Observed::Unapplied(payment, reason),
                        None => Observed::Moved(payment),
                    });
                }
                // The same report may have been taken since the payment was read, and then it has moved.
                Err(CommitError::Conflict(Guard::Receipt)) => {
                    let payment = self.observed(&observation).await?;
                    if let Some(observed) = self.unmoved(&observation, payment, NotMoved::Already).await? {
                        return Ok(observed);
                    }
                }
                Err(CommitError::Conflict(Guard::PaymentVersion | Guard::LinkUnclaimed)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    /// The payment that a report is about, as it is now.
    async fn observed(&self, observation: &Observation) -> Result<Payment, Error> {
        self.store.payment(observation.payment_id).await?.ok_or(Error::NotFound("payment"))
    }

    async fn on_money(
        &self,
        observation: &Observation,
        payment: &Payment,
        amount: Rupiah,
        paid_at: Timestamp,
    ) -> Result<Decision, Error> {
        let project = self.project_of(payment).await?;
        let link = match payment.link_id {
            Some(id) => self.store.link(id).await?,
            None => None,
        };
        let now = self.now();
        let receipt = Receipt { key: observation.receipt.clone(), amount, paid_at, received_at: now };
        let claim = link.as_ref().map_or(LinkClaim::NotNeeded, Link::claim);
        let delay = self.settings.settlement.of(project.environment, payment.method.kind());
        let confirmed = payment.clone().confirm(&receipt, claim, delay);
        let unapplied = confirmed.as_ref().err().copied();
        let noted = Noted::Money { amount, paid_at, unapplied };
        let change = Change::from(note(observation, payment, now, noted));
        let change = match confirmed {
            Ok(step) => self.with_step(change, &project, step, now),
            Err(_) => change.with(Write::Posting(Posting::unapplied(
                payment.project_id,
                payment.id,
                receipt.key,
                amount,
                now,
            ))),
        };
        Ok(Decision { change, unapplied })
    }

    /// A refusal, or word that the payment is on its way.
    async fn on_notice(
        &self,
        observation: &Observation,
        payment: &Payment,
    ) -> Result<Result<Decision, NotMoved>, Error> {
        let now = self.now();
        let (moved, noted) = match observation.outcome {
            Outcome::Processing => (payment.clone().begin_processing(now), Noted::Progress),
            Outcome::Failed | Outcome::Paid { .. } => (payment.clone().refuse(now), Noted::Refusal),
        };
        let step = match moved {
            Ok(step) => step,
            Err(unmoved) => return Ok(Err(unmoved)),
        };
        let project = self.project_of(payment).await?;
        let change = Change::from(note(observation, payment, now, noted));
        Ok(Ok(Decision { change: self.with_step(change, &project, step, now), unapplied: None }))
    }

    pub(crate) fn with_step(&self, change: Change, project: &Project, step: Step, now: Timestamp) -> Change {
        let Step { payment, posting, event, claims, settles_at } = step;
        let claimed = claims.into_iter().flat_map(|id| {
            [
                Write::LinkClaimed { id, payment_id: payment.id },
                Write::PendingCancelled { link_id: id, but: Some(payment.id), at: now },
            ]
        });
        let event = event.map(|kind| self.event(project, &payment, kind, now));
        change
            .with(Write::PaymentMoved {
                id: payment.id,
                version: payment.version,
                state: payment.state,
                settles_at,
                link_id: payment.link_id,
            })
            .with_all(claimed)
            .with_all(posting.map(Write::Posting))
            .with_all(event.map(Write::Event))
    }

    fn event(&self, project: &Project, payment: &Payment, kind: EventKind, now: Timestamp) -> Event {
        let news = match payment.state {
            State::Paid { at } => News::PaymentPaid { payment: payment.id, paid_at: at, word: project.success_word },
            _ => News::PaymentFailed { payment: payment.id },
        };
        let event = Event { id: self.mint(now), project_id: project.id, created_at: now, news };
        assert_eq!(event.kind(), kind, "an event tells of the state its payment moved to");
        event
    }

    /// What to answer where there is nothing to commit. Whoever reports it will not do so again, so what was noted before must be as
    /// safe as if it were noted now; none where it is no more what was read, as after a failover in between.
    async fn unmoved(
        &self,
        observation: &Observation,
        payment: Payment,
        unmoved: NotMoved,
    ) -> Result<Option<Observed>, Error> {
        let noted = self.store.noted(&observation.receipt).await?;
        self.store.confirm().await?;
        let confirmed = (self.observed(observation).await?, self.store.noted(&observation.receipt).await?);
        if (&confirmed.0, confirmed.1) != (&payment, noted) {
            return Ok(None);
        }
        Ok(Some(match unmoved {
            NotMoved::Final if !noted => Observed::Ended(payment),
            NotMoved::Already | NotMoved::Final => Observed::Known(payment),
        }))
    }

    async fn project_of(&self, payment: &Payment) -> Result<Project, Error> {
        self.store.project(payment.project_id).await?.ok_or(Error::NotFound("project"))
    }
}

fn note(observation: &Observation, payment: &Payment, now: Timestamp, noted: Noted) -> Write {
    Write::Receipt(ReceiptNote {
        key: observation.receipt.clone(),
        project_id: payment.project_id,
        payment_id: payment.id,
        received_at: now,
        noted,
    })
}
