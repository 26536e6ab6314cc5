//! A bank asks us to take money (service 25). It books, gives back or suspends the money by our answer, so what we answer
//! is committed before.

use domain::{
    bank_money::PayableTime,
    bank_request::{BankRequest, BankService, Verdict, jakarta_day},
    id::PaymentId,
    money::Rupiah,
    payment::State,
    receipt::ReceiptKey,
    stray::{Stray, StrayReport},
    time::Timestamp,
};
use store::{BankWrite, Change, CommitError, Guard};

use super::money_key::CLOCKS_APART;
use crate::{DECIDE_MOST, Engine, Error, banks::contracts::open_account::OpenAccount, observe::Money};

/// Keys that are tried for money whose request id other money has.
const KEYS_MOST: usize = 16;

/// What a bank asks us to take.
pub struct PaymentAsked {
    pub external_id: String,
    /// Identifies the money together with number and amount: however often the bank asks, it is judged once. By itself it does
    /// not, since ids of banks are unique for a day at best.
    pub request_id: String,
    /// The whole number, without padding.
    pub number: String,
    pub amount: Rupiah,
    /// What the bank says was to be paid, where it says so. If it is another amount, the money is refused.
    pub total: Option<Rupiah>,
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
    pub async fn judge_payment(&self, open: &OpenAccount, asked: PaymentAsked) -> Result<Taken, Error> {
        let began_at = self.now();
        for tries in 0..DECIDE_MOST {
            let now = self.now();
            let day = jakarta_day(now);
            // Nearly every request is new, so others are looked for only when the commit has found that there are some, and
            // before anything is refused.
            let is_taken_for_new = tries == 0 && open.account.enabled;
            let (key, first) = match is_taken_for_new {
                true => (receipt_key(open, &asked.request_id), None),
                false => {
                    let known =
                        self.store.bank_request(open.id(), BankService::Payment, day, &asked.external_id).await?;
                    if let Some(known) = known {
                        return self.repeat_verdict(open, &asked, known).await;
                    }
                    // In this order: if the same money has taken a key since, it is found here.
                    (self.free_receipt_key(open, &asked).await?, self.first_about(open, &asked, day).await?)
                }
            };
            let is_first = first.is_none();
            let (receipt_id, judgement) = match first {
                Some(first) => {
                    let BankRequest { verdict, payment_id, receipt_id, .. } = first;
                    (receipt_id, Judgement { verdict, payment_id, change: Change::default() })
                }
                None if !open.account.enabled => {
                    self.store.confirm().await?;
                    return Ok(Taken::Disabled);
                }
                None => {
                    let judgement = self.judge(open, &asked, &key, now).await?;
                    (Some(key.id), judgement)
                }
            };
            if is_taken_for_new && judgement.verdict != Verdict::Accepted {
                continue;
            }
            let request = BankRequest {
                account_id: open.id(),
                service: BankService::Payment,
                day,
                external_id: asked.external_id.clone(),
                request_id: asked.request_id.clone(),
                receipt_id,
                is_first,
                number: asked.number.clone(),
                payment_id: judgement.payment_id,
                amount: Some(asked.amount),
                verdict: judgement.verdict,
                at: now,
            };
            // First, since a commit that fails before it has written anything costs least.
            match self.store.commit(Change::from(BankWrite::Requested(request)).then(judgement.change)).await {
                Ok(()) => {
                    if is_first {
                        let PaymentAsked { request_id, number, amount, .. } = &asked;
                        self.unsaved_words.forget_judged(open.id(), (request_id, number, *amount), began_at);
                    }
                    return Ok(Taken::Judged(judgement.verdict));
                }
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
    /// bank that is told of a conflict would give back money that is booked here. A request about other money is a conflict even
    /// if it has the same request id: nothing is booked for it.
    async fn repeat_verdict(
        &self,
        open: &OpenAccount,
        asked: &PaymentAsked,
        known: BankRequest,
    ) -> Result<Taken, Error> {
        let is_same =
            known.request_id == asked.request_id && known.number == asked.number && known.amount == Some(asked.amount);
        let taken = match is_same {
            true => Taken::Repeated(known.verdict),
            false => match self.first_about(open, asked, known.day).await? {
                Some(first) => Taken::Judged(first.verdict),
                None if open.account.enabled => Taken::ExternalIdReused,
                None => Taken::Disabled,
            },
        };
        self.store.confirm().await?;
        Ok(taken)
    }

    /// The request by which this money was judged, if it was. It has the same request id, number and amount, and so has a
    /// payment's money that is asked about again on a later day: a verdict that changed would give back what is booked. But
    /// where the number belongs to another payment than it did on that day, the money is that payment's, unless it was paid
    /// before there was that payment.
    async fn first_about(
        &self,
        open: &OpenAccount,
        asked: &PaymentAsked,
        day: i64,
    ) -> Result<Option<BankRequest>, Error> {
        let PaymentAsked { request_id, number, amount, .. } = asked;
        let Some(first) = self.store.first_bank_request(open.id(), request_id, number, *amount).await? else {
            return Ok(None);
        };
        if first.day == day {
            return Ok(Some(first));
        }
        let payment = self.store.payment_of_number(open.id(), number).await?.map(|(payment, _)| payment);
        let is_same = payment.is_none_or(|payment| {
            first.payment_id == Some(payment.id) || asked.paid_at < payment.created_at.minus(CLOCKS_APART)
        });
        Ok(is_same.then_some(first))
    }

    /// The key under which new money is booked: the bank's request id, or, where other money has that, one that tells them apart.
    /// Two requests about the same money get the same key, so that one of them is the first.
    async fn free_receipt_key(&self, open: &OpenAccount, asked: &PaymentAsked) -> Result<ReceiptKey, Error> {
        let plain = receipt_key(open, &asked.request_id);
        if !self.store.is_receipt_id_taken(&plain).await? {
            return Ok(plain);
        }
        let payment = self.store.payment_of_number(open.id(), &asked.number).await?;
        let owner = payment.map_or_else(|| asked.number.clone(), |(payment, _)| payment.id.to_string());
        let apart = plain.reused_by(&format!("{owner}/{}", asked.amount.get()));
        for count in 1..=KEYS_MOST {
            let key = if count == 1 { apart.clone() } else { apart.reused_by(&count.to_string()) };
            if !self.store.is_receipt_id_taken(&key).await? {
                return Ok(key);
            }
        }
        Err(Error::Contended)
    }

    async fn judge(
        &self,
        open: &OpenAccount,
        asked: &PaymentAsked,
        key: &ReceiptKey,
        now: Timestamp,
    ) -> Result<Judgement, Error> {
        let reverses = open.parameters.refusal_reverses;
        let Some((payment, project_version)) = self.store.payment_of_number(open.id(), &asked.number).await? else {
            let (receipt_id, number) = (key.id.clone(), asked.number.clone());
            let report = StrayReport::Money { amount: asked.amount, paid_at: Some(asked.paid_at) };
            let stray = Stray::received(self.mint(now), open.id(), receipt_id, number, report, now);
            let kept = BankWrite::StrayReceived(stray);
            return Ok(match reverses {
                true => Judgement { verdict: Verdict::Unknown, payment_id: None, change: Change::default() },
                false => Judgement { verdict: Verdict::Accepted, payment_id: None, change: kept.into() },
            });
        };
        let payable = PayableTime { from: payment.created_at, expires_at: payment.terms.expires_at };
        let paid_at = payable.paid_at(asked.paid_at, now);
        let payment_id = Some(payment.id);
        if reverses && asked.total.is_some_and(|total| total != asked.amount) {
            return Ok(Judgement { verdict: Verdict::WrongAmount, payment_id, change: Change::default() });
        }
        if let State::Failed { at } = payment.state
            && reverses
            && paid_at > at
        {
            return Ok(Judgement { verdict: Verdict::Unknown, payment_id, change: Change::default() });
        }
        let money = Money { amount: asked.amount, paid_at, reused: false };
        let project = self.project_at(payment.terms.project_id, project_version).await?;
        let decision = self.on_money(key, &payment, &project, money).await?;
        Ok(match decision.moved {
            Err(reason) if reverses => {
                Judgement { verdict: Verdict::of_refusal(reason, payment.state), payment_id, change: Change::default() }
            }
            // Where the bank would not give it back, it is held like all money that does not fit.
            _ => Judgement { verdict: Verdict::Accepted, payment_id, change: decision.change },
        })
    }
}

/// The key of money by the bank's id of it alone.
fn receipt_key(open: &OpenAccount, request_id: &str) -> ReceiptKey {
    ReceiptKey { provider: open.id().to_string(), id: request_id.to_owned() }
}
