//! What a bank was told while it was not known whether the money that it asked us to take was booked.

use std::time::Duration;

use crate::{id::BankAccountId, money::Rupiah, time::Timestamp};

/// How far the clock of another node may be ahead for its bookings to be found. `lunas doctor` warns of less.
const NODES_APART: Duration = Duration::from_secs(5);

/// What we said, and about which request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndecidedWord {
    pub account_id: BankAccountId,
    pub external_id: String,
    pub request_id: String,
    pub number: String,
    pub amount: Rupiah,
    /// When the bank asked. What was being committed then has a time from here to `said_at`.
    pub asked_at: Timestamp,
    /// As the setting of the account that chose it is written.
    pub said: String,
    pub said_at: Timestamp,
}

impl UndecidedWord {
    /// The latest time that a booking can have that was made before this was said: the clock of the node that made it may be
    /// ahead. A booking that is shortly later by the right clock is found, too. That only makes a person look.
    pub fn booked_until(&self) -> Timestamp {
        self.said_at.plus(NODES_APART)
    }
}

/// What was found out about the money later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UndecidedFinding {
    /// It was booked after all.
    Booked,
    /// It was not, and will not be by that request.
    NotBooked,
}

impl UndecidedFinding {
    pub const ALL: [UndecidedFinding; 2] = [UndecidedFinding::Booked, UndecidedFinding::NotBooked];

    pub const fn word(self) -> &'static str {
        match self {
            UndecidedFinding::Booked => "booked",
            UndecidedFinding::NotBooked => "not_booked",
        }
    }

    pub fn parse(word: &str) -> Option<UndecidedFinding> {
        UndecidedFinding::ALL.into_iter().find(|finding| finding.word() == word)
    }
}

/// A word that is still to be looked after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenWord {
    pub word: UndecidedWord,
    pub finding: Option<UndecidedFinding>,
    pub due_at: Timestamp,
    /// How often it was looked after.
    pub tries: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back() {
        for finding in UndecidedFinding::ALL {
            assert_eq!(UndecidedFinding::parse(finding.word()), Some(finding));
        }
    }
}
