//! What a refund is taken from, and whether it may be made at all.

use crate::{money::Rupiah, payment_state::State};

/// From which accounts a refund's money was taken. The parts add up to its amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// From what was pending for the payment itself.
    pub pending: Rupiah,
    pub available: Rupiah,
    /// That part of `available` which the payment's fee stands for: it may take the account below 0.
    pub fee: Rupiah,
    /// From held money.
    pub unapplied: Rupiah,
}

impl Split {
    pub const fn of_held_money(amount: Rupiah) -> Split {
        Split { pending: Rupiah::ZERO, available: Rupiah::ZERO, fee: Rupiah::ZERO, unapplied: amount }
    }

    /// What `available` must hold for it.
    pub fn needs_available(self) -> Rupiah {
        self.available - self.fee
    }
}

/// What is known of a payment whose money shall be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refundable {
    pub state: State,
    /// The money that came for it: its amount and the difference that somebody accepted.
    pub received: Rupiah,
    pub fee: Rupiah,
    /// Whether what is left after the fee is still pending.
    pub is_unsettled: bool,
    /// The sum of its refunds that are not failed, cancelled or returned.
    pub refunded: Rupiah,
    /// What these were taken from.
    pub taken: Split,
    /// The sum of those that have succeeded.
    pub succeeded: Rupiah,
    /// How much of the fee the merchant got back with these.
    pub fee_returned: Rupiah,
}

/// Why a refund cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    NotPaid,
    /// Everything was refunded, or is being refunded.
    NothingLeft,
    /// More than is left.
    TooMuch {
        left: Rupiah,
    },
    /// More than was ever received.
    AboveReceived {
        received: Rupiah,
    },
    /// The project's balance does not cover it.
    NotCovered {
        covered: Rupiah,
    },
}

impl NoRoom {
    /// In a sentence, for developers.
    pub fn sentence(self) -> String {
        match self {
            NoRoom::NotPaid => "the payment is not paid".to_owned(),
            NoRoom::NothingLeft => "nothing of the payment is left to refund".to_owned(),
            NoRoom::TooMuch { left } => format!("only {} of the payment is left to refund", left.get()),
            NoRoom::AboveReceived { received } => format!("only {} was received for the payment", received.get()),
            NoRoom::NotCovered { covered } => {
                format!("the balance covers a refund of {} at most", covered.get().max(0))
            }
        }
    }
}

/// A refund that may be made: its amount, and where the money is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    pub amount: Rupiah,
    pub split: Split,
}

impl Refundable {
    /// What can still be refunded.
    pub fn left(&self) -> Rupiah {
        match self.state {
            State::Paid { .. } => self.received - self.refunded,
            _ => Rupiah::ZERO,
        }
    }

    /// What is still pending for the payment.
    pub fn own_pending(&self) -> Rupiah {
        match self.is_unsettled {
            true => self.received - self.fee - self.taken.pending,
            false => Rupiah::ZERO,
        }
    }

    /// What is kept of the fee, and no refund stands on yet.
    fn kept_fee(&self) -> Rupiah {
        (self.fee - self.taken.fee - self.fee_returned).max(Rupiah::ZERO)
    }

    /// How much of the fee the merchant gets back when a refund of this amount succeeds: of all that has gone back by then, the same
    /// part as of the fee, rounded half up.
    pub fn fee_to_return(&self, amount: Rupiah) -> Rupiah {
        let gone = i128::from((self.succeeded + amount).get());
        let (fee, received) = (i128::from(self.fee.get()), i128::from(self.received.get()).max(1));
        let due = (2 * fee * gone + received) / (2 * received);
        let due = Rupiah::new(i64::try_from(due).unwrap_or(i64::MAX)).min(self.fee);
        (due - self.fee_returned).max(Rupiah::ZERO)
    }

    /// What a refund may take from the project's money at most, where this is available.
    pub fn covered(&self, available: Rupiah) -> Rupiah {
        available.max(Rupiah::ZERO) + self.own_pending() + self.kept_fee()
    }

    /// Whether a refund of this amount, without one of all that is left, takes no more than what is still pending of the payment:
    /// then it does not matter what is available.
    pub fn takes_only_own_pending(&self, amount: Option<Rupiah>) -> bool {
        amount.unwrap_or_else(|| self.left()) <= self.own_pending()
    }

    /// Judges a refund of this amount; without one, of all that is left. The payment's own pending money is taken first, then
    /// what is available, and then the fee.
    pub fn judge(&self, amount: Option<Rupiah>, available: Rupiah) -> Result<Judged, NoRoom> {
        let State::Paid { .. } = self.state else { return Err(NoRoom::NotPaid) };
        let left = self.left();
        let amount = amount.unwrap_or(left);
        if amount > self.received {
            return Err(NoRoom::AboveReceived { received: self.received });
        }
        if left <= Rupiah::ZERO {
            return Err(NoRoom::NothingLeft);
        }
        if amount > left {
            return Err(NoRoom::TooMuch { left });
        }
        let covered = self.covered(available);
        if amount > covered {
            return Err(NoRoom::NotCovered { covered });
        }
        let pending = amount.min(self.own_pending());
        let rest = amount - pending;
        let fee = rest - rest.min(available.max(Rupiah::ZERO));
        Ok(Judged { amount, split: Split { pending, available: rest, fee, unapplied: Rupiah::ZERO } })
    }
}
