//! Money as the provider reports it.

use crate::{money::Rupiah, time::Timestamp};

/// What makes a provider's report the same report when it comes again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReceiptKey {
    pub provider: String,
    pub id: String,
}

/// Money that reached the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub key: ReceiptKey,
    pub amount: Rupiah,
    /// When the customer paid, by the provider's word.
    pub paid_at: Timestamp,
    /// When we learnt of it.
    pub received_at: Timestamp,
}

/// Why money could not pay its payment. It is kept, and someone decides about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unapplied {
    WrongAmount,
    AlreadyPaid,
    LinkClaimed,
    TooLate,
}

impl Unapplied {
    pub const ALL: [Unapplied; 4] =
        [Unapplied::WrongAmount, Unapplied::AlreadyPaid, Unapplied::LinkClaimed, Unapplied::TooLate];

    pub const fn word(self) -> &'static str {
        match self {
            Unapplied::WrongAmount => "wrong_amount",
            Unapplied::AlreadyPaid => "already_paid",
            Unapplied::LinkClaimed => "link_claimed",
            Unapplied::TooLate => "too_late",
        }
    }
}
