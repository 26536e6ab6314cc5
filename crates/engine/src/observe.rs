//! Reports about payments: reads the payment, lets the domain decide, and commits everything that follows at once.
//!
//! Reports of banks and of the sandbox's simulator are handled alike.

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
enum MoneylessReport {
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

/// A decision: what to commit, and the payment as it is then, or why money pays nothing.
pub(crate) struct PaymentMove {
    pub(crate) change: Change,
    pub(crate) moved: Result<Payment, Unapplied>,
}

impl Engine {
    pub async fn observe(&self, observation: Observation) -> Result<Observed, Error> {
        self.observe_known(observation, None).await
    }

    /// The same for requests that have read the payment and its project already. Only a payment that moves is decided about by
    /// what they have read, since the commit is refused when it has changed meanwhile.
    pub(crate) async fn observe_known(
        &self,
        mut observation: Observation,
        mut known: Option<(Payment, &Project)>,
    ) -> Result<Observed, Error> {
        let mut reused = false;
        for _ in 0..DECIDE_MOST {
            let read;
            let is_known = known.is_some();
            let (payment, project) = match known.take() {
                Some(known) => known,
                None => {
                    let payment = self.observed(&observation).await?;
                    read = self.project_of(&payment).await?;
                    (payment, &*read)
                }
            };
            let decided = match observation.outcome {
                Outcome::Paid { amount, paid_at } => {
                    let money = Money { amount, paid_at, reused };
                    Ok(self.on_money(&observation.receipt, &payment, project, money).await?)
                }
                Outcome::Failed => self.on_notice(&observation, &payment, project, MoneylessReport::Failed),
                Outcome::Processing => self.on_notice(&observation, &payment, project, MoneylessReport::Processing),
            };
            let decision = match decided {
                Ok(decision) => decision,
                Err(unmoved) => match self.unmoved(&observation, payment, unmoved).await? {
                    Some(observed) => return Ok(observed),
                    None => continue,
                },
            };
            // Held money is committed whatever has become of the payment.
            if is_known && decision.moved.is_err() {
                continue;
            }
            match self.store.commit(decision.change).await {
                Ok(()) => {
                    return Ok(match decision.moved {
                        Ok(payment) => Observed::Moved(payment),
                        // It may have moved since it was read, by other money.
                        Err(reason) => Observed::Unapplied(self.observed(&observation).await?, reason),
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
    pub(crate) async fn on_money(
        &self,
        key: &ReceiptKey,
        payment: &Payment,
        project: &Project,
        money: Money,
    ) -> Result<PaymentMove, Error> {
        let Money { amount, paid_at, reused } = money;
        let link = match payment.terms.link_id {
            Some(id) => self.store.link(id).await?,
            None => None,
        };
        let now = self.now();
        let receipt = Receipt { key: key.clone(), amount, paid_at, received_at: now };
        let claim = link.as_ref().map_or(LinkClaim::NotNeeded, Link::claim);
        let delay = self.settings.settlement.of(project.environment, payment.terms.method.kind());
        let confirmed = match reused {
            true => Err(Unapplied::ReceiptReused),
            false => payment.clone().confirm(&receipt, claim, delay),
        };
        let noted = |held| Change::from(note(key, payment, now, Noted::Money { amount, paid_at, held }));
        Ok(match confirmed {
            Ok(transition) => {
                let receipt = self.receipt_letter(project, &transition.payment, link.as_ref(), paid_at).await?;
                self.moved(noted(None).with_all(receipt), project, transition, now)
            }
            Err(reason) => {
                let held = Held { id: self.mint(now), reason };
                let money = HeldMoney { receipt: held.id, amount, reason, paid_at };
                let posting = Posting::unapplied(payment.terms.project_id, payment.id, receipt.key, amount, now);
                let change = noted(Some(held))
                    .with(LedgerWrite::Posting(posting))
                    .with(self.held_event(project, payment, money, now))
                    .with_all(self.held_letters(project, payment, money, now).await?);
                PaymentMove { change, moved: Err(reason) }
            }
        })
    }

    fn on_notice(
        &self,
        observation: &Observation,
        payment: &Payment,
        project: &Project,
        notice: MoneylessReport,
    ) -> Result<PaymentMove, NotMoved> {
        let now = self.now();
        let (moved, noted) = match notice {
            MoneylessReport::Processing => (payment.clone().begin_processing(now), Noted::Progress),
            MoneylessReport::Failed => (payment.clone().refuse(now), Noted::Refusal),
        };
        let change = Change::from(note(&observation.receipt, payment, now, noted));
        Ok(self.moved(change, project, moved?, now))
    }

    /// The decision for a transition: everything that it causes is added to a change.
    pub(crate) fn moved(
        &self,
        change: Change,
        project: &Project,
        transition: Transition,
        now: Timestamp,
    ) -> PaymentMove {
        let Transition { payment, posting, event, claims, settles_at } = transition;
        let claimed = claims.map(|id| LinkWrite::Claimed { id, payment_id: payment.id });
        let others = claims.map(|id| PaymentWrite::PendingCancelled { link_id: id, but: Some(payment.id), at: now });
        let event = event.map(|owed| self.event(project.id, owed.news(payment.id, project.success_word), now));
        let change = change
            .with(PaymentWrite::Moved {
                id: payment.id,
                version: payment.version,
                state: payment.state,
                settles_at,
                link_id: payment.terms.link_id,
            })
            .with_all(claimed)
            .with_all(others)
            .with_all(posting.map(LedgerWrite::Posting))
            .with_all(event);
        PaymentMove { change, moved: Ok(Payment { version: payment.version + 1, ..payment }) }
    }

    /// Tells that money for a payment is held. The payment has not changed by it.
    fn held_event(&self, project: &Project, payment: &Payment, money: HeldMoney, now: Timestamp) -> WebhookWrite {
        let (state, expires_at, word) = (payment.state, payment.terms.expires_at, project.success_word);
        self.event(project.id, News::PaymentHeld { payment: payment.id, state, expires_at, word, money }, now)
    }

    /// Tells that a payment was cancelled by itself or has expired by itself. The store knows of those that it moves together.
    pub(crate) fn event_write(&self, payment: &Payment, owed: OwedEvent, now: Timestamp) -> WebhookWrite {
        self.event(payment.terms.project_id, owed.news(payment.id, SuccessWord::default()), now)
    }

    pub(crate) fn event(&self, project_id: ProjectId, news: News, now: Timestamp) -> WebhookWrite {
        WebhookWrite::Event(Event { id: self.mint(now), project_id, created_at: now, news })
    }

    /// The answer when there is nothing to commit. The bank will not send this report again, so what we have stored
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
        let version = self.store.project_version(payment.terms.project_id).await?.ok_or(Error::NotFound("project"))?;
        self.project_at(payment.terms.project_id, version).await
    }
}

fn note(key: &ReceiptKey, payment: &Payment, now: Timestamp, noted: Noted) -> LedgerWrite {
    LedgerWrite::Receipt(ReceiptNote {
        key: key.clone(),
        project_id: payment.terms.project_id,
        payment_id: payment.id,
        received_at: now,
        noted,
    })
}
