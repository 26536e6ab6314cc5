//! Members of `additionalInfo` that one bank wants and another does not: written as a setting, sent as they are.

use std::fmt;

use serde_json::{Map, Value};

const COUNT_MOST: usize = 20;
const NAME_CHARACTERS_MOST: usize = 64;
const VALUE_CHARACTERS_MOST: usize = 64;
const LEVELS_MOST: usize = 3;

/// `acquirer:gopay`, `envInfo.terminalType:SYSTEM,postalCode:13120`; empty: `none`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtraMembers(Vec<(String, String)>);

impl ExtraMembers {
    /// For profiles, whose members a test reads back by `parse`.
    pub(super) fn of(members: &[(&str, &str)]) -> ExtraMembers {
        ExtraMembers(members.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    pub fn parse(text: &str) -> Option<ExtraMembers> {
        if text == "none" {
            return Some(ExtraMembers::default());
        }
        let member = |text: &str| {
            let (name, value) = text.split_once(':')?;
            (is_name(name) && is_value(value)).then(|| (name.to_owned(), value.to_owned()))
        };
        let members: Vec<(String, String)> = text.split(',').map(member).collect::<Option<_>>()?;
        // A member cannot be both a value and an object.
        let clashes = |one: &str, other: &str| one == other || other.starts_with(&format!("{one}."));
        let is_clear = members.iter().enumerate().all(|(index, (one, _))| {
            members.iter().enumerate().all(|(place, (other, _))| index == place || !clashes(one, other))
        });
        (members.len() <= COUNT_MOST && is_clear).then_some(ExtraMembers(members))
    }

    /// Adds `additionalInfo` to a message, unless there is nothing to say.
    pub(super) fn add_to(&self, body: &mut Map<String, Value>) {
        if self.0.is_empty() {
            return;
        }
        let mut info = Map::new();
        for (name, value) in &self.0 {
            insert(&mut info, name, value);
        }
        body.insert("additionalInfo".to_owned(), Value::Object(info));
    }
}

fn insert(object: &mut Map<String, Value>, name: &str, value: &str) {
    let Some((outer, inner)) = name.split_once('.') else {
        object.insert(name.to_owned(), value.into());
        return;
    };
    let nested = object.entry(outer).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(nested) = nested {
        insert(nested, inner, value);
    }
}

fn is_name(name: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    name.len() <= NAME_CHARACTERS_MOST && name.split('.').count() <= LEVELS_MOST && name.split('.').all(is_part)
}

/// Plain enough to be written in one way only.
fn is_value(value: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+*@#".contains(&byte);
    (1..=VALUE_CHARACTERS_MOST).contains(&value.len()) && value.bytes().all(is_plain)
}

impl fmt::Display for ExtraMembers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        let members: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}:{value}")).collect();
        f.write_str(&members.join(","))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_sent_as_they_are_written_and_dots_nest_them() {
        let mut body = Map::new();
        ExtraMembers::parse("none").unwrap().add_to(&mut body);
        assert!(body.is_empty());
        let members = "acquirer:gopay,envInfo.terminalType:SYSTEM,envInfo.sourcePlatform:IPG";
        let read = ExtraMembers::parse(members).unwrap();
        assert_eq!(read.to_string(), members);
        read.add_to(&mut body);
        let info = json!({ "acquirer": "gopay", "envInfo": { "terminalType": "SYSTEM", "sourcePlatform": "IPG" } });
        assert_eq!(body["additionalInfo"], info);
    }

    #[test]
    fn what_could_be_written_in_two_ways_or_has_no_end_is_refused() {
        let twice = ["a:1"; 2].join(",");
        for text in [
            "",
            "a",
            "a:",
            ":b",
            "a:b/c",
            "a:b c",
            "a:<b>",
            "a.:b",
            ".a:b",
            "a.b.c.d:e",
            "a:1,a.b:2",
            "a.b:1,a:2",
            &twice,
        ] {
            assert_eq!(ExtraMembers::parse(text), None, "{text}");
        }
        let names: Vec<String> = (0..21).map(|index| format!("a{index}:1")).collect();
        assert_eq!(ExtraMembers::parse(&names.join(",")), None);
        assert!(ExtraMembers::parse(&names[..20].join(",")).is_some());
    }
}
