//! JSON whose members keep their order, and how it is written: as JSON itself and as literals of programming languages.

/// A value whose members are in the order in which readers should see them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// How a language writes values.
pub(super) struct Notation {
    pub(super) indent: &'static str,
    pub(super) null: &'static str,
    pub(super) no: &'static str,
    pub(super) yes: &'static str,
    pub(super) text: fn(&str) -> String,
    pub(super) key: fn(&str) -> String,
    /// Between a key and its value.
    pub(super) colon: &'static str,
    pub(super) open_object: fn(&[(String, Json)]) -> &'static str,
    pub(super) close_object: &'static str,
    pub(super) empty_object: &'static str,
    /// What follows the last entry of a list or an object.
    pub(super) after_last: &'static str,
}

const PLAIN: Notation = Notation {
    indent: "  ",
    null: "null",
    no: "false",
    yes: "true",
    text: double_quoted,
    key: double_quoted,
    colon: ": ",
    open_object: |_| "{",
    close_object: "}",
    empty_object: "{}",
    after_last: "",
};

impl Json {
    /// The value as indented JSON.
    pub(crate) fn pretty(&self) -> String {
        self.written(&PLAIN, 0)
    }

    /// The value in a language, for a line that is indented `depth` times.
    pub(super) fn written(&self, notation: &Notation, depth: usize) -> String {
        match self {
            Json::Null => notation.null.to_owned(),
            Json::Bool(false) => notation.no.to_owned(),
            Json::Bool(true) => notation.yes.to_owned(),
            Json::Number(digits) => digits.clone(),
            Json::Text(text) => (notation.text)(text),
            Json::List(list) if list.is_empty() => "[]".to_owned(),
            Json::List(list) => {
                let lines = list.iter().map(|entry| entry.written(notation, depth + 1));
                block(notation, depth, "[", lines, "]")
            }
            Json::Object(members) if members.is_empty() => notation.empty_object.to_owned(),
            Json::Object(members) => {
                let line = |(name, value): &(String, Json)| {
                    format!("{}{}{}", (notation.key)(name), notation.colon, value.written(notation, depth + 1))
                };
                block(notation, depth, (notation.open_object)(members), members.iter().map(line), notation.close_object)
            }
        }
    }
}

fn block(
    notation: &Notation,
    depth: usize,
    open: &str,
    lines: impl ExactSizeIterator<Item = String>,
    close: &str,
) -> String {
    let (outer, inner) = (notation.indent.repeat(depth), notation.indent.repeat(depth + 1));
    let last = lines.len() - 1;
    let line = |(number, line): (usize, String)| {
        format!("{inner}{line}{}\n", if number == last { notation.after_last } else { "," })
    };
    let lines: String = lines.enumerate().map(line).collect();
    format!("{open}\n{lines}{outer}{close}")
}

/// A text between double quotes as JSON, JavaScript, Python and Go all read it.
pub(super) fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            hidden if is_hidden(hidden) => quoted.push_str(&format!("\\u{:04x}", u32::from(hidden))),
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a character would not be seen in source code, would change the direction of its line, or would end it. All of them have
/// four hexadecimal digits.
pub(super) fn is_hidden(character: char) -> bool {
    let is_direction = matches!(character,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}');
    character.is_control() || is_direction || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn written_json_is_read_back_as_the_same_text() {
        for text in ["", "a\"b\\c", "\n\r\t\u{0}\u{1f}\u{7f}", "é 漢 😀", "\u{2028}\u{feff}\u{202e}", "</script>`$'"]
        {
            let written = Json::Text(text.to_owned()).pretty();
            assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), text, "{written}");
        }
    }

    #[test]
    fn members_stay_in_their_order_and_empty_values_on_one_line() {
        let value = Json::Object(vec![
            ("b".to_owned(), Json::List(vec![Json::Number("1".to_owned()), Json::Null])),
            ("a".to_owned(), Json::Object(Vec::new())),
        ]);
        assert_eq!(value.pretty(), "{\n  \"b\": [\n    1,\n    null\n  ],\n  \"a\": {}\n}");
    }
}
