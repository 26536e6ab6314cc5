//! Openings: attempts to have a bank issue a code for a payment. An opening is committed before the bank is asked, so
//! that no code is lost or made twice, however the call ends; the payment is created when the code is there.

use crate::{
    id::{BankAccountId, OpeningId, PaymentId},
    payment::{Payment, PaymentTerms},
    time::Timestamp,
};

const BASE36: u128 = 36;
/// 36^24 < 2^128 < 36^25.
const REFERENCE_CHARACTERS: usize = 25;

/// An attempt to have a bank issue a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    pub id: OpeningId,
    pub account_id: BankAccountId,
    pub terms: PaymentTerms,
    /// Who tried to pay a link; none for direct payments.
    pub attempt: Option<OpeningAttempt>,
    pub state: OpeningState,
    /// Counts the codes that the bank was asked for. Each has a reference of its own.
    pub generation: i64,
    /// When the bank was first asked for the code of this generation, or for an earlier one that it replaces.
    pub created_at: Timestamp,
    pub version: i64,
}

/// What must be written with the payment of a link once its code is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpeningAttempt {
    pub visitor: Option<String>,
    pub network: Option<String>,
    /// The pending payments that the new one replaces.
    pub replaces: Vec<PaymentId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpeningState {
    /// The bank was asked; the answer has not come, or says nothing.
    Open,
    Issued {
        payment_id: PaymentId,
    },
    /// The bank has said no.
    Refused {
        at: Timestamp,
    },
    /// Nobody waits for the code any more, and the bank is told to void it.
    Abandoned {
        at: Timestamp,
    },
}

impl OpeningState {
    pub const fn word(self) -> &'static str {
        match self {
            OpeningState::Open => "open",
            OpeningState::Issued { .. } => "issued",
            OpeningState::Refused { .. } => "refused",
            OpeningState::Abandoned { .. } => "abandoned",
        }
    }
}

impl Opening {
    /// The payment of this opening, now that its code is there. It is as old as its code, not as its opening.
    pub fn payment(&self, id: PaymentId, code: String, now: Timestamp) -> Payment {
        Payment::pending(id, self.terms.clone(), code, now)
    }

    pub const fn payment_id(&self) -> Option<PaymentId> {
        match self.state {
            OpeningState::Issued { payment_id } => Some(payment_id),
            OpeningState::Open | OpeningState::Refused { .. } | OpeningState::Abandoned { .. } => None,
        }
    }
}

/// One code that a bank was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankCode {
    pub account_id: BankAccountId,
    pub opening_id: OpeningId,
    pub generation: i64,
    /// What we call it at the bank.
    pub reference: String,
    /// What the bank calls it, once it has said so.
    pub bank_reference: Option<String>,
    /// The account number, where we have chosen it or the bank has told it.
    pub number: Option<String>,
    pub asked_at: Timestamp,
}

/// What is still to be asked of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// To find out whether the code exists, and to have it issued.
    Issue,
    /// To learn whether the code was paid.
    Query,
    /// To void the code.
    Void,
}

impl JobKind {
    pub const ALL: [JobKind; 3] = [JobKind::Issue, JobKind::Query, JobKind::Void];

    pub const fn word(self) -> &'static str {
        match self {
            JobKind::Issue => "issue",
            JobKind::Query => "query",
            JobKind::Void => "void",
        }
    }

    pub fn parse(word: &str) -> Option<JobKind> {
        JobKind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// A job: one thing to ask about one code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobKey {
    pub opening_id: OpeningId,
    pub kind: JobKind,
    pub generation: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankJob {
    pub key: JobKey,
    pub account_id: BankAccountId,
    /// When it is to be done, or when the lease of the node that does it ends; none once it is done.
    pub due_at: Option<Timestamp>,
    pub tries: i64,
    pub created_at: Timestamp,
}

/// A call that was committed before it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankSend {
    pub account_id: BankAccountId,
    /// The day in Jakarta; the external id is unique within it.
    pub day: i64,
    pub external_id: String,
    /// The service's number in SNAP.
    pub service: i64,
    /// The opening and the generation of the code that it is about; none for a report.
    pub about: Option<(OpeningId, i64)>,
    pub sent_at: Timestamp,
    /// The bank's response code, and when it came; none while no answer is known.
    pub answer: Option<(String, Timestamp)>,
}

/// How we learnt of money that a bank has taken for a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MoneySource {
    /// The bank told us.
    Notification,
    /// The bank answered when we asked about the code.
    Query,
    /// It stands in the bank's report of a day.
    Report,
}

impl MoneySource {
    pub const fn word(self) -> &'static str {
        match self {
            MoneySource::Notification => "notification",
            MoneySource::Query => "query",
            MoneySource::Report => "report",
        }
    }
}

/// How a number of 128 bits is written at banks: 25 characters, digits and capital letters.
pub fn bank_reference(bits: u128) -> String {
    let mut left = bits;
    let mut characters = [b'0'; REFERENCE_CHARACTERS];
    for character in characters.iter_mut().rev() {
        let digit = (left % BASE36) as u8;
        *character = if digit < 10 { b'0' + digit } else { b'A' + digit - 10 };
        left /= BASE36;
    }
    characters.iter().copied().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_have_25_characters_and_are_unlike() {
        let references = [0, 1, 35, 36, u128::from(u64::MAX), u128::MAX - 1, u128::MAX].map(bank_reference);
        assert_eq!(references[..4].iter().map(|text| &text[22..]).collect::<Vec<_>>(), ["000", "001", "00Z", "010"]);
        assert_eq!(references[6], "F5LXX1ZZ5PNORYNQGLHZMSP33");
        for (index, reference) in references.iter().enumerate() {
            assert_eq!(reference.len(), 25, "{reference}");
            assert!(!references[..index].contains(reference));
        }
    }

    #[test]
    fn words_read_back() {
        for kind in JobKind::ALL {
            assert_eq!(JobKind::parse(kind.word()), Some(kind));
        }
    }
}
