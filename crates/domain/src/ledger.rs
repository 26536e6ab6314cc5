//! Double-entry bookkeeping: postings whose legs sum to zero. A posting is never changed or deleted once it is written.

use crate::{
    id::{PaymentId, ProjectId, RefundId},
    money::Rupiah,
    receipt::ReceiptKey,
    time::Timestamp,
};

/// An account of the ledger. `clearing` and `fees` belong to the installation, but are kept
/// per project, so that commits of different projects never wait for the same row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Account {
    /// Earned, but not settled yet.
    Pending,
    Available,
    /// Money that arrived and fits no payment.
    Unapplied,
    /// On its way back to customers.
    Refunding,
    /// Given back to customers.
    Refunded,
    /// What the provider owes us: the counterpart of all money that arrives.
    Clearing,
    Fees,
}

impl Account {
    pub const ALL: [Account; 7] = [
        Account::Pending,
        Account::Available,
        Account::Unapplied,
        Account::Refunding,
        Account::Refunded,
        Account::Clearing,
        Account::Fees,
    ];

    /// The accounts that belong to a project.
    pub const OF_PROJECT: [Account; 5] =
        [Account::Available, Account::Pending, Account::Unapplied, Account::Refunding, Account::Refunded];

    pub const fn word(self) -> &'static str {
        match self {
            Account::Pending => "pending",
            Account::Available => "available",
            Account::Unapplied => "unapplied",
            Account::Refunding => "refunding",
            Account::Refunded => "refunded",
            Account::Clearing => "clearing",
            Account::Fees => "fees",
        }
    }

    pub fn parse(word: &str) -> Option<Account> {
        Account::ALL.into_iter().find(|account| account.word() == word)
    }
}

/// Why money moved. The posting's id is made of it, so the same cause cannot be posted twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    Paid(PaymentId),
    Settled(PaymentId),
    Unapplied(ReceiptKey),
    /// Somebody decided that the receipt pays a payment.
    Accepted(ReceiptKey),
    /// Somebody gave the receipt's money back.
    Returned(ReceiptKey),
    /// A refund was made: its money is on its way.
    RefundStarted(RefundId),
    RefundSucceeded(RefundId),
    /// A refund failed or was cancelled.
    RefundReleased(RefundId),
    /// A refund that had succeeded came back.
    RefundReturned(RefundId),
}

/// One movement of money with all its legs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting {
    pub cause: Cause,
    pub project_id: ProjectId,
    pub payment_id: PaymentId,
    pub at: Timestamp,
    legs: Vec<(Account, Rupiah)>,
}

impl Posting {
    /// A payment was paid: gross from clearing, split into the merchant's net and our fee.
    pub fn paid(project_id: ProjectId, payment_id: PaymentId, amount: Rupiah, fee: Rupiah, at: Timestamp) -> Posting {
        let legs = vec![(Account::Clearing, -amount), (Account::Pending, amount - fee), (Account::Fees, fee)];
        Posting::balanced(Cause::Paid(payment_id), project_id, payment_id, at, legs)
    }

    /// The settlement delay is over: the net moves to the merchant's available balance.
    pub fn settled(project_id: ProjectId, payment_id: PaymentId, net: Rupiah, at: Timestamp) -> Posting {
        let legs = vec![(Account::Pending, -net), (Account::Available, net)];
        Posting::balanced(Cause::Settled(payment_id), project_id, payment_id, at, legs)
    }

    /// Money arrived that pays nothing: the whole amount is held until a member decides about it.
    pub fn unapplied(
        project_id: ProjectId,
        payment_id: PaymentId,
        receipt: ReceiptKey,
        amount: Rupiah,
        at: Timestamp,
    ) -> Posting {
        let legs = vec![(Account::Clearing, -amount), (Account::Unapplied, amount)];
        Posting::balanced(Cause::Unapplied(receipt), project_id, payment_id, at, legs)
    }

    /// Held money pays a payment after all. The fee is the payment's, and the rest of the money is the merchant's: the
    /// net, unless the money is another amount than the payment's.
    pub fn accepted(
        project_id: ProjectId,
        payment_id: PaymentId,
        receipt: ReceiptKey,
        amount: Rupiah,
        fee: Rupiah,
        at: Timestamp,
    ) -> Posting {
        let legs = vec![(Account::Unapplied, -amount), (Account::Pending, amount - fee), (Account::Fees, fee)];
        Posting::balanced(Cause::Accepted(receipt), project_id, payment_id, at, legs)
    }

    /// Held money went back to the customer.
    pub fn returned(
        project_id: ProjectId,
        payment_id: PaymentId,
        receipt: ReceiptKey,
        amount: Rupiah,
        at: Timestamp,
    ) -> Posting {
        let legs = vec![(Account::Unapplied, -amount), (Account::Clearing, amount)];
        Posting::balanced(Cause::Returned(receipt), project_id, payment_id, at, legs)
    }

    /// Legs of nothing are left out.
    pub(crate) fn balanced(
        cause: Cause,
        project_id: ProjectId,
        payment_id: PaymentId,
        at: Timestamp,
        mut legs: Vec<(Account, Rupiah)>,
    ) -> Posting {
        legs.retain(|(_, amount)| *amount != Rupiah::ZERO);
        assert!(legs.len() >= 2, "a posting moves money from somewhere to somewhere");
        assert_eq!(legs.iter().map(|(_, amount)| *amount).sum::<Rupiah>(), Rupiah::ZERO, "a posting sums to zero");
        Posting { cause, project_id, payment_id, at, legs }
    }

    pub fn legs(&self) -> &[(Account, Rupiah)] {
        &self.legs
    }

    pub fn id(&self) -> String {
        match &self.cause {
            Cause::Paid(payment) => format!("{}:{payment}", self.kind()),
            Cause::Settled(payment) => format!("{}:{payment}", self.kind()),
            Cause::Unapplied(receipt) | Cause::Accepted(receipt) | Cause::Returned(receipt) => {
                format!("{}:{}:{}", self.kind(), receipt.provider, receipt.id)
            }
            Cause::RefundStarted(refund)
            | Cause::RefundSucceeded(refund)
            | Cause::RefundReleased(refund)
            | Cause::RefundReturned(refund) => format!("{}:{refund}", self.kind()),
        }
    }

    pub fn kind(&self) -> &'static str {
        match self.cause {
            Cause::Paid(_) => "paid",
            Cause::Settled(_) => "settled",
            Cause::Unapplied(_) => "unapplied",
            Cause::Accepted(_) => "accepted",
            Cause::Returned(_) => "returned",
            Cause::RefundStarted(_) => "refund_started",
            Cause::RefundSucceeded(_) => "refund_succeeded",
            Cause::RefundReleased(_) => "refund_released",
            Cause::RefundReturned(_) => "refund_returned",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{fee::FeeSchedule, id::mint, method::MethodKind};

    proptest! {
        #[test]
        fn every_posting_sums_to_zero_with_two_legs_or_more(amount in 100..=Rupiah::MAX.get(), qris in any::<bool>()) {
            let kind = if qris { MethodKind::Qris } else { MethodKind::VirtualAccount };
            let now = Timestamp::from_millis(1);
            let (project, payment) = (mint(now, [1; 10]), mint(now, [2; 10]));
            let amount = Rupiah::new(amount);
            let fee = FeeSchedule::default().fee(kind, amount);
            let receipt = ReceiptKey { provider: "sandbox".into(), id: "r".into() };
            for posting in [
                Posting::paid(project, payment, amount, fee, now),
                Posting::unapplied(project, payment, receipt.clone(), amount, now),
                Posting::accepted(project, payment, receipt.clone(), amount, fee, now),
                Posting::returned(project, payment, receipt, amount, now),
            ] {
                prop_assert!(posting.legs().len() >= 2);
                prop_assert_eq!(posting.legs().iter().map(|leg| leg.1).sum::<Rupiah>(), Rupiah::ZERO);
            }
        }
    }

    #[test]
    fn a_decision_about_held_money_empties_the_unapplied_account() {
        let now = Timestamp::from_millis(1);
        let (project, payment) = (mint(now, [1; 10]), mint(now, [2; 10]));
        let (amount, fee) = (Rupiah::new(10_000), Rupiah::new(70));
        let receipt = ReceiptKey { provider: "sandbox".into(), id: "r".into() };
        let held = Posting::unapplied(project, payment, receipt.clone(), amount, now);
        let accepted = Posting::accepted(project, payment, receipt.clone(), amount, fee, now);
        let returned = Posting::returned(project, payment, receipt, amount, now);
        let sum = |postings: [&Posting; 2], account| {
            let legs = postings.into_iter().flat_map(|posting| posting.legs().iter());
            legs.filter(|(of, _)| *of == account).map(|(_, amount)| *amount).sum::<Rupiah>()
        };
        let paid = Posting::paid(project, payment, amount, fee, now);
        for account in Account::ALL {
            let as_paid = paid.legs().iter().find(|(of, _)| *of == account).map_or(Rupiah::ZERO, |leg| leg.1);
            assert_eq!(sum([&held, &accepted], account), as_paid, "{account:?}");
            assert_eq!(sum([&held, &returned], account), Rupiah::ZERO, "{account:?}");
        }
        assert_eq!(
            [held.id(), accepted.id(), returned.id()],
            ["unapplied:sandbox:r", "accepted:sandbox:r", "returned:sandbox:r"]
        );
    }

    #[test]
    fn a_fee_of_nothing_or_of_everything_leaves_no_empty_leg() {
        let now = Timestamp::from_millis(1);
        let (project, payment) = (mint(now, [1; 10]), mint(now, [2; 10]));
        let amount = Rupiah::new(10_000);
        let free = Posting::paid(project, payment, amount, Rupiah::ZERO, now);
        assert_eq!(free.legs(), [(Account::Clearing, -amount), (Account::Pending, amount)]);
        let eaten = Posting::paid(project, payment, amount, amount, now);
        assert_eq!(eaten.legs(), [(Account::Clearing, -amount), (Account::Fees, amount)]);
    }
}
