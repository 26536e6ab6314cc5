//! What was last heard of an attempt to send a refund, in the reader's language. A bank's code and message stay as they are.

use domain::{
    refund::{
        Failure, FailureKind,
        answer::{AttemptAnswer, AttemptFinding},
        transfer::{AttemptState, TransferAttempt},
    },
    visible::escape_hidden,
};
use i18n_embed_fl::fl;

use super::failures::sentence;
use crate::words::Words;

pub(super) fn last_answer(attempt: &TransferAttempt) -> Option<AttemptAnswer> {
    attempt.answer.as_deref().and_then(AttemptAnswer::read)
}

/// What the history says of an attempt that was answered: of a refusal what it means.
pub(super) fn answer_line(words: Words, attempt: &TransferAttempt) -> String {
    let answer = attempt.answer.as_deref().unwrap_or_default();
    let code = answer.split(' ').next().unwrap_or_default();
    let refusal = Failure::of_code(code).filter(|_| attempt.state == AttemptState::Refused);
    match (refusal, last_answer(attempt)) {
        (Some(failure), _) => sentence(words, failure.kind),
        (None, Some(AttemptAnswer::Bank(said))) => escape_hidden(&said),
        (None, Some(AttemptAnswer::Ours(finding))) => finding_line(words, finding),
        (None, None) => String::new(),
    }
}

/// Whether an attempt ended without its order having got to the bank.
pub(super) fn is_unsent(attempt: &TransferAttempt) -> bool {
    let Some(AttemptAnswer::Ours(finding)) = last_answer(attempt) else { return false };
    attempt.state == AttemptState::Refused && finding != AttemptFinding::NotMade
}

pub(super) fn finding_line(words: Words, finding: AttemptFinding) -> String {
    match finding {
        AttemptFinding::NotFoundYet => fl!(words, "refund-finding-not-found-yet"),
        AttemptFinding::NotFound => fl!(words, "refund-finding-not-found"),
        AttemptFinding::NotFoundAnywhere => fl!(words, "refund-finding-not-found-anywhere"),
        AttemptFinding::OnStatement => fl!(words, "refund-finding-on-statement"),
        AttemptFinding::OtherAmountOnStatement => fl!(words, "refund-finding-other-amount"),
        AttemptFinding::OnItsWay => fl!(words, "refund-finding-on-its-way"),
        AttemptFinding::NotSaid => fl!(words, "refund-finding-not-said"),
        AttemptFinding::NotShown => fl!(words, "refund-finding-not-shown"),
        AttemptFinding::Differs => fl!(words, "refund-finding-differs"),
        AttemptFinding::Done | AttemptFinding::ToldDone => fl!(words, "refund-finding-done"),
        AttemptFinding::CameBack => fl!(words, "refund-finding-came-back"),
        AttemptFinding::NotMade => sentence(words, FailureKind::NotCarriedOut),
        AttemptFinding::NeverSent => fl!(words, "refund-finding-never-sent"),
        AttemptFinding::RecordedByPerson => fl!(words, "refund-finding-recorded"),
        AttemptFinding::NoCode => fl!(words, "refund-finding-no-code"),
        AttemptFinding::NotCalled => fl!(words, "refund-finding-not-called"),
        AttemptFinding::NotReached => fl!(words, "refund-finding-not-reached"),
        AttemptFinding::TooLate => fl!(words, "refund-finding-too-late"),
        AttemptFinding::CutOff => fl!(words, "refund-finding-cut-off"),
        AttemptFinding::Unreadable => fl!(words, "refund-finding-unreadable"),
    }
}

#[cfg(test)]
mod tests {
    use domain::language::Language;

    use super::*;

    #[test]
    fn everything_that_we_find_is_worded_in_both_languages() {
        for finding in AttemptFinding::ALL {
            let [english, indonesian] = [Language::English, Language::Indonesian]
                .map(|language| finding_line(crate::words::words(language), *finding));
            assert_ne!(english, indonesian, "{finding:?}");
            assert!(!english.contains("refund-") && !indonesian.contains(finding.words()), "{finding:?}");
        }
    }
}
