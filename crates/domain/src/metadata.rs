//! Metadata: what a merchant's program notes about its own order and gets back with the payment or the link. It means nothing
//! to the service.

use crate::rules::{Invalid, TextRule};

/// How many members metadata may have.
pub const MEMBERS_MOST: usize = 20;
pub const KEY: TextRule = TextRule { field: "key", least: 1, most: 40, line_breaks: false };
pub const VALUE: TextRule = TextRule { field: "value", least: 0, most: 500, line_breaks: true };

/// Names and texts in the order in which they were given; no name is there twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    pub members: Vec<(String, String)>,
}

impl Metadata {
    pub fn check(members: Vec<(String, String)>) -> Result<Metadata, Invalid> {
        if members.len() > MEMBERS_MOST {
            let rule = format!("must have at most {MEMBERS_MOST} members, not {}", members.len());
            return Err(Invalid::new("metadata", rule));
        }
        for (key, value) in &members {
            let named = |invalid: Invalid, what: &str| {
                Invalid::new(format!("metadata.{}", shown(key)), format!("{what}{}", invalid.rule))
            };
            KEY.check(key.clone()).map_err(|invalid| named(invalid, "is a key that "))?;
            VALUE.check(value.clone()).map_err(|invalid| named(invalid, ""))?;
        }
        Ok(Metadata { members })
    }
}

/// A key that a client chose, made safe to put in a message: cut, and with control characters escaped.
fn shown(key: &str) -> String {
    let text: String = key.chars().take(KEY.most).flat_map(char::escape_debug).collect();
    if key.chars().nth(KEY.most).is_some() { format!("{text}...") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(key: &str, value: &str) -> Vec<(String, String)> {
        vec![(key.to_owned(), value.to_owned())]
    }

    fn check(members: Vec<(String, String)>, message: &str) {
        assert_eq!(Metadata::check(members).unwrap_err().to_string(), message);
    }

    #[test]
    fn metadata_has_at_most_twenty_members() {
        let members = |count: usize| (0..count).map(|number| (number.to_string(), String::new())).collect::<Vec<_>>();
        assert_eq!(Metadata::check(members(20)).unwrap().members, members(20));
        check(members(21), "`metadata` must have at most 20 members, not 21");
        assert!(Metadata::check(Vec::new()).is_ok());
    }

    #[test]
    fn keys_have_1_to_40_characters_on_one_line() {
        assert!(Metadata::check(of(&"é".repeat(40), "x")).is_ok());
        let long = "é".repeat(40);
        check(
            of(&"é".repeat(41), "x"),
            &format!("`metadata.{long}...` is a key that must be at most 40 characters, not 41"),
        );
        check(of("", "x"), "`metadata.` is a key that must not be empty");
        check(of("a\nb", "x"), "`metadata.a\\nb` is a key that must not contain control characters");
        check(of("a\0", "x"), "`metadata.a\\0` is a key that must not contain control characters");
    }

    #[test]
    fn values_have_at_most_500_characters_and_may_have_lines() {
        assert!(Metadata::check(of("note", &"é".repeat(500))).is_ok());
        assert!(Metadata::check(of("note", "")).is_ok());
        assert!(Metadata::check(of("note", "one\r\ntwo")).is_ok());
        check(of("note", &"é".repeat(501)), "`metadata.note` must be at most 500 characters, not 501");
        check(of("note", "a\0b"), "`metadata.note` must not contain control characters");
        check(of("note", "a\tb"), "`metadata.note` must not contain control characters");
        let mark = "`metadata.note` must not contain characters that change the direction of text";
        check(of("note", "a\u{202e}b"), mark);
    }
}
