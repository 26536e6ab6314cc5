//! A bank asks us to take money (service 25). It books, gives back or suspends the money by our answer, so what we answer
//! is committed before.

use domain::{
    bank_request::{BankRequest, BankService, Verdict, jakarta_day},
    id::PaymentId,
    money::Rupiah,
    payment::State,
    receipt::ReceiptKey,
    stray::Stray,
    time::Timestamp,
};
use store::{BankWrite, Change, CommitError, Guard};

use super::OpenAccount;
use crate::{DECIDE_MOST, Engine, Error, observe::Money};

/// What a bank asks us to take.
pub struct PaymentAsked {
    pub external_id: String,
    /// Identifies the money: however often the bank asks, it is judged once.
    pub request_id: String,
    /// The whole number, without padding.
    pub number: String,
    pub amount: Rupiah,
    pub paid_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The verdict was made now, or before under another external id.
    Judged(Verdict),
    /// The same request came before on this day, with the same external id; this was the verdict.
    Repeated(Verdict),
    /// The external id was used today for another request.
    ExternalIdReused,
    /// The account is disabled, and this money was not judged before.
    Disabled,
}

/// What follows from the money: the verdict, the payment that the number belongs to, and what to commit.
struct Judgement {
    verdict: Verdict,
    payment_id: Option<PaymentId>,
    change: Change,
}

impl Engine {
    /// Judges money that a bank asks us to take. A refusal stores only the answer, since the bank gives the money back. An
    /// error means that the outcome is not known: the bank must be told to ask again, never that we refuse.
    ///
    /// A disabled account judges nothing new, but what it has judged stays: a bank that asks again about money which is
    /// booked here would give it back if it were refused.
    pub async fn asked_to_take(&self, open: &OpenAccount, asked: PaymentAsked) -> Result<Taken, Error> {
        for tries in 0..DECIDE_MOST {
            let now = self.now();
            let day = jakarta_day(now);
            // Nearly every request is new, so others are looked for only when the commit has found that there are some.
            let first = match tries {
                0 if open.account.enabled => None,
                _ => {
                    let known =
                        self.store.bank_request(open.id(), BankService::Payment, day, &asked.external_id).await?;
                    if let Some(known) = known {
                        return self.known(open, &asked, known).await;
                    }
                    self.store.first_bank_request(open.id(), &asked.request_id).await?
                }
            };
            let is_first = first.is_none();
            let judgement = match first {
                Some(first) => {
                    Judgement { verdict: first.verdict, payment_id: first.payment_id, change: Change::default() }
                }
                None if !open.account.enabled => {
                    self.store.confirm().await?;
                    return Ok(Taken::Disabled);
                }
                None => self.judged(open, &asked, now).await?,
            };
            let request = BankRequest {
                account_id: open.id(),
                service: BankService::Payment,
                day,
                external_id: asked.external_id.clone(),
                request_id: asked.request_id.clone(),
                is_first,
                number: asked.number.clone(),
                payment_id: judgement.payment_id,
                amount: Some(asked.amount),
                verdict: judgement.verdict,
                at: now,
            };
            // First, since a commit that fails before it has written anything costs least.
            match self.store.commit(Change::from(BankWrite::Requested(request)).then(judgement.change)).await {
                Ok(()) => return Ok(Taken::Judged(judgement.verdict)),
                // The same request was judged since, or other money has changed the payment.
                Err(CommitError::Conflict(
                    Guard::BankRequest | Guard::Receipt | Guard::PaymentVersion | Guard::LinkUnclaimed,
                )) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    /// The answer to a request whose external id was used before on this day. Money that was judged keeps its verdict: a
    /// bank that is told of a conflict would give back money that is booked here.
    async fn known(&self, open: &OpenAccount, asked: &PaymentAsked, known: BankRequest) -> Result<Taken, Error> {
        let taken = match known.request_id == asked.request_id {
            true => Taken::Repeated(known.verdict),
            false => match self.store.first_bank_request(open.id(), &asked.request_id).await? {
                Some(first) => Taken::Judged(first.verdict),
                None if open.account.enabled => Taken::ExternalIdReused,
                None => Taken::Disabled,
            },
        };
        self.store.confirm().await?;
        Ok(taken)
    }

    async fn judged(&self, open: &OpenAccount, asked: &PaymentAsked, now: Timestamp) -> Result<Judgement, Error> {
        let reverses = open.parameters.refusal_reverses;
        let Some((payment, project_version)) = self.store.payment_of_number(open.id(), &asked.number).await? else {
            let kept = BankWrite::StrayReceived(Stray {
                id: self.mint(now),
                account_id: open.id(),
                receipt_id: asked.request_id.clone(),
                number: asked.number.clone(),
                amount: asked.amount,
                paid_at: asked.paid_at,
                received_at: now,
                decided: None,
            });
            return Ok(match reverses {
                true => Judgement { verdict: Verdict::Unknown, payment_id: None, change: Change::default() },
                false => Judgement { verdict: Verdict::Accepted, payment_id: None, change: kept.into() },
            });
        };
        let key = ReceiptKey { provider: open.id().to_string(), id: asked.request_id.clone() };
        // Nobody can pay a number before it was given out: the bank's clock is behind ours.
        let paid_at = asked.paid_at.max(payment.created_at);
        // What the bank says decides whether the money is late. But no payment is dated ahead of our clock.
        let paid_at = if paid_at > payment.expires_at { paid_at } else { paid_at.min(now.max(payment.created_at)) };
        let payment_id = Some(payment.id);
        if let State::Failed { at } = payment.state
            && reverses
            && paid_at > at
        {
            return Ok(Judgement { verdict: Verdict::Unknown, payment_id, change: Change::default() });
        }
        let money = Money { amount: asked.amount, paid_at, reused: false };
        let project = self.project_at(payment.project_id, project_version).await?;
        let decision = self.on_money(&key, &payment, &project, money).await?;
        Ok(match decision.moved {
            Err(reason) if reverses => {
                Judgement { verdict: Verdict::of_refusal(reason, payment.state), payment_id, change: Change::default() }
            }
            // Where the bank would not give it back, it is held like all money that does not fit.
            _ => Judgement { verdict: Verdict::Accepted, payment_id, change: decision.change },
        })
    }
}
