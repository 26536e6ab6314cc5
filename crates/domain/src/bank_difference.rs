//! What banks and we say about the same money: the result of comparing a day, and what a person must look at.

use crate::{
    id::{BankAccountId, PaymentId},
    money::Rupiah,
    time::Timestamp,
};

/// What a person must look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DifferenceKind {
    /// We have booked money that the bank does not know of.
    MissingThere,
    /// The bank knows the money in another amount.
    Amount,
    /// The bank keeps more of the money than we charge for the payment.
    Fee,
    /// The bank has given the money back.
    Refunded,
    /// The bank could not be asked about a code for a day.
    Unanswered,
    /// We have booked money after the bank was told that nothing is decided.
    Undecided,
}

impl DifferenceKind {
    pub const ALL: [DifferenceKind; 6] = [
        DifferenceKind::MissingThere,
        DifferenceKind::Amount,
        DifferenceKind::Fee,
        DifferenceKind::Refunded,
        DifferenceKind::Unanswered,
        DifferenceKind::Undecided,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            DifferenceKind::MissingThere => "missing_there",
            DifferenceKind::Amount => "amount",
            DifferenceKind::Fee => "fee",
            DifferenceKind::Refunded => "refunded",
            DifferenceKind::Unanswered => "unanswered",
            DifferenceKind::Undecided => "undecided",
        }
    }

    pub fn parse(word: &str) -> Option<DifferenceKind> {
        DifferenceKind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DifferenceKey {
    pub account_id: BankAccountId,
    /// The bank's id of the money, or our reference where there is none.
    pub subject: String,
    pub kind: DifferenceKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub key: DifferenceKey,
    /// The day in Jakarta that it belongs to.
    pub day: i64,
    pub payment_id: Option<PaymentId>,
    /// What we say: the amount, or the fee where the fee differs.
    pub ours: Option<Rupiah>,
    pub theirs: Option<Rupiah>,
    pub found_at: Timestamp,
    /// When somebody has settled it, and what they noted.
    pub settled: Option<(Timestamp, String)>,
}

/// How many, and how much together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub count: i64,
    pub amount: Rupiah,
}

impl Tally {
    pub fn add(&mut self, amount: Rupiah) {
        self.count += 1;
        self.amount = self.amount + amount;
    }
}

/// How the bank was asked about a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComparedBy {
    /// By its report of the day.
    Report,
    /// By asking about each code.
    Query,
    /// Virtual accounts by the report, QR codes one by one.
    ReportAndQuery,
}

impl ComparedBy {
    pub const ALL: [ComparedBy; 3] = [ComparedBy::Report, ComparedBy::Query, ComparedBy::ReportAndQuery];

    pub const fn word(self) -> &'static str {
        match self {
            ComparedBy::Report => "report",
            ComparedBy::Query => "query",
            ComparedBy::ReportAndQuery => "report_and_query",
        }
    }

    pub fn parse(word: &str) -> Option<ComparedBy> {
        ComparedBy::ALL.into_iter().find(|by| by.word() == word)
    }
}

/// A day of an account, compared with what the bank says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconciliation {
    pub account_id: BankAccountId,
    pub day: i64,
    pub by: ComparedBy,
    /// When the day was first compared, and when last.
    pub first_at: Timestamp,
    pub at: Timestamp,
    /// What the bank and we say alike, by the bank's amounts.
    pub matched: Tally,
    /// What the bank knew and we did not when the day was first compared; it is booked since.
    pub missing_here: Tally,
    /// What we have booked and the bank does not know.
    pub missing_there: Tally,
    /// What both know differently, by the bank's amounts where it gives one.
    pub differing: Tally,
    /// What the bank keeps, of the transactions where it says so.
    pub bank_fees: Tally,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back() {
        for kind in DifferenceKind::ALL {
            assert_eq!(DifferenceKind::parse(kind.word()), Some(kind));
        }
        for by in ComparedBy::ALL {
            assert_eq!(ComparedBy::parse(by.word()), Some(by));
        }
    }
}
