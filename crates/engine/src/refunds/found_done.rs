//! A refund that people had ended as failed and that the bank has made all the same: it succeeds after all, and a difference tells a
//! person, who must see that the same money was not given back twice.

use domain::{
    bank_difference::{Difference, DifferenceKey, DifferenceKind},
    bank_request::jakarta_day,
    id::BankAccountId,
    money::Rupiah,
    receipt::{Decided as ReceiptDecision, Decider, Decision},
    refund::{RefundStuck, found::FoundSource},
};
use store::{LedgerWrite, OpeningWrite, Write};

use super::steps::{Decided, StepBasis};
use crate::Engine;

impl Engine {
    /// What follows when a transfer turns out done of a refund that people have ended as failed. The difference is about the account
    /// that was asked and our reference of the attempt, which the caller notes; where people took it to the bank in a batch, about
    /// the account at which the payment was paid and the refund's id.
    pub(crate) fn found_done(
        &self,
        basis: &StepBasis,
        (account_id, subject): (BankAccountId, String),
        reference: String,
    ) -> Result<Decided, RefundStuck> {
        let source = match (&basis.payment, &basis.held) {
            (Some(payment), _) => FoundSource::Payment(&payment.refundable),
            (None, Some(_)) => FoundSource::HeldMoney,
            (None, None) => FoundSource::Available,
        };
        let step = basis.refund.clone().found_done(source, Some(reference), basis.now)?;
        let (refund, now) = (&step.refund, basis.now);
        let difference = Difference {
            key: DifferenceKey { account_id, subject, kind: DifferenceKind::Refunded },
            day: jakarta_day(now),
            payment_id: Some(refund.of.about()),
            ours: Some(Rupiah::ZERO),
            theirs: Some(refund.amount),
            found_at: now,
            settled: None,
        };
        let mut besides = vec![Write::from(OpeningWrite::DifferenceFound(difference))];
        // The held money goes back by it after all.
        besides.extend(basis.held.as_ref().map(|held| {
            let decided = ReceiptDecision {
                decision: Decision::Returned,
                at: now,
                note: "the refund was found done".to_owned(),
                by: Decider::of(&self.actor),
                refund: Some(refund.id),
            };
            let (key, project_id) = (held.receipt.key.clone(), held.project_id);
            Write::from(LedgerWrite::ReceiptDecided { key, project_id, decided })
        }));
        Ok(Decided { besides, ..step.into() })
    }
}
