//! Strays: money that a bank has taken and that fits no payment of any project. It stays on the installation's books
//! until an operator assigns it to a payment or returns it. A notice of money that cannot be read is a stray too, with the notice
//! as it came: an operator states the amount first.

use crate::{
    id::{BankAccountId, PaymentId, ProjectId, StrayId},
    money::Rupiah,
    receipt::ReceiptKey,
    time::Timestamp,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    pub id: StrayId,
    pub account_id: BankAccountId,
    /// The bank's id of the money: its receipt has it once the stray is assigned.
    pub receipt_id: String,
    /// The number that was paid.
    pub number: String,
    /// None where the bank's notice cannot be read and nobody has stated what it means. It is on no books until then.
    pub amount: Option<Rupiah>,
    pub paid_at: Timestamp,
    pub received_at: Timestamp,
    pub decided: Option<StrayDecided>,
    /// The bank's notice as it came, where it cannot be read.
    pub body: Option<String>,
}

/// What an operator has decided about a stray.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrayDecided {
    pub decision: StrayDecision,
    pub at: Timestamp,
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrayDecision {
    /// It is money for this payment; whether it pays it is judged like any other money.
    Assigned { project_id: ProjectId, payment_id: PaymentId },
    /// The bank has been told to give it back.
    Returned,
}

impl StrayDecision {
    pub const fn word(self) -> &'static str {
        match self {
            StrayDecision::Assigned { .. } => "assigned",
            StrayDecision::Returned => "returned",
        }
    }
}

/// What a bank has said of money that fits no payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrayReport {
    Money {
        amount: Rupiah,
        /// None where the bank does not say when: then it counts as paid when we learnt of it.
        paid_at: Option<Timestamp>,
    },
    /// The notice cannot be read; this is how it came.
    Unreadable { body: String },
}

impl Stray {
    /// A stray that has just come in, at `now`. Nobody has decided about it.
    pub fn received(
        id: StrayId,
        account_id: BankAccountId,
        receipt_id: String,
        number: String,
        report: StrayReport,
        now: Timestamp,
    ) -> Stray {
        let (amount, paid_at, body) = match report {
            StrayReport::Money { amount, paid_at } => (Some(amount), paid_at.unwrap_or(now), None),
            StrayReport::Unreadable { body } => (None, now, Some(body)),
        };
        Stray { id, account_id, receipt_id, number, amount, paid_at, received_at: now, decided: None, body }
    }

    /// The key of the receipt that it becomes when it is assigned.
    pub fn receipt_key(&self) -> ReceiptKey {
        ReceiptKey { provider: self.account_id.to_string(), id: self.receipt_id.clone() }
    }
}

/// The accounts of the installation's own books. Every movement has two legs that sum to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrayAccount {
    /// Money whose owner is not known.
    Strays,
    /// What banks owe us for it.
    Clearing,
}

impl StrayAccount {
    pub const fn word(self) -> &'static str {
        match self {
            StrayAccount::Strays => "strays",
            StrayAccount::Clearing => "clearing",
        }
    }
}

/// A movement on the installation's books: a stray came in, or went out by a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrayMovement {
    Received,
    Decided(StrayDecision),
}

impl StrayMovement {
    pub const fn word(self) -> &'static str {
        match self {
            StrayMovement::Received => "received",
            StrayMovement::Decided(decision) => decision.word(),
        }
    }

    /// Its two legs for money of this amount.
    pub fn legs(self, amount: Rupiah) -> [(StrayAccount, Rupiah); 2] {
        match self {
            StrayMovement::Received => [(StrayAccount::Strays, amount), (StrayAccount::Clearing, -amount)],
            StrayMovement::Decided(_) => [(StrayAccount::Strays, -amount), (StrayAccount::Clearing, amount)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::mint;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[test]
    fn a_stray_has_the_money_that_the_bank_told_or_the_notice_that_cannot_be_read() {
        let (amount, before) = (Rupiah::new(50_000), Timestamp::from_millis(NOW.as_millis() - 1));
        let money = |paid_at| StrayReport::Money { amount, paid_at };
        let unreadable = StrayReport::Unreadable { body: "{}".to_owned() };
        for (report, expected) in [
            (money(Some(before)), (Some(amount), before, None)),
            (money(None), (Some(amount), NOW, None)),
            (unreadable, (None, NOW, Some("{}".to_owned()))),
        ] {
            let (id, account_id) = (mint(NOW, [1; 10]), mint(NOW, [2; 10]));
            let stray = Stray::received(id, account_id, "receipt".to_owned(), "8801".to_owned(), report, NOW);
            assert_eq!((stray.id, stray.account_id), (id, account_id));
            assert_eq!((stray.receipt_id.as_str(), stray.number.as_str()), ("receipt", "8801"));
            assert_eq!((stray.received_at, stray.decided), (NOW, None));
            assert_eq!((stray.amount, stray.paid_at, stray.body), expected);
        }
    }
}
