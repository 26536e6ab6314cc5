//! What merchants type to find a payment, and which texts it is compared with.
//!
//! A term is read in two ways, and finds what either of them finds. As words: all of them must occur, each in any field. As a
//! number, if it consists of digits and what people put between them: an account number in groups, a phone number in any
//! notation, an amount.

use crate::{money::Rupiah, payment::Customer, rules::Invalid};

/// The longest term, in characters and in words.
pub const TERM_CHARACTERS: usize = 255;
pub const WORDS_MOST: usize = 8;
/// The shortest word that an index can find, and the fewest digits that are read as a number.
pub const WORD_LEAST: usize = 3;
/// The shortest part of a payment's id that is worth comparing; shorter ones are the same in the ids of months.
pub const ID_LEAST: usize = 8;

const FIELD: &str = "q";
/// The digits of an Indonesian phone number begin with this when it is written for callers from anywhere.
const COUNTRY: &str = "62";

/// A term that can be searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchTerm {
    words: Vec<String>,
    number: Option<Number>,
    amount: Option<Rupiah>,
}

/// A term that is a number as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// The digits, as in an account number.
    pub digits: String,
    /// The digits, as [`phone_digits`] has them.
    pub phone: String,
}

impl SearchTerm {
    pub fn parse(text: &str) -> Result<SearchTerm, Invalid> {
        let text = text.trim();
        let refused = |rule: String| Err(Invalid::new(FIELD, rule));
        if text.is_empty() {
            return refused("must not be empty".to_owned());
        }
        if text.chars().nth(TERM_CHARACTERS).is_some() {
            return refused(format!("must have at most {TERM_CHARACTERS} characters"));
        }
        if text.contains(char::is_control) {
            return refused("must not contain control characters".to_owned());
        }
        let words: Vec<String> = text.split_whitespace().map(folded).collect();
        if words.len() > WORDS_MOST {
            return refused(format!("must have at most {WORDS_MOST} words"));
        }
        let (number, amount) = (number(text), amount(text));
        match words.iter().any(|word| word.chars().count() >= WORD_LEAST) {
            true => Ok(SearchTerm { words, number, amount }),
            // Digits in pairs, such as `08 12 34 56`, are a number and no words.
            false if number.is_some() => Ok(SearchTerm { words: Vec::new(), number, amount }),
            false => refused(format!("must have a word of at least {WORD_LEAST} characters")),
        }
    }

    /// The words, folded; none if the term can only be a number.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The whole term as an account number or a phone number.
    pub fn number(&self) -> Option<&Number> {
        self.number.as_ref()
    }

    /// The whole term as an amount.
    pub fn amount(&self) -> Option<Rupiah> {
        self.amount
    }

    /// Whether it occurs in what is known of a customer.
    pub fn is_about(&self, customer: &Customer) -> bool {
        let text = customer_text(customer);
        let has_words = !self.words.is_empty() && self.words.iter().all(|word| text.contains(word));
        has_words || self.number.as_ref().is_some_and(|number| phone_digits(&customer.phone).contains(&number.phone))
    }
}

/// The texts of a customer that are searched, folded: one line for each, and the digits of the phone number last.
pub fn customer_text(customer: &Customer) -> String {
    let Customer { name, email, phone, address: _ } = customer;
    format!("{}\n{}\n{}\n{}", folded(name), folded(email), folded(phone), phone_digits(phone))
}

/// The digits of a phone number as one would dial them from anywhere, without the plus: `+62 812-3456`, `62812 3456` and
/// `0812 3456` are the same.
pub fn phone_digits(phone: &str) -> String {
    let digits: String = phone.chars().filter(char::is_ascii_digit).collect();
    match (digits.strip_prefix("00"), digits.strip_prefix('0')) {
        (Some(international), _) => international.to_owned(),
        (None, Some(national)) => format!("{COUNTRY}{national}"),
        (None, None) => digits,
    }
}

/// The amount that a text names, such as `150000`, `150.000` and `Rp150.000`. What stands between dots must be thousands.
pub fn amount(text: &str) -> Option<Rupiah> {
    let digits = without_currency(text).unwrap_or(text);
    let mut groups = digits.split(['.', ',']);
    let first = groups.next()?;
    let (mut whole, mut grouped) = (first.to_owned(), false);
    for group in groups {
        if group.len() != 3 {
            return None;
        }
        grouped = true;
        whole.push_str(group);
    }
    let is_written_so = !whole.starts_with('0') && (!grouped || (1..=3).contains(&first.len()));
    let is_number = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
    let amount = if is_written_so && is_number { whole.parse().ok().map(Rupiah::new) } else { None };
    amount.filter(|amount| *amount <= Rupiah::MAX)
}

/// What follows the sign of the currency.
fn without_currency(text: &str) -> Option<&str> {
    let (sign, rest) = text.split_at_checked(2)?;
    sign.eq_ignore_ascii_case("rp").then(|| rest.strip_prefix('.').unwrap_or(rest).trim_start())
}

fn number(text: &str) -> Option<Number> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '.' | '-' | '+' | '(' | ')');
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let is_number = text.chars().all(is_part) && digits.len() >= WORD_LEAST;
    is_number.then(|| Number { phone: phone_digits(&digits), digits })
}

/// The form in which texts are searched; search terms are folded alike. Letters that have the same capital are the same,
/// such as both small sigmas, hence the way through capitals. Each character is folded by itself, unlike in
/// `str::to_lowercase`: a part of a text must fold to the same characters as it does within the whole text.
pub fn folded(text: &str) -> String {
    let lower = text.chars().flat_map(char::to_lowercase);
    lower.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        SearchTerm::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_term_is_short_text_with_a_word_that_an_index_can_find() {
        assert_eq!(SearchTerm::parse("  Kopi   SUSU ").unwrap().words(), ["kopi", "susu"]);
        assert!(SearchTerm::parse(&"é".repeat(255)).is_ok());
        assert_eq!(refusal(&"é".repeat(256)), "`q` must have at most 255 characters");
        assert_eq!(refusal(&"a".repeat(10_000)), "`q` must have at most 255 characters");
        assert_eq!(refusal(" \u{a0} "), "`q` must not be empty");
        assert_eq!(refusal("aaa b c d e f g h i"), "`q` must have at most 8 words");
        for text in ["a", "ab", "ab cd ef", "%", "_", "12", "1 2", "é!"] {
            assert_eq!(refusal(text), "`q` must have a word of at least 3 characters", "{text}");
        }
        for text in ["abc\0", "a\nbcd", "abc\u{7f}", "abc\u{85}d"] {
            assert_eq!(refusal(text), "`q` must not contain control characters", "{text:?}");
        }
        for text in ["%%%", "___", "'; DROP TABLE payments; --", "שלום", "\u{202e}abc", "ab cde"] {
            assert!(SearchTerm::parse(text).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn digits_with_separators_are_also_a_number_as_a_whole() {
        let check = |text: &str, digits: Option<&str>, phone: Option<&str>| {
            let term = SearchTerm::parse(text).unwrap();
            let found = term.number().map(|number| (number.digits.as_str(), number.phone.as_str()));
            assert_eq!(found, digits.zip(phone), "{text}");
        };
        check("8808 1234-5678", Some("880812345678"), Some("880812345678"));
        check("+62 (812) 345.678", Some("62812345678"), Some("62812345678"));
        check("0812 345 678", Some("0812345678"), Some("62812345678"));
        check("0062 812 345", Some("0062812345"), Some("62812345"));
        check("08 12 34", Some("081234"), Some("6281234"));
        check("order 12345", None, None);
        check("INV-001", None, None);
        assert!(SearchTerm::parse("08 12 34").unwrap().words().is_empty());
    }

    #[test]
    fn amounts_are_read_as_indonesians_write_them() {
        for (text, amount_is) in [
            ("150000", Some(150_000)),
            ("150.000", Some(150_000)),
            ("150,000", Some(150_000)),
            ("Rp150.000", Some(150_000)),
            ("rp. 1.500.000", Some(1_500_000)),
            ("RP 99", Some(99)),
            ("1.50", None),
            ("1500.000", None),
            ("0150", None),
            ("15a", None),
            ("Rp", None),
            ("", None),
            ("1000000000000", None),
            ("99999999999999999999999", None),
            ("é1", None),
        ] {
            assert_eq!(amount(text), amount_is.map(Rupiah::new), "{text}");
        }
    }

    #[test]
    fn a_term_is_about_a_customer_in_whose_texts_it_occurs() {
        let customer = Customer {
            name: "Siti Aminah".to_owned(),
            email: "Siti@Example.com".to_owned(),
            phone: "+62 812-3456-7890".to_owned(),
            address: "Jl. Melati 1".to_owned(),
        };
        for (text, is_about) in [
            ("siti", true),
            ("AMINAH siti", true),
            ("siti example.com", true),
            ("0812 3456", true),
            ("62812", true),
            ("812-3456-7890", true),
            ("aminah budi", false),
            ("melati", false),
            ("0813", false),
        ] {
            assert_eq!(SearchTerm::parse(text).unwrap().is_about(&customer), is_about, "{text}");
        }
        assert!(!SearchTerm::parse("0812").unwrap().is_about(&Customer::default()));
    }
}
