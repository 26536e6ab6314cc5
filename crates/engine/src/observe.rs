//! Providers' reports: reads the payment, lets the domain decide, and commits everything that follows at once.
//!
//! Reports of real providers and of the sandbox's simulator are handled alike.

use std::sync::Arc;

use domain::{
    event::{Event, HeldMoney, News},
    id::ProjectId,
    ledger::Posting,
    link::{Link, LinkClaim},
    money::Rupiah,
    payment::{NotMoved, OwedEvent, Payment, Transition},
    project::{Project, SuccessWord},
    receipt::{Held, Receipt, ReceiptKey, Unapplied},
    time::Timestamp,
};
use gateway::{Observation, Outcome};
use store::{Change, CommitError, Guard, LedgerWrite, LinkWrite, Noted, PaymentWrite, ReceiptNote, WebhookWrite};

use crate::{DECIDE_MOST, Engine, Error};

/// The result of a report, with the payment as it is afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// The report changed the payment's state.
    Moved(Payment),
    /// Money arrived that pays nothing; it is held, and the payment is unchanged.
    Unapplied(Payment, Unapplied),
    /// The same report came before, or it says what is already known.
    Known(Payment),
    /// The payment has ended, and the report cannot change that.
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

/// A report without money.
#[derive(Clone, Copy)]
enum Notice {
    Failed,
    Processing,
}

/// A report of money.
#[derive(Clone, Copy)]
pub(crate) struct Money {
    pub(crate) amount: Rupiah,
    pub(crate) paid_at: Timestamp,
    /// Whether money for another payment has the same receipt id.
    pub(crate) reused: bool,
}

/// A decision: what to commit, and for money that pays nothing, why.
pub(crate) struct Decision {
    pub(crate) change: Change,
    pub(crate) unapplied: Option<Unapplied>,
}

impl Engine {
    pub async fn observe(&self, mut observation: Observation) -> Result<Observed, Error> {
        let mut reused = false;
        for _ in 0..DECIDE_MOST {
            let payment = self.observed(&observation).await?;
            let decided = match observation.outcome {
                Outcome::Paid { amount, paid_at } => {
                    let money = Money { amount, paid_at, reused };
                    Ok(self.on_money(&observation.receipt, &payment, money).await?)
                }
                Outcome::Failed => self.on_notice(&observation, &payment, Notice::Failed).await?,
                Outcome::Processing => self.on_notice(&observation, &payment, Notice::Processing).await?,
            };
            let decision = match decided {
                Ok(decision) => decision,
                Err(unmoved) => match self.unmoved(&observation, payment, unmoved).await? {
                    Some(observed) => return Ok(observed),
                    None => continue,
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
                // Other money has this receipt id. The report is not dropped: its money is held under a key of its own.
                Err(CommitError::Conflict(Guard::Receipt)) if !reused && self.is_reused(&observation).await? => {
                    observation.receipt = observation.receipt.reused_for(observation.payment_id);
                    reused = true;
                }
                // The same report was committed after the payment was read, so the payment may have changed.
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

    /// The payment of a report, as it is now.
    async fn observed(&self, observation: &Observation) -> Result<Payment, Error> {
        self.store.payment(observation.payment_id).await?.ok_or(Error::NotFound("payment"))
    }

    /// Whether money for another payment was stored under the receipt id of this money.
    async fn is_reused(&self, observation: &Observation) -> Result<bool, Error> {
        match observation.outcome {
            Outcome::Paid { .. } => {
                let owner = self.store.payment_of_receipt(&observation.receipt).await?;
                Ok(owner.is_some_and(|owner| owner != observation.payment_id))
            }
            Outcome::Failed | Outcome::Processing => Ok(false),
        }
    }

    /// What follows from money for a payment, however it was reported.
    pub(crate) async fn on_money(&self, key: &ReceiptKey, payment: &Payment, money: Money) -> Result<Decision, Error> {
        let Money { amount, paid_at, reused } = money;
        let project = self.project_of(payment).await?;
        let link = match payment.link_id {
            Some(id) => self.store.link(id).await?,
            None => None,
        };
        let now = self.now();
        let receipt = Receipt { key: key.clone(), amount, paid_at, received_at: now };
        let claim = link.as_ref().map_or(LinkClaim::NotNeeded, Link::claim);
        let delay = self.settings.settlement.of(project.environment, payment.method.kind());
        let confirmed = match reused {
            true => Err(Unapplied::ReceiptReused),
            false => payment.clone().confirm(&receipt, claim, delay),
        };
        let noted = |held| Change::from(note(key, payment, now, Noted::Money { amount, paid_at, held }));
        Ok(match confirmed {
            Ok(transition) => {
                Decision { change: self.with_transition(noted(None), &project, transition, now), unapplied: None }
            }
            Err(reason) => {
                let held = Held { id: self.mint(now), reason };
                let money = HeldMoney { receipt: held.id, amount, reason, paid_at };
                let posting = Posting::unapplied(payment.project_id, payment.id, receipt.key, amount, now);
                let change = noted(Some(held))
                    .with(LedgerWrite::Posting(posting))
                    .with(self.held_event(&project, payment, money, now));
                Decision { change, unapplied: Some(reason) }
            }
        })
    }

    async fn on_notice(
        &self,
        observation: &Observation,
        payment: &Payment,
        notice: Notice,
    ) -> Result<Result<Decision, NotMoved>, Error> {
        let now = self.now();
        let (moved, noted) = match notice {
            Notice::Processing => (payment.clone().begin_processing(now), Noted::Progress),
            Notice::Failed => (payment.clone().refuse(now), Noted::Refusal),
        };
        let transition = match moved {
            Ok(transition) => transition,
            Err(unmoved) => return Ok(Err(unmoved)),
        };
        let project = self.project_of(payment).await?;
        let change = Change::from(note(&observation.receipt, payment, now, noted));
        Ok(Ok(Decision { change: self.with_transition(change, &project, transition, now), unapplied: None }))
    }

    /// Adds everything that a transition causes to a change.
    pub(crate) fn with_transition(
        &self,
        change: Change,
        project: &Project,
        transition: Transition,
        now: Timestamp,
    ) -> Change {
        let Transition { payment, posting, event, claims, settles_at } = transition;
        let claimed = claims.map(|id| LinkWrite::Claimed { id, payment_id: payment.id });
        let others = claims.map(|id| PaymentWrite::PendingCancelled { link_id: id, but: Some(payment.id), at: now });
        let event = event.map(|owed| self.event(project.id, owed.news(payment.id, project.success_word), now));
        change
            .with(PaymentWrite::Moved {
                id: payment.id,
                version: payment.version,
                state: payment.state,
                settles_at,
                link_id: payment.link_id,
            })
            .with_all(claimed)
            .with_all(others)
            .with_all(posting.map(LedgerWrite::Posting))
            .with_all(event)
    }

    /// Tells that money for a payment is held. The payment has not changed by it.
    fn held_event(&self, project: &Project, payment: &Payment, money: HeldMoney, now: Timestamp) -> WebhookWrite {
        let (state, expires_at, word) = (payment.state, payment.expires_at, project.success_word);
        self.event(project.id, News::PaymentHeld { payment: payment.id, state, expires_at, word, money }, now)
    }

    /// Tells that a payment was cancelled by itself or has expired by itself. The store knows of those that it moves together.
    pub(crate) fn told(&self, payment: &Payment, owed: OwedEvent, now: Timestamp) -> WebhookWrite {
        self.event(payment.project_id, owed.news(payment.id, SuccessWord::default()), now)
    }

    fn event(&self, project_id: ProjectId, news: News, now: Timestamp) -> WebhookWrite {
        WebhookWrite::Event(Event { id: self.mint(now), project_id, created_at: now, news })
    }

    /// The answer when there is nothing to commit. The provider will not send this report again, so what we have stored
    /// must be durable before we answer. None if the payment or the stored report has changed since it was read, as
    /// after a failover.
    async fn unmoved(
        &self,
        observation: &Observation,
        payment: Payment,
        unmoved: NotMoved,
    ) -> Result<Option<Observed>, Error> {
        let noted = self.store.noted(&observation.receipt, payment.id).await?;
        self.store.confirm().await?;
        let confirmed = (self.observed(observation).await?, self.store.noted(&observation.receipt, payment.id).await?);
        if (&confirmed.0, confirmed.1) != (&payment, noted) {
            return Ok(None);
        }
        Ok(Some(match unmoved {
            NotMoved::Final if !noted => Observed::Ended(payment),
            NotMoved::Already | NotMoved::Final => Observed::Known(payment),
        }))
    }

    pub(crate) async fn project_of(&self, payment: &Payment) -> Result<Arc<Project>, Error> {
        let version = self.store.project_version(payment.project_id).await?.ok_or(Error::NotFound("project"))?;
        self.project_at(payment.project_id, version).await
    }
}

fn note(key: &ReceiptKey, payment: &Payment, now: Timestamp, noted: Noted) -> LedgerWrite {
    LedgerWrite::Receipt(ReceiptNote {
        key: key.clone(),
        project_id: payment.project_id,
        payment_id: payment.id,
        received_at: now,
        noted,
    })
}
