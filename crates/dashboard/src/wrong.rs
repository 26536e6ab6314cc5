//! What is wrong with an answer, said at its field in the words of whoever gave it.

use domain::{
    rules::{Fault, TextRule},
    user::{Email, PASSWORD_CHARACTERS_LEAST, PASSWORD_CHARACTERS_MOST, check_password},
};
use i18n_embed_fl::fl;

use crate::words::Words;

pub(super) fn text(words: Words, rule: TextRule, text: &str) -> Option<String> {
    rule.fault(text).map(|fault| match fault {
        Fault::Empty => fl!(words, "wrong-empty"),
        Fault::TooLong { most } => {
            let most = most.to_string();
            fl!(words, "wrong-long", most = most)
        }
        Fault::Malformed => fl!(words, "wrong-characters"),
    })
}

pub(super) fn email(words: Words, text: &str) -> Option<String> {
    Email::parse(text).is_err().then(|| fl!(words, "wrong-email"))
}

/// A password that somebody wants to have from now on.
pub(super) fn password(words: Words, text: &str) -> Option<String> {
    let (least, most) = (PASSWORD_CHARACTERS_LEAST.to_string(), PASSWORD_CHARACTERS_MOST.to_string());
    check_password(text).is_err().then(|| fl!(words, "wrong-password", least = least, most = most))
}

/// What a password must be like, said before anybody chooses one.
pub(super) fn password_hint(words: Words) -> String {
    let least = PASSWORD_CHARACTERS_LEAST.to_string();
    fl!(words, "password-hint", least = least)
}
