//! What users type into forms, and the sentence that a field shows when its text is wrong.
//!
//! Amounts are read as `web` reads them, and times in western Indonesian time. A text that could mean two things
//! is never guessed at: the user is asked for it again.

use domain::{
    money::Rupiah,
    rules::{Fault, TextRule},
    time::Timestamp,
    user::{Email, PASSWORD_CHARACTERS_LEAST, PASSWORD_CHARACTERS_MOST, check_password},
};
use i18n_embed_fl::fl;
use web::page::moment::local_rfc3339;
pub(crate) use web::page::typed_amount::{NoAmount, rupiah};

use crate::words::Words;

/// The length of `2026-11-15T21:30`, as a field for a date and a time holds it.
const LOCAL_CHARACTERS: usize = 16;

/// A time in western Indonesia, as browsers send it, or as users type it where a browser offers a plain text field.
pub(crate) fn local_time(text: &str) -> Option<Timestamp> {
    let text = text.trim().replacen(' ', "T", 1);
    let seconds = if text.len() == LOCAL_CHARACTERS { ":00" } else { "" };
    Timestamp::parse(&format!("{text}{seconds}+07:00")).ok()
}

/// The value of a field for a date and a time.
pub(crate) fn local_field(at: Timestamp) -> String {
    local_rfc3339(at).chars().take(LOCAL_CHARACTERS).collect()
}

/// What is wrong with a text that must follow `rule`.
pub(crate) fn text_mistake(words: Words, rule: TextRule, text: &str) -> Option<String> {
    rule.fault(text).map(|fault| match fault {
        Fault::Empty => fl!(words, "mistake-empty"),
        Fault::TooLong { most } => {
            let most = most.to_string();
            fl!(words, "mistake-long", most = most)
        }
        Fault::Malformed => fl!(words, "mistake-characters"),
    })
}

pub(crate) fn amount_mistake(words: Words, why: NoAmount) -> String {
    match why {
        NoAmount::Missing => fl!(words, "mistake-empty"),
        NoAmount::NotWhole => fl!(words, "mistake-amount"),
        NoAmount::TooLarge => {
            let most = Rupiah::MAX.to_string();
            fl!(words, "mistake-amount-large", most = most)
        }
    }
}

pub(crate) fn email_mistake(words: Words, text: &str) -> Option<String> {
    Email::parse(text).is_err().then(|| fl!(words, "mistake-email"))
}

/// The same for an address that may be one of before today's rules.
pub(crate) fn email_to_look_up_mistake(words: Words, text: &str) -> Option<String> {
    Email::recognise(text).is_err().then(|| fl!(words, "mistake-email"))
}

/// What is wrong with a new password.
pub(crate) fn password_mistake(words: Words, text: &str) -> Option<String> {
    let (least, most) = (PASSWORD_CHARACTERS_LEAST.to_string(), PASSWORD_CHARACTERS_MOST.to_string());
    check_password(text).is_err().then(|| fl!(words, "mistake-password", least = least, most = most))
}

/// The rule for passwords, shown beside the field for a new one.
pub(crate) fn password_hint(words: Words) -> String {
    let least = PASSWORD_CHARACTERS_LEAST.to_string();
    fl!(words, "password-hint", least = least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_typed_in_western_indonesian_time() {
        for (text, utc) in [
            ("2026-11-15T21:30", "2026-11-15T14:30:00.000Z"),
            ("2026-11-15 21:30", "2026-11-15T14:30:00.000Z"),
            ("2026-11-15T21:30:15", "2026-11-15T14:30:15.000Z"),
            ("2027-01-01T00:00", "2026-12-31T17:00:00.000Z"),
        ] {
            assert_eq!(local_time(text).unwrap().to_string(), utc, "{text}");
            assert_eq!(local_field(local_time(text).unwrap()), text.replace(' ', "T")[..16], "{text}");
        }
        for text in ["", "2026-11-15", "2026-11-31T10:00", "besok", "2026-11-15T21:30Z", "+002026-11-15T21:30", "T"] {
            assert_eq!(local_time(text), None, "{text}");
        }
    }
}
