//! Why a refund was not made, in the reader's language. What a person has written stays as it is.

use domain::{
    refund::{Failure, FailureKind},
    visible::escape_hidden,
};
use i18n_embed_fl::fl;

use crate::words::Words;

/// A stored reason, for the merchant.
pub(crate) fn failure_line(words: Words, reason: &str) -> String {
    Failure::read(reason).map_or_else(|| escape_hidden(reason), |failure| sentence(words, failure.kind))
}

/// A stored reason, for an operator: with the bank's own code behind it.
pub(crate) fn failure_line_with_code(words: Words, reason: &str) -> String {
    let Some(Failure { kind, code }) = Failure::read(reason) else { return escape_hidden(reason) };
    let text = sentence(words, kind);
    match code {
        Some(code) => fl!(words, "refund-failure-code", words = text, code = escape_hidden(&code)),
        None => text,
    }
}

pub(super) fn sentence(words: Words, kind: FailureKind) -> String {
    match kind {
        FailureKind::NoSuchAccount => fl!(words, "refund-failure-no-such-account"),
        FailureKind::AccountClosed => fl!(words, "refund-failure-closed"),
        FailureKind::AccountDormant => fl!(words, "refund-failure-dormant"),
        FailureKind::AccountBlocked => fl!(words, "refund-failure-blocked"),
        FailureKind::OverLimit => fl!(words, "refund-failure-limit"),
        FailureKind::NoRoute => fl!(words, "refund-failure-route"),
        FailureKind::NoName => fl!(words, "refund-failure-no-name"),
        FailureKind::NoMoney => fl!(words, "refund-failure-no-money"),
        FailureKind::CutOff => fl!(words, "refund-failure-cut-off"),
        FailureKind::NotTaken => fl!(words, "refund-failure-not-taken"),
        FailureKind::NotByCode => fl!(words, "refund-failure-not-by-code"),
        FailureKind::NotABanksCode => fl!(words, "refund-failure-no-banks-code"),
        FailureKind::NoRefunds => fl!(words, "refund-failure-no-refunds"),
        FailureKind::WindowOver => fl!(words, "refund-failure-window"),
        FailureKind::LessLeft => fl!(words, "refund-failure-less-left"),
        FailureKind::NotCarriedOut => fl!(words, "refund-failure-not-made"),
        FailureKind::CameBack => fl!(words, "refund-failure-came-back"),
        FailureKind::Refused => fl!(words, "refund-failure-refused"),
        FailureKind::SandboxRefused => fl!(words, "refund-failure-sandbox-refused"),
        FailureKind::SandboxReturned => fl!(words, "refund-failure-sandbox-returned"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use domain::language::Language;

    use super::*;

    #[test]
    fn every_kind_has_words_of_its_own_in_both_languages_and_only_operators_see_the_banks_code() {
        let mut seen = BTreeSet::new();
        for language in [Language::English, Language::Indonesian] {
            let words = crate::words::words(language);
            for kind in FailureKind::ALL {
                let reason = Failure { kind: *kind, code: Some("4031718".to_owned()) }.reason();
                let line = failure_line(words, &reason);
                assert!(!line.contains("4031718"), "{line}");
                assert!(failure_line_with_code(words, &reason).contains("4031718"));
                assert!(seen.insert(line), "{kind:?}");
            }
            assert_eq!(failure_line(words, "Budi has paid in cash"), "Budi has paid in cash");
            assert_eq!(failure_line_with_code(words, "Budi\u{202e}"), escape_hidden("Budi\u{202e}"));
        }
    }
}
