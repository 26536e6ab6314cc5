//! A refund that people had ended as failed, and that the bank has made all the same.
//!
//! Its money went back to where it was taken from, and the merchant may have spent it since. It is taken once more: from what is
//! still pending for the payment, and else from what is available, which may go below 0. So the refunds of a payment may exceed
//! what was received for it, by what was found like this and by nothing else; a difference tells a person.

use super::split::{Refundable, Split};
use crate::{money::Rupiah, time::Timestamp};

/// That a refund was found done after people had ended it as failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDone {
    pub at: Timestamp,
    /// Why it was ended as failed, for what was told of it then.
    pub failure: String,
}

/// Where the money of a refund that was found done is taken from.
#[derive(Clone, Copy, Debug)]
pub enum FoundSource<'a> {
    /// The payment as it is now.
    Payment(&'a Refundable),
    /// Held money, which is still held.
    HeldMoney,
    /// It was held money, and something else was done with it meanwhile.
    Available,
}

impl FoundSource<'_> {
    pub(super) fn split(self, amount: Rupiah) -> Split {
        match self {
            FoundSource::Payment(payment) => {
                let pending = amount.min(payment.own_pending().max(Rupiah::ZERO));
                Split { pending, available: amount - pending, ..Split::default() }
            }
            FoundSource::HeldMoney => Split::of_held_money(amount),
            FoundSource::Available => Split { available: amount, ..Split::default() },
        }
    }
}
