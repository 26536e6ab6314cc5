//! JSON as text, assembled by hand, since the bytes that are signed are the bytes that count: numbers as they are written,
//! members twice, escapes where the bank writes them. Beside it, white space: how it is added and how it is dropped.

/// What follows a comma, a colon or an opening bracket in a body with white space, in turn.
const SPACES: [&str; 4] = [" ", "\n  ", "\t", "\r\n"];

/// One value, still to be written.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    /// A string, quoted and escaped when it is written.
    Text(String),
    /// Text that is copied as it is.
    Raw(String),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn text(value: impl Into<String>) -> Json {
        Json::Text(value.into())
    }

    pub(crate) fn raw(value: impl Into<String>) -> Json {
        Json::Raw(value.into())
    }

    /// Writes the value without white space.
    pub(crate) fn compact(&self) -> String {
        match self {
            Json::Text(text) => quoted(text),
            Json::Raw(raw) => raw.clone(),
            Json::Object(members) => {
                let members: Vec<String> =
                    members.iter().map(|(name, value)| format!("{}:{}", quoted(name), value.compact())).collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    /// Replaces a member, or adds it where there is none. Dots lead into objects: `paidAmount.value`.
    pub(crate) fn set(&mut self, path: &str, value: Json) {
        let Json::Object(members) = self else { return };
        match path.split_once('.') {
            Some((name, rest)) => {
                if let Some((_, inner)) = members.iter_mut().find(|(member, _)| member == name) {
                    inner.set(rest, value);
                }
            }
            None => match members.iter_mut().find(|(member, _)| member == path) {
                Some((_, old)) => *old = value,
                None => members.push((path.to_owned(), value)),
            },
        }
    }

    /// Leaves a member out. Dots lead into objects.
    pub(crate) fn remove(&mut self, path: &str) {
        let Json::Object(members) = self else { return };
        match path.split_once('.') {
            Some((name, rest)) => {
                if let Some((_, inner)) = members.iter_mut().find(|(member, _)| member == name) {
                    inner.remove(rest);
                }
            }
            None => members.retain(|(member, _)| member != path),
        }
    }

    /// Adds a member at the end, even if there is one of its name.
    pub(crate) fn append(&mut self, name: &str, value: Json) {
        if let Json::Object(members) = self {
            members.push((name.to_owned(), value));
        }
    }
}

/// A string with the escapes that JSON demands and no other.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\u{0}'..='\u{1f}' => quoted += &format!("\\u{:04x}", u32::from(character)),
            _ => quoted.push(character),
        }
    }
    quoted + "\""
}

/// A string in which all but plain letters, digits and spaces is escaped, as some banks' libraries write it.
pub(crate) fn quoted_with_escapes(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '/' => quoted.push_str("\\/"),
            ' ' => quoted.push(' '),
            _ if character.is_ascii_alphanumeric() => quoted.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    quoted += &format!("\\u{unit:04x}");
                }
            }
        }
    }
    quoted + "\""
}

/// The same JSON with white space of all four kinds between its parts.
pub(crate) fn with_white_space(compact: &str) -> String {
    let mut spread = String::with_capacity(compact.len() * 2);
    let mut spaces = SPACES.iter().cycle().copied();
    for (character, in_string) in outside_strings(compact) {
        let closes = !in_string && matches!(character, '}' | ']');
        let opens = !in_string && matches!(character, '{' | '[' | ',' | ':');
        if closes {
            spread.extend(spaces.next());
        }
        spread.push(character);
        if opens {
            spread.extend(spaces.next());
        }
    }
    spread
}

/// The same JSON without the white space that is outside of strings.
pub(crate) fn minified(text: &str) -> String {
    let is_space = |character| matches!(character, ' ' | '\t' | '\r' | '\n');
    let kept = outside_strings(text).filter(|(character, in_string)| *in_string || !is_space(*character));
    kept.map(|(character, _)| character).collect()
}

/// Each character, and whether it belongs to a string.
fn outside_strings(text: &str) -> impl Iterator<Item = (char, bool)> {
    text.chars().scan((false, false), |(in_string, escaped), character| {
        let belongs = *in_string || character == '"';
        if *escaped {
            *escaped = false;
        } else if character == '"' {
            *in_string = !*in_string;
        } else if character == '\\' && *in_string {
            *escaped = true;
        }
        Some((character, belongs))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_without_white_space_and_members_are_set_and_removed_by_path() {
        let amount = Json::Object(vec![("value".into(), Json::raw("1.00")), ("currency".into(), Json::text("IDR"))]);
        let mut body = Json::Object(vec![("name".into(), Json::text("a \"b\" \\ \n é")), ("amount".into(), amount)]);
        body.set("amount.value", Json::raw("2"));
        body.set("new", Json::raw("null"));
        body.append("new", Json::raw("true"));
        body.remove("amount.currency");
        assert_eq!(body.compact(), r#"{"name":"a \"b\" \\ \u000a é","amount":{"value":2},"new":null,"new":true}"#);
        body.remove("name");
        assert_eq!(body.compact(), r#"{"amount":{"value":2},"new":null,"new":true}"#);
    }

    #[test]
    fn white_space_is_added_and_dropped_outside_of_strings_alone() {
        let compact = r#"{"a":"{ \" , : }","b":[1,{"c":" \\"}],"d":{}}"#;
        let spread = with_white_space(compact);
        assert_ne!(spread, compact);
        assert!(SPACES.iter().all(|space| spread.contains(space)));
        assert_eq!(minified(&spread), compact);
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(&spread), read(compact));
    }

    #[test]
    fn escapes_mean_the_same_name() {
        let name = "Bu/di Ñ 😀 \"x\"";
        let escaped = quoted_with_escapes(name);
        assert!(escaped.is_ascii() && escaped.contains("\\/") && escaped.contains("\\ud83d\\ude00"), "{escaped}");
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), name);
    }
}
