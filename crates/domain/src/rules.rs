//! Rules for single fields, which requests, forms and commands share: lengths, allowed characters, amounts.
//!
//! What these rules say reaches API clients word for word, so the texts are part of the contract.

use crate::money::Rupiah;

/// A field and the rule that it breaks. Together they make the message: "`amount` must be at least 100".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {rule}")]
pub struct Invalid {
    pub field: String,
    pub rule: String,
}

impl Invalid {
    pub fn new(field: impl Into<String>, rule: impl Into<String>) -> Invalid {
        Invalid { field: field.into(), rule: rule.into() }
    }
}

/// The limits of one text field, in characters.
#[derive(Clone, Copy)]
pub struct TextRule {
    pub field: &'static str,
    pub least: usize,
    pub most: usize,
    pub line_breaks: bool,
}

pub const REFERENCE: TextRule = TextRule { field: "reference", least: 1, most: 255, line_breaks: false };
pub const TITLE: TextRule = TextRule { field: "title", least: 1, most: 255, line_breaks: false };
pub const DESCRIPTION: TextRule = TextRule { field: "description", least: 0, most: 2_000, line_breaks: true };
pub const KEY_NAME: TextRule = TextRule { field: "name", least: 1, most: 255, line_breaks: false };
pub const PROJECT_NAME: TextRule = TextRule { field: "name", least: 1, most: 255, line_breaks: false };
pub const MERCHANT_NAME: TextRule = TextRule { field: "merchant_name", least: 1, most: 255, line_breaks: false };
pub const MERCHANT_CITY: TextRule = TextRule { field: "merchant_city", least: 1, most: 255, line_breaks: false };
pub const RECEIPT_ID: TextRule = TextRule { field: "receipt_id", least: 1, most: 255, line_breaks: false };

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Empty,
    TooLong {
        most: usize,
    },
    /// It has a character or a form that such a text cannot have.
    Malformed,
}

impl TextRule {
    pub fn check(self, text: String) -> Result<String, Invalid> {
        let rule = match self.fault(&text) {
            None => return Ok(text),
            Some(Fault::Empty) if self.least > 1 => format!("must have at least {} characters", self.least),
            Some(Fault::Empty) => "must not be empty".to_owned(),
            Some(Fault::TooLong { most }) => {
                format!("must be at most {most} characters, not {}", text.chars().count())
            }
            Some(Fault::Malformed) if text.contains(changes_direction) => {
                "must not contain characters that change the direction of text".to_owned()
            }
            Some(Fault::Malformed) => "must not contain control characters".to_owned(),
        };
        Err(Invalid::new(self.field, rule))
    }

    pub fn fault(self, text: &str) -> Option<Fault> {
        let length = text.chars().count();
        let control = |c: char| c.is_control() && !(self.line_breaks && matches!(c, '\n' | '\r'));
        let forbidden = |c: char| control(c) || changes_direction(c);
        if length < self.least {
            Some(Fault::Empty)
        } else if length > self.most {
            Some(Fault::TooLong { most: self.most })
        } else {
            text.contains(forbidden).then_some(Fault::Malformed)
        }
    }
}

/// Whether a character is invisible and changes the direction in which the text around it is shown, so that a name can
/// look like another one: the marks, embeddings, overrides and isolates of Unicode's bidirectional algorithm.
pub fn changes_direction(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Checks that money of this amount can exist: at least 1 rupiah and at most [`Rupiah::MAX`].
pub fn positive_amount(amount: i64) -> Result<Rupiah, Invalid> {
    amount_of("amount", amount)
}

/// The same of another field than `amount`.
pub fn amount_of(field: &str, amount: i64) -> Result<Rupiah, Invalid> {
    if amount < 1 || amount > Rupiah::MAX.get() {
        return Err(Invalid::new(field, format!("must be from 1 to {}", Rupiah::MAX.get())));
    }
    Ok(Rupiah::new(amount))
}

/// Each value once, in the order in which they were given.
pub fn distinct<T: PartialEq>(values: Vec<T>) -> Vec<T> {
    let mut kept = Vec::with_capacity(values.len());
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_counted_in_characters_and_free_of_control_characters() {
        assert!(REFERENCE.check("é".repeat(255)).is_ok());
        assert!(REFERENCE.check("é".repeat(256)).is_err());
        for text in ["a\0b", "a\nb", "a\r", "\u{7f}", "\u{85}", "a\tb"] {
            assert!(REFERENCE.check(text.to_owned()).is_err(), "{text:?}");
        }
        assert!(DESCRIPTION.check("first\r\nsecond".to_owned()).is_ok());
        assert!(DESCRIPTION.check("tab\t".to_owned()).is_err());
        assert!(DESCRIPTION.check("x".repeat(2_001)).is_err());
        assert!(DESCRIPTION.check(String::new()).is_ok());
    }

    #[test]
    fn a_text_that_is_too_short_is_told_how_long_it_must_be() {
        let rule = TextRule { field: "secret", least: 16, most: 512, line_breaks: false };
        assert_eq!(rule.check("x".repeat(15)).unwrap_err().rule, "must have at least 16 characters");
        assert_eq!(TITLE.check(String::new()).unwrap_err().rule, "must not be empty");
        assert!(rule.check("x".repeat(16)).is_ok());
    }

    #[test]
    fn text_has_no_invisible_characters_that_change_its_direction() {
        let marks = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}'];
        for rule in [TITLE, DESCRIPTION] {
            for mark in marks {
                let refused = rule.check(format!("a{mark}b")).unwrap_err();
                assert_eq!(refused.rule, "must not contain characters that change the direction of text", "{mark:?}");
            }
            // Right-to-left letters need no marks, and joiners are part of words and of emoji.
            for fine in ["שלום", "مقهى", "👩\u{200d}🍳", "\u{2029}", "\u{202f}"] {
                assert!(rule.check(fine.to_owned()).is_ok(), "{fine:?}");
            }
        }
    }

    #[test]
    fn a_value_that_is_given_twice_is_kept_once() {
        assert_eq!(distinct(vec![3, 1, 3, 2, 1]), [3, 1, 2]);
    }
}
