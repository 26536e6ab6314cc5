//! A bank asks what is to be paid under a number (service 24).

use domain::{
    bank_request::{BankRequest, BankService, Verdict, jakarta_day},
    link::{Link, LinkClaim},
    money::Rupiah,
    payment::Payment,
};
use store::{BankWrite, CommitError, Guard};

use crate::{DECIDE_MOST, Engine, Error, banks::contracts::open_account::OpenAccount};

pub struct Inquiry {
    pub external_id: String,
    pub request_id: String,
    /// The whole number, without padding.
    pub number: String,
}

/// What the bank may know about a bill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bill {
    pub merchant: String,
    pub amount: Rupiah,
}

pub enum InquiryAnswer {
    Answered {
        verdict: Verdict,
        /// None if nobody has the number.
        bill: Option<Bill>,
    },
    /// The external id was used today for another request.
    ExternalIdReused,
}

impl Engine {
    /// Answers an inquiry, and records the answer before. The same inquiry again gets the same answer.
    pub async fn answer_inquiry(&self, open: &OpenAccount, inquiry: Inquiry) -> Result<InquiryAnswer, Error> {
        for _ in 0..DECIDE_MOST {
            let now = self.now();
            let day = jakarta_day(now);
            let known = self.store.bank_request(open.id(), BankService::Inquiry, day, &inquiry.external_id).await?;
            if let Some(known) = known {
                self.store.confirm().await?;
                if known.request_id != inquiry.request_id || known.number != inquiry.number {
                    return Ok(InquiryAnswer::ExternalIdReused);
                }
                let payment = match known.payment_id {
                    Some(id) => self.store.payment(id).await?,
                    None => None,
                };
                return self.inquiry_answer(known.verdict, payment).await;
            }
            let payment = self.store.payment_of_number(open.id(), &inquiry.number).await?.map(|(payment, _)| payment);
            let verdict = match &payment {
                Some(payment) => Verdict::of_bill(payment, self.is_claimed_by_other(payment).await?, now),
                None => Verdict::Unknown,
            };
            let request = BankRequest {
                account_id: open.id(),
                service: BankService::Inquiry,
                day,
                external_id: inquiry.external_id.clone(),
                request_id: inquiry.request_id.clone(),
                receipt_id: None,
                is_first: false,
                number: inquiry.number.clone(),
                payment_id: payment.as_ref().map(|payment| payment.id),
                amount: None,
                verdict,
                at: now,
            };
            match self.store.commit(BankWrite::Requested(request).into()).await {
                Ok(()) => return self.inquiry_answer(verdict, payment).await,
                // The same inquiry was answered since.
                Err(CommitError::Conflict(Guard::BankRequest)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    async fn inquiry_answer(&self, verdict: Verdict, payment: Option<Payment>) -> Result<InquiryAnswer, Error> {
        let bill = match payment {
            Some(payment) => {
                let project = self.project_of(&payment).await?;
                Some(Bill { merchant: project.merchant.name.clone(), amount: payment.terms.amount })
            }
            None => None,
        };
        Ok(InquiryAnswer::Answered { verdict, bill })
    }

    async fn is_claimed_by_other(&self, payment: &Payment) -> Result<bool, Error> {
        let Some(id) = payment.terms.link_id else { return Ok(false) };
        let link = self.store.link(id).await?;
        Ok(link.as_ref().map(Link::claim) == Some(LinkClaim::Taken))
    }
}
