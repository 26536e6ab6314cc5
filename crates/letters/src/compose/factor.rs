//! Letters about a user's second factor.

use i18n_embed_fl::fl;

use super::phrasing::Phrasing;
use crate::{
    content::Content,
    letter::{FactorChange, FactorChanged},
};

pub(super) fn factor_changed(phrasing: Phrasing, letter: &FactorChanged) -> Content {
    let words = phrasing.words;
    let (subject, text) = match letter.change {
        FactorChange::Added => (fl!(words, "factor-added"), fl!(words, "factor-added-text")),
        FactorChange::Removed => (fl!(words, "factor-removed"), fl!(words, "factor-removed-text")),
        FactorChange::CodesRenewed => (fl!(words, "factor-codes-renewed"), fl!(words, "factor-codes-renewed-text")),
        FactorChange::RecoveryCodeUsed { left } => {
            (fl!(words, "factor-code-used"), fl!(words, "factor-code-used-text", left = left))
        }
        FactorChange::LiftAsked { lifted_at } => {
            let at = phrasing.moment(lifted_at);
            (fl!(words, "factor-lift-asked"), fl!(words, "factor-lift-asked-text", at = at))
        }
        FactorChange::Lifted => (fl!(words, "factor-lifted"), fl!(words, "factor-lifted-text")),
    };
    let answer = match letter.change {
        // Who asked may have the password already, so the factor must stay before the password is changed.
        FactorChange::LiftAsked { .. } => fl!(words, "factor-lift-not-you-text"),
        _ => fl!(words, "factor-not-you-text"),
    };
    let content = Content::new(subject, fl!(words, "why-security"))
        .lead(text)
        .warning(fl!(words, "factor-not-you"), answer)
        .action_of_warning(fl!(words, "account-action"), &letter.account_url);
    phrasing.with_origin(content, &letter.account, &letter.done)
}
