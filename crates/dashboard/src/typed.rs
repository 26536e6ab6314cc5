//! What people type into forms: amounts as Indonesians write them, moments in western Indonesian time, short texts. Never guesses:
//! what could mean two things is asked for again.

use std::time::Duration;

use domain::{
    access::Act,
    money::Rupiah,
    rules::{Fault, TextRule},
    time::Timestamp,
};
use engine::{Desk, Error};
use i18n_embed_fl::fl;
use rand::RngExt;

use crate::words::Words;

const WIB: Duration = Duration::from_hours(7);
/// `2026-11-15T21:30`, as a field for a date and a time holds it.
const LOCAL_CHARACTERS: usize = 16;
const GROUP_DIGITS: usize = 3;
/// What one filling-in of a form is known by has as many characters.
const FORM_CHARACTERS: usize = 32;

/// Why a text is no amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoAmount {
    Missing,
    /// It is no whole number of rupiah, or could be read as two different ones.
    NotWhole,
    TooLarge,
}

/// `15000`, `15.000`, `Rp 15.000`, `15.000,-` and `15,000` are all the same; `15.5` and `15.00` are nothing.
pub(super) fn rupiah(text: &str) -> Result<Rupiah, NoAmount> {
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
        // Digits alone are refused only when there are too many of them.
        _ => Err(NoAmount::TooLarge),
    }
}

fn strip_currency(text: &str) -> &str {
    let prefix = text.get(..2).filter(|prefix| prefix.eq_ignore_ascii_case("rp"));
    prefix.map_or(text, |prefix| text[prefix.len()..].trim_start_matches('.').trim_start())
}

/// The digits of a number that is written plainly, or with one separator before every three digits.
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

/// A moment in western Indonesian time, as browsers send it, or as people type it where browsers only offer a line of text.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim().replacen(' ', "T", 1);
    let seconds = if text.len() == LOCAL_CHARACTERS { ":00" } else { "" };
    Timestamp::parse(&format!("{text}{seconds}+07:00")).ok()
}

/// What a field for a date and a time shows.
pub(super) fn local(at: Timestamp) -> String {
    at.plus(WIB).to_string().chars().take(LOCAL_CHARACTERS).collect()
}

/// What one filling-in of a form is known by, so that sending it twice does its deed once.
pub(super) fn fresh_form() -> String {
    format!("{:032x}", rand::rng().random::<u128>())
}

/// The same as a form brought it back; a made-up one is none.
pub(super) fn known_form(sent: Option<&str>) -> String {
    let ours = |form: &&str| form.len() == FORM_CHARACTERS && form.bytes().all(|byte| byte.is_ascii_hexdigit());
    sent.filter(ours).map_or_else(fresh_form, str::to_owned)
}

/// What is wrong with a text that must follow `rule`.
pub(super) fn text_mistake(words: Words, rule: TextRule, text: &str) -> Option<String> {
    rule.fault(text).map(|fault| match fault {
        Fault::Empty => fl!(words, "typed-missing"),
        Fault::TooLong { most } => {
            let most = most.to_string();
            fl!(words, "typed-long", most = most)
        }
        Fault::Malformed => fl!(words, "typed-malformed"),
    })
}

/// Pages that lead to an act only are for those who may do it; the act itself is judged again when it is asked for.
pub(super) fn only_for(desk: &Desk, act: Act) -> Result<(), Error> {
    if desk.may(act) { Ok(()) } else { Err(Error::RoleForbids) }
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
    fn what_is_no_whole_number_of_rupiah_or_could_be_two_is_asked_for_again() {
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
    fn moments_are_typed_in_western_indonesian_time() {
        for (text, utc) in [
            ("2026-11-15T21:30", "2026-11-15T14:30:00.000Z"),
            ("2026-11-15 21:30", "2026-11-15T14:30:00.000Z"),
            ("2026-11-15T21:30:15", "2026-11-15T14:30:15.000Z"),
            ("2027-01-01T00:00", "2026-12-31T17:00:00.000Z"),
        ] {
            assert_eq!(moment(text).unwrap().to_string(), utc, "{text}");
            assert_eq!(local(moment(text).unwrap()), text.replace(' ', "T")[..16], "{text}");
        }
        for text in ["", "2026-11-15", "2026-11-31T10:00", "besok", "2026-11-15T21:30Z", "+002026-11-15T21:30", "T"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }

    #[test]
    fn a_form_is_known_by_what_it_was_given_and_by_nothing_made_up() {
        let form = fresh_form();
        assert_eq!(known_form(Some(&form)), form);
        for made_up in ["", "1", &"x".repeat(32), &"a".repeat(33)] {
            assert_ne!(known_form(Some(made_up)), made_up);
        }
        assert_ne!(fresh_form(), form);
    }
}
