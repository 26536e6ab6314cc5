//! Attempts to send a refund. An attempt is stored as sent before the bank is called: after a crash it is only asked about.

use super::{
    answer::{AttemptAnswer, AttemptFinding},
    doubt::StatementReading,
};
use crate::{
    destination::Rail,
    id::{BankAccountId, RefundId},
    time::Timestamp,
};

/// How an attempt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttemptState {
    /// The bank was called, or is about to be called.
    Sent,
    /// The bank's answer does not say whether it has carried it out.
    Unknown,
    /// The bank has refused it for good: it was not carried out and never will be.
    Refused,
    Done,
}

impl AttemptState {
    pub const ALL: [AttemptState; 4] =
        [AttemptState::Sent, AttemptState::Unknown, AttemptState::Refused, AttemptState::Done];

    pub const fn word(self) -> &'static str {
        match self {
            AttemptState::Sent => "sent",
            AttemptState::Unknown => "unknown",
            AttemptState::Refused => "refused",
            AttemptState::Done => "done",
        }
    }

    pub fn parse(word: &str) -> Option<AttemptState> {
        AttemptState::ALL.into_iter().find(|state| state.word() == word)
    }

    /// Whether the bank may have carried it out, or has.
    pub const fn may_be_done(self) -> bool {
        !matches!(self, AttemptState::Refused)
    }

    /// Whether an attempt in this state may come to stand like that.
    pub const fn may_become(self, next: AttemptState) -> bool {
        matches!(
            (self, next),
            (AttemptState::Sent, AttemptState::Unknown | AttemptState::Refused | AttemptState::Done)
                | (AttemptState::Unknown, AttemptState::Unknown | AttemptState::Refused | AttemptState::Done)
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferAttempt {
    pub refund_id: RefundId,
    /// From 1 on.
    pub number: i64,
    pub account_id: BankAccountId,
    /// What we name it to the bank; no other attempt has it.
    pub reference: String,
    /// Of the call that ordered it.
    pub external_id: String,
    /// None where it goes back by the code that was paid.
    pub rail: Option<Rail>,
    pub state: AttemptState,
    /// How the bank names it.
    pub bank_reference: Option<String>,
    /// What was heard of it last, as [`super::answer::AttemptAnswer`] reads it.
    pub answer: Option<String>,
    pub sent_at: Timestamp,
    /// When the bank was asked about it the last time, or answered.
    pub updated_at: Timestamp,
    /// When the bank shall be asked about it next; none once it is known what became of it.
    pub ask_at: Option<Timestamp>,
    /// How often the bank was asked about it.
    pub asked: i64,
    /// What the statement of the account said about it when it was read last.
    pub statement: Option<StatementReading>,
}

impl TransferAttempt {
    /// A person says that the bank has made it.
    #[must_use]
    pub fn recorded_done(self, now: Timestamp) -> TransferAttempt {
        let answer = Some(AttemptFinding::RecordedByPerson.words().to_owned());
        TransferAttempt { state: AttemptState::Done, answer, ask_at: None, updated_at: now, ..self }
    }

    /// Whether the bank, which is still asked, said last that it is carrying it out.
    pub fn is_on_its_way(&self) -> bool {
        let heard = self.answer.as_deref().and_then(AttemptAnswer::read);
        self.ask_at.is_some() && heard == Some(AttemptAnswer::Ours(AttemptFinding::OnItsWay))
    }

    /// Whether its end is a person's word. What the bank says otherwise later is a difference and changes nothing.
    pub fn is_recorded_by_person(&self) -> bool {
        self.answer.as_deref() == Some(AttemptFinding::RecordedByPerson.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_an_attempt_never_changes() {
        for state in AttemptState::ALL {
            assert_eq!(AttemptState::parse(state.word()), Some(state));
            assert!(!state.may_become(AttemptState::Sent), "nothing is sent again");
        }
        for end in [AttemptState::Refused, AttemptState::Done] {
            assert!(!AttemptState::ALL.into_iter().any(|next| end.may_become(next)));
        }
        assert!(!AttemptState::Refused.may_be_done() && AttemptState::Unknown.may_be_done());
    }
}
