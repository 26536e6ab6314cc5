//! Amounts that people type into forms, as Indonesians write them. A text that could mean two amounts is never guessed at.

use domain::money::Rupiah;

const GROUP_DIGITS: usize = 3;

/// Why a text is no amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAmount {
    Missing,
    /// It is no whole number of rupiah, or could be read as two different ones.
    NotWhole,
    TooLarge,
}

/// `15000`, `15.000`, `Rp 15.000`, `15.000,-` and `15,000` are the same amount; `15.5` and `15.00` are none.
pub fn rupiah(text: &str) -> Result<Rupiah, NoAmount> {
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
}
