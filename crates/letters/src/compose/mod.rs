//! Fills each letter's content from its values: which facts it states, in which order, and what the reader can do.

mod account;
mod factor;
mod payment;
mod phrasing;
mod project;
mod refund;

use domain::language::Language;

use crate::{
    content::Content,
    letter::{Face, Letter, Test},
};
use phrasing::Phrasing;

pub(crate) use phrasing::{sender_line, sender_name};

pub(crate) fn content(letter: &Letter, language: Language, face: &Face) -> Content {
    let phrasing = Phrasing::of(language);
    match letter {
        Letter::Receipt(letter) => payment::receipt(phrasing, letter, face),
        Letter::RefundClaim(letter) => refund::claim(phrasing, letter, face),
        Letter::RefundMade(letter) => refund::made(phrasing, letter, face),
        Letter::Invitation(letter) => account::invitation(phrasing, letter),
        Letter::PasswordReset(letter) => account::password_reset(phrasing, letter),
        Letter::NewDevice(letter) => account::new_device(phrasing, letter),
        Letter::PasswordChanged(letter) => account::password_changed(phrasing, letter),
        Letter::FactorChanged(letter) => factor::factor_changed(phrasing, letter),
        Letter::WebhookFailing(letter) => project::webhook_failing(phrasing, letter),
        Letter::MoneyHeld(letter) => payment::money_held(phrasing, letter),
        Letter::ApprovalWanted(letter) => refund::approval_wanted(phrasing, letter),
        Letter::BankDown(letter) => project::bank_down(phrasing, letter),
        Letter::Summary(letter) => project::summary(phrasing, letter),
        Letter::Test(letter) => project::test(phrasing, letter, face),
    }
}

/// What a test says that is sent as a notice.
pub(crate) fn notice_test(test: &Test, language: Language, face: &Face) -> Content {
    project::notice_test(Phrasing::of(language), test, face)
}
