//! What users type into forms, and the sentence that a field shows when its text is wrong.
//!
//! Amounts are read as Indonesians write them, and times in western Indonesian time. A text that could mean two things
//! is never guessed at: the user is asked for it again.

use domain::{
    money::Rupiah,
    rules::{Fault, TextRule},
    time::Timestamp,
    user::{Email, PASSWORD_CHARACTERS_LEAST, PASSWORD_CHARACTERS_MOST, check_password},
};
use i18n_embed_fl::fl;
use web::page::moment::local_rfc3339;

use crate::words::Words;

/// The length of `2026-11-15T21:30`, as a field for a date and a time holds it.
const LOCAL_CHARACTERS: usize = 16;
const GROUP_DIGITS: usize = 3;

/// Why a text is no amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAmount {
    Missing,
    /// It is no whole number of rupiah, or could be read as two different ones.
    NotWhole,
    TooLarge,
}

/// `15000`, `15.000`, `Rp 15.000`, `15.000,-` and `15,000` are the same amount; `15.5` and `15.00` are none.
pub(crate) fn rupiah(text: &str) -> Result<Rupiah, NoAmount> {
    let text = text.trim();
    if text.is_empty() {
        return Err(NoAmount::Missing);
    }
    let bare = strip_currency(text);
    let whole = bare.strip_suffix(",-").or_else(|| bare.strip_suffix(",00")).unwrap_or(bare);
    let separators: &[char] =
        if whole.len() == bare.len() { &['.', ',', ' ', '\u{a0}'] } else { &['.', ' ', '\u{a0}'] };
    let digits = ungrouped(whole, separators).ok_or(NoAmount::NotWhole)?;
    match digits.parse::<i64>().map(Rupiah::new) {
        Ok(amount) if amount <= Rupiah::MAX => Ok(amount),
        // A text of digits alone fails to parse only when it has too many of them.
        _ => Err(NoAmount::TooLarge),
    }
}

fn strip_currency(text: &str) -> &str {
    let prefix = text.get(..2).filter(|prefix| prefix.eq_ignore_ascii_case("rp"));
    prefix.map_or(text, |prefix| text[prefix.len()..].trim_start_matches('.').trim_start())
}

/// The digits of a number that has no separator, or the same one before every three digits.
fn ungrouped(text: &str, separators: &[char]) -> Option<String> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let Some(separator) = text.chars().find(|character| separators.contains(character)) else {
        return is_number(text).then(|| text.to_owned());
    };
    let mut groups = text.split(separator);
    let first = groups.next().filter(|first| is_number(first) && first.len() <= GROUP_DIGITS)?;
    groups.try_fold(first.to_owned(), |digits, group| {
        (is_number(group) && group.len() == GROUP_DIGITS).then(|| digits + group)
    })
}

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
    fn amounts_are_read_as_indonesians_write_them() {
        for (text, amount) in [
            ("15000", 15_000),
            (" 15000 ", 15_000),
            ("15.000", 15_000),
            ("Rp15.000", 15_000),
            ("Rp 15.000", 15_000),
            ("rp. 15.000,-", 15_000),
            ("RP\u{a0}1.500.000", 1_500_000),
            ("15.000,00", 15_000),
            ("15000,00", 15_000),
            ("15,000", 15_000),
            ("1 500 000", 1_500_000),
            ("007", 7),
            ("0", 0),
            ("999.999.999.999", 999_999_999_999),
        ] {
            assert_eq!(rupiah(text), Ok(Rupiah::new(amount)), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_no_whole_number_of_rupiah_or_could_be_two_is_no_amount() {
        for text in [
            "-15000",
            "+15000",
            "15.5",
            "15.50",
            "15.00",
            "1.5000",
            "15000.50",
            "15,5",
            "1.000,50",
            "1.000,000",
            "1,000.000",
            "1,500,00",
            "1..000",
            ".000",
            "1.000.",
            "1e5",
            "0x10",
            "lima ribu",
            "Rp",
            "15 ribu",
            "١٥",
            "15\u{0}",
            "1.00 0",
        ] {
            assert_eq!(rupiah(text), Err(NoAmount::NotWhole), "{text}");
        }
        for text in ["1.000.000.000.000", "1000000000000", &"9".repeat(200)] {
            assert_eq!(rupiah(text), Err(NoAmount::TooLarge), "{text}");
        }
        for text in ["", "  "] {
            assert_eq!(rupiah(text), Err(NoAmount::Missing));
        }
    }

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
