//! How refunds are posted.

use super::split::Split;
use crate::{
    id::{PaymentId, ProjectId, RefundId},
    ledger::{Account, Cause, Posting},
    money::Rupiah,
    time::Timestamp,
};

/// The money of a refund.
#[derive(Clone, Copy)]
pub(super) struct RefundMoney {
    pub(super) id: RefundId,
    pub(super) project_id: ProjectId,
    pub(super) about: PaymentId,
    pub(super) amount: Rupiah,
    pub(super) split: Split,
    /// How much of the payment's fee the merchant has got back with it.
    pub(super) fee_returned: Rupiah,
}

impl RefundMoney {
    /// It leaves the accounts that it is taken from.
    pub(super) fn started(self, at: Timestamp) -> Posting {
        let Split { pending, available, unapplied, .. } = self.split;
        let legs = vec![
            (Account::Pending, -pending),
            (Account::Available, -available),
            (Account::Unapplied, -unapplied),
            (Account::Refunding, self.amount),
        ];
        self.posting(Cause::RefundStarted(self.id), at, legs)
    }

    /// The customer has it, and the merchant a part of the fee.
    pub(super) fn succeeded(self, at: Timestamp) -> Posting {
        let legs = vec![
            (Account::Refunding, -self.amount),
            (Account::Refunded, self.amount),
            (Account::Fees, -self.fee_returned),
            (Account::Available, self.fee_returned),
        ];
        self.posting(Cause::RefundSucceeded(self.id), at, legs)
    }

    /// The customer has it, though it had gone back to where it was taken from.
    pub(super) fn found_done(self, at: Timestamp) -> Posting {
        let Split { pending, available, unapplied, .. } = self.split;
        let legs = vec![
            (Account::Pending, -pending),
            (Account::Available, self.fee_returned - available),
            (Account::Unapplied, -unapplied),
            (Account::Refunded, self.amount),
            (Account::Fees, -self.fee_returned),
        ];
        self.posting(Cause::RefundSucceeded(self.id), at, legs)
    }

    /// The refund was not made: it goes back where it came from. What was pending for its payment is available if the payment
    /// has settled meanwhile.
    pub(super) fn released(self, is_unsettled: bool, at: Timestamp) -> Posting {
        self.posting(Cause::RefundReleased(self.id), at, self.given_back(Account::Refunding, is_unsettled))
    }

    /// The same for one that was made and came back: the fee is due again.
    pub(super) fn returned(self, is_unsettled: bool, at: Timestamp) -> Posting {
        let mut legs = self.given_back(Account::Refunded, is_unsettled);
        // An account has one leg.
        for (_, amount) in legs.iter_mut().filter(|(account, _)| *account == Account::Available) {
            *amount = *amount - self.fee_returned;
        }
        legs.push((Account::Fees, self.fee_returned));
        self.posting(Cause::RefundReturned(self.id), at, legs)
    }

    fn given_back(self, from: Account, is_unsettled: bool) -> Vec<(Account, Rupiah)> {
        let Split { pending, available, unapplied, .. } = self.split;
        let (pending, available) =
            if is_unsettled { (pending, available) } else { (Rupiah::ZERO, pending + available) };
        vec![
            (from, -self.amount),
            (Account::Pending, pending),
            (Account::Available, available),
            (Account::Unapplied, unapplied),
        ]
    }

    fn posting(self, cause: Cause, at: Timestamp, legs: Vec<(Account, Rupiah)>) -> Posting {
        Posting::balanced(cause, self.project_id, self.about, at, legs)
    }
}
