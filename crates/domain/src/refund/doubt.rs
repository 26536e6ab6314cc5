//! Refunds of which the bank does not say what became of them: who may end one as failed, and when. The first person records a
//! doubt, a second one ends the refund, and neither may contradict the bank.

use crate::{refund_settings::Party, time::Timestamp};

/// Somebody says that a transfer was not made of which the bank has not said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt {
    pub by: Party,
    pub at: Timestamp,
    /// The number of the attempt that it is about, or [`IN_BATCH`]. It says nothing of a later one.
    pub attempt: i64,
    /// Whether they said that they had looked at the bank's own statement.
    pub is_confirmed: bool,
}

/// In place of an attempt's number, where no bank was asked: people took the refund to the bank in a batch, so the bank may have made
/// it too.
pub const IN_BATCH: i64 = 0;

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
    /// Our reference is not there, but money of our amount has left for nothing that we know of. Banks cut references.
    Unclear,
}

impl StatementFinding {
    pub const ALL: [StatementFinding; 5] = [
        StatementFinding::Absent,
        StatementFinding::Debited,
        StatementFinding::Returned,
        StatementFinding::OtherAmount,
        StatementFinding::Unclear,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            StatementFinding::Absent => "absent",
            StatementFinding::Debited => "debited",
            StatementFinding::Returned => "returned",
            StatementFinding::OtherAmount => "other_amount",
            StatementFinding::Unclear => "unclear",
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

impl StatementReading {
    /// Whether our reference stands on it.
    fn is_of_order(self) -> bool {
        !matches!(self.found, StatementFinding::Absent | StatementFinding::Unclear)
    }

    /// Whether a person has to look whether the order stands on it.
    pub fn is_unclear(self) -> bool {
        self.found == StatementFinding::Unclear
    }

    /// What it says, and what to do about it, in a sentence for developers.
    fn sentence(self) -> String {
        let holds = match self.found {
            StatementFinding::Absent => "does not hold the transfer",
            StatementFinding::Debited => "holds the transfer: record it as transferred, not as failed",
            StatementFinding::Returned => {
                "shows that it was sent and has come back: record it as transferred, and then that it came back"
            }
            StatementFinding::OtherAmount => {
                "holds our reference with another amount: record nothing before the bank has explained it"
            }
            StatementFinding::Unclear => {
                "holds a transfer of the same amount without a reference of ours: look at it at the bank"
            }
        };
        format!("the statement of the account that pays, read at {}, {holds}", self.at)
    }
}

/// What is known of an attempt that somebody says was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub attempt: i64,
    /// Until then, an order that the bank does not find may still be carried out.
    pub proves_nothing_until: Timestamp,
    /// Whether the bank, which is still asked, said last that it is carrying the order out.
    pub is_on_its_way: bool,
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
    /// The bank said last that it is carrying the order out.
    OnItsWay,
    /// Our reference stands on the statement.
    OnStatement(StatementReading),
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
            NotProven::OnItsWay => {
                "the bank said last that the refund is on its way: it can be ended as failed once it says otherwise"
                    .to_owned()
            }
            NotProven::OnStatement(reading) => reading.sentence(),
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
    /// Of a refund in a batch: we know neither when the transfer was ordered nor by which account, so a person looks.
    pub fn of_batch(is_confirmed: bool) -> Evidence {
        Evidence {
            attempt: IN_BATCH,
            proves_nothing_until: Timestamp::from_millis(0),
            is_on_its_way: false,
            has_statement: false,
            reading: None,
            is_confirmed,
        }
    }

    /// Whether a person may say that the transfer was not made. That moves no money, so it need not be proven yet.
    pub(super) fn check_doubt(&self) -> Result<(), NotProven> {
        match self.reading {
            Some(reading) if reading.is_of_order() => Err(NotProven::OnStatement(reading)),
            _ if self.needs_eyes() && !self.is_confirmed => Err(NotProven::StatementNotConfirmed),
            _ => Ok(()),
        }
    }

    /// Whether a person has to look at the bank's own statement, as we cannot read one or cannot tell by it.
    pub(super) fn needs_eyes(&self) -> bool {
        !self.has_statement || self.reading.is_some_and(StatementReading::is_unclear)
    }

    /// Whether the money may go back to the merchant.
    pub(super) fn check_end(&self, now: Timestamp) -> Result<(), NotProven> {
        let until = self.proves_nothing_until;
        if now <= until {
            return Err(NotProven::TooEarly { until });
        }
        if self.is_on_its_way {
            return Err(NotProven::OnItsWay);
        }
        match self.reading {
            Some(reading) if reading.at > until => Ok(()),
            _ if self.has_statement => Err(NotProven::StatementUnread),
            _ => Ok(()),
        }
    }
}
