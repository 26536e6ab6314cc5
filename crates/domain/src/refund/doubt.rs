//! Refunds of which the bank does not say what became of them: who may end one as failed, and when. The first person records a
//! doubt, a second one ends the refund, and neither may contradict the bank.

use crate::{refund_settings::Party, time::Timestamp};

/// Somebody says that a transfer was not made of which the bank has not said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt {
    pub by: Party,
    pub at: Timestamp,
    /// The number of the attempt that it is about. It says nothing of a later one.
    pub attempt: i64,
}

/// What the statement of the account that pays says about an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementFinding {
    Absent,
    /// The money has left.
    Debited,
    /// It has left, and has come back.
    Returned,
    /// Our reference is there with another amount.
    OtherAmount,
}

impl StatementFinding {
    pub const ALL: [StatementFinding; 4] = [
        StatementFinding::Absent,
        StatementFinding::Debited,
        StatementFinding::Returned,
        StatementFinding::OtherAmount,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            StatementFinding::Absent => "absent",
            StatementFinding::Debited => "debited",
            StatementFinding::Returned => "returned",
            StatementFinding::OtherAmount => "other_amount",
        }
    }

    pub fn parse(word: &str) -> Option<StatementFinding> {
        StatementFinding::ALL.into_iter().find(|finding| finding.word() == word)
    }
}

/// The last reading of the statement for an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementReading {
    pub at: Timestamp,
    pub found: StatementFinding,
}

/// What is known of an attempt that somebody says was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub attempt: i64,
    /// Until then, an order that the bank does not find may still be carried out.
    pub proves_nothing_until: Timestamp,
    /// Whether we can read a statement on which the transfer would stand.
    pub has_statement: bool,
    pub reading: Option<StatementReading>,
    /// Whether the person says that they have looked at the bank's own statement.
    pub is_confirmed: bool,
}

/// Why an uncertain refund cannot be ended as failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotProven {
    /// It was sent too lately.
    TooEarly { until: Timestamp },
    /// The transfer stands on the statement.
    OnStatement { read_at: Timestamp },
    /// The account has a statement, and it was not read since the bank's time was over.
    StatementUnread,
    /// The account has no statement that we can read, and the person has not looked at the bank's own.
    StatementNotConfirmed,
    /// The same person has recorded the doubt.
    OwnDoubt,
}

impl NotProven {
    /// In a sentence, for developers.
    pub fn sentence(self) -> String {
        match self {
            NotProven::TooEarly { until } => {
                format!("the bank may still carry the refund out: it can be ended as failed after {until}")
            }
            NotProven::OnStatement { read_at } => format!(
                "the statement of the account that pays, read at {read_at}, holds the transfer: record it as transferred, \
                 not as failed"
            ),
            NotProven::StatementUnread => {
                "the statement of the account that pays could not be read yet: try again later".to_owned()
            }
            NotProven::StatementNotConfirmed => {
                "confirm that you have looked at the bank's own statement, and that it does not hold the transfer"
                    .to_owned()
            }
            NotProven::OwnDoubt => {
                "you have recorded already that the refund was not made: another owner or an operator must confirm it"
                    .to_owned()
            }
        }
    }
}

impl Evidence {
    /// Whether a person may say that the transfer was not made. That moves no money, so it need not be proven yet.
    pub(super) fn check_doubt(&self) -> Result<(), NotProven> {
        match self.reading {
            Some(StatementReading { at, found }) if found != StatementFinding::Absent => {
                Err(NotProven::OnStatement { read_at: at })
            }
            _ if !self.has_statement && !self.is_confirmed => Err(NotProven::StatementNotConfirmed),
            _ => Ok(()),
        }
    }

    /// Whether the money may go back to the merchant.
    pub(super) fn check_end(&self, now: Timestamp) -> Result<(), NotProven> {
        let until = self.proves_nothing_until;
        if now <= until {
            return Err(NotProven::TooEarly { until });
        }
        match self.reading {
            Some(reading) if reading.at > until => Ok(()),
            _ if self.has_statement => Err(NotProven::StatementUnread),
            _ => Ok(()),
        }
    }
}
