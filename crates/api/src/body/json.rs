//! Parses a JSON body. It keeps the order of members, and distinguishes plain integers from all other numbers.
//!
//! It never accepts a member twice, because two parsers could then disagree about the amount, nor invalid UTF-8, nor nesting
//! beyond serde_json's limit of 128.

use std::{collections::BTreeSet, fmt};

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use web::query::shown;

use crate::body::number_literal::{literals, without_huge_numbers};

/// Any JSON value. Member names are unique within each object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Integer(i64),
    /// Any other number as the client wrote it: with a fraction or an exponent, `-0`, or an integer beyond `i64`. It never becomes
    /// money.
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// The body does not have the shape that the endpoint expects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ShapeError {
    pub(crate) message: String,
}

impl ShapeError {
    pub(crate) fn new(message: impl Into<String>) -> ShapeError {
        ShapeError { message: message.into() }
    }
}

/// Parses one JSON value; anything after it is an error.
pub(crate) fn parse(body: &[u8]) -> Result<Json, ShapeError> {
    if body.trim_ascii().is_empty() {
        return Err(ShapeError::new("the body is empty; a JSON object is expected"));
    }
    let mut json = read(body).map_err(|error| explain(&error))?;
    // A body that was parsed is UTF-8, and the tree has its numbers in the order of the text.
    write_literals(&mut json, &mut literals(str::from_utf8(body).unwrap_or_default()));
    Ok(json)
}

/// JSON has numbers of any size. serde_json refuses those beyond `f64`, so they are read as others, and their literals are
/// written into the tree afterwards.
fn read(body: &[u8]) -> Result<Json, serde_json::Error> {
    let refused = match serde_json::from_slice(body) {
        Ok(json) => return Ok(json),
        Err(error) => error,
    };
    match str::from_utf8(body).ok().and_then(without_huge_numbers) {
        Some(shortened) => serde_json::from_str(&shortened),
        None => Err(refused),
    }
}

/// Fills in every number that is not a plain integer as the client wrote it.
fn write_literals<'a>(json: &mut Json, literals: &mut impl Iterator<Item = &'a str>) {
    match json {
        Json::Null | Json::Bool(_) | Json::Text(_) => {}
        Json::Integer(_) => drop(literals.next()),
        Json::Number(literal) => literals.next().unwrap_or_default().clone_into(literal),
        Json::Array(entries) => entries.iter_mut().for_each(|entry| write_literals(entry, literals)),
        Json::Object(members) => members.iter_mut().for_each(|(_, value)| write_literals(value, literals)),
    }
}

/// Plainer words for some of serde_json's messages.
const WORDING: [(&str, &str); 4] = [
    ("EOF while parsing", "it ends inside"),
    ("recursion limit exceeded", "it is nested too deeply"),
    ("invalid unicode code point", "invalid UTF-8"),
    ("expected value", "a value is expected"),
];

fn explain(error: &serde_json::Error) -> ShapeError {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let mut problem = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text).to_owned();
    // Our own messages are about well-formed JSON, and may quote a member whose name contains one of these phrases.
    let ours = error.classify() == Category::Data;
    if !ours {
        for (theirs, plainer) in WORDING {
            problem = problem.replace(theirs, plainer);
        }
    }
    let opening = if ours { "" } else { "the body is not valid JSON: " };
    ShapeError::new(format!("{opening}{problem} at line {line}, column {column}"))
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(i64::try_from(value).map_or(Json::Number(String::new()), Json::Integer))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Number(String::new()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(entry) = entries.next_element()? {
            array.push(entry);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        // A set, because comparing each name with all earlier ones would take quadratic time on a hostile body.
        let mut names = BTreeSet::new();
        while let Some(name) = entries.next_key::<String>()? {
            if !names.insert(name.clone()) {
                // Before the value is read, so that the error's position is that of the name.
                let problem = format!("the body has the member `{}` a second time", shown(&name));
                return Err(A::Error::custom(problem));
            }
            members.push((name, entries.next_value()?));
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: impl AsRef<[u8]>, want: Json) {
        let body = body.as_ref();
        assert_eq!(parse(body), Ok(want), "{}", String::from_utf8_lossy(body));
    }

    fn check_refused(body: impl AsRef<[u8]>, want: &str) {
        let body = body.as_ref();
        let refusal = parse(body).map_err(|error| error.to_string());
        assert_eq!(refusal, Err(want.to_owned()), "{}", String::from_utf8_lossy(body));
    }

    fn text(value: &str) -> Json {
        Json::Text(value.to_owned())
    }

    fn number(literal: &str) -> Json {
        Json::Number(literal.to_owned())
    }

    #[test]
    fn only_integers_within_i64_are_integers() {
        check("0", Json::Integer(0));
        check("-1", Json::Integer(-1));
        check("9223372036854775807", Json::Integer(i64::MAX));
        check("-9223372036854775808", Json::Integer(i64::MIN));
        check("9223372036854775808", number("9223372036854775808"));
        check("18446744073709551615", number("18446744073709551615"));
        check("18446744073709551616", number("18446744073709551616"));
        check("-9223372036854775809", number("-9223372036854775809"));
        check("1.0", number("1.0"));
        check("1e4", number("1e4"));
        check("0.5", number("0.5"));
        check("-0", number("-0"));
        check("1e999", number("1e999"));
        let wide = "9".repeat(309);
        check(&wide, number(&wide));
        check(
            format!(r#"["{wide}",-{wide},7]"#),
            Json::Array(vec![text(&wide), number(&format!("-{wide}")), Json::Integer(7)]),
        );
    }

    #[test]
    fn values_of_every_type_keep_their_order() {
        check("null", Json::Null);
        check(" true\n", Json::Bool(true));
        check(r#""a\u00e9\n""#, text("aé\n"));
        check("[]", Json::Array(vec![]));
        check("[1,[false]]", Json::Array(vec![Json::Integer(1), Json::Array(vec![Json::Bool(false)])]));
        check("{}", Json::Object(vec![]));
        let members =
            vec![("b".to_owned(), Json::Null), ("a".to_owned(), text("x")), (String::new(), Json::Integer(3))];
        check(r#"{"b":null,"a":"x","":3}"#, Json::Object(members));
    }

    #[test]
    fn a_body_without_content_says_so() {
        for body in ["", " ", "\r\n\t "] {
            check_refused(body, "the body is empty; a JSON object is expected");
        }
    }

    #[test]
    fn a_syntax_error_names_its_line_and_column() {
        let rows = [
            ("{\n\"a\": 1,\n\"b\": 2 \"c\"}", "expected `,` or `}` at line 3, column 8"),
            ("{\"a\":1", "it ends inside an object at line 1, column 6"),
            ("[1", "it ends inside a list at line 1, column 2"),
            ("\"a", "it ends inside a string at line 1, column 2"),
            ("{\"a\":", "it ends inside a value at line 1, column 5"),
            ("{\"a\":1} x", "trailing characters at line 1, column 9"),
            ("{}{}", "trailing characters at line 1, column 3"),
            ("{\"a\":1,}", "trailing comma at line 1, column 8"),
            ("{a:1}", "key must be a string at line 1, column 2"),
            ("{\"a\":NaN}", "a value is expected at line 1, column 6"),
            ("{\"a\":01}", "invalid number at line 1, column 7"),
            // A number beyond `f64` is none of the mistakes.
            ("{\"a\":1e999,\"b\":01}", "invalid number at line 1, column 17"),
            ("\u{feff}{}", "a value is expected at line 1, column 1"),
        ];
        for (body, want) in rows {
            check_refused(body, &format!("the body is not valid JSON: {want}"));
        }
    }

    #[test]
    fn a_member_given_twice_is_refused_at_any_depth() {
        let rows = [
            (r#"{"a":1,"a":1}"#, "a", 10),
            (r#"{"a":1,"b":{"amount":1,"amount":2}}"#, "amount", 31),
            (r#"{"unknown":[[{"x":1,"y":2,"x":3}]]}"#, "x", 29),
            // An escaped spelling is the same name.
            (r#"{"amount":1,"amo\u0075nt":2}"#, "amount", 25),
            (r#"{"":1,"":2}"#, "", 8),
        ];
        for (body, member, column) in rows {
            check_refused(
                body,
                &format!("the body has the member `{member}` a second time at line 1, column {column}"),
            );
        }
    }

    #[test]
    fn a_repeated_hostile_name_cannot_forge_the_message() {
        check_refused(
            r#"{"x\n at line 9 column 9":1,"x\n at line 9 column 9":2}"#,
            r"the body has the member `x\n at line 9 column 9` a second time at line 1, column 52",
        );
        check_refused(
            r#"{"expected value":1,"expected value":2}"#,
            "the body has the member `expected value` a second time at line 1, column 36",
        );
        let name = "n".repeat(30_000);
        let refusal = parse(format!(r#"{{"{name}":1,"{name}":2}}"#).as_bytes());
        assert!(refusal.is_err_and(|error| error.message.len() < 200));
    }

    #[test]
    fn invalid_utf8_is_refused_at_any_place() {
        let bodies: [&[u8]; 8] = [
            b"{\"a\":\"\xff\"}",
            b"{\"\xff\":1}",
            b"{\"unknown\":{\"deep\":[\"\xc3\"]}}",
            b"{\"unknown\":{\"\xed\xa0\x80\":1}}",
            b"{\"a\":\"\\n\xc0\x80\"}",
            b"{\"a\":\"\\ud800\"}",
            b"{\"a\":1\xff}",
            b"{}\xff",
        ];
        for body in bodies {
            let refusal = parse(body);
            assert!(
                refusal.is_err_and(|error| error.message.starts_with("the body is not valid JSON: ")),
                "{}",
                body.escape_ascii()
            );
        }
        check_refused(b"{\"\xff\":1}", "the body is not valid JSON: invalid UTF-8 at line 1, column 3");
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nested(127).as_bytes()).is_ok());
        check_refused(nested(128), "the body is not valid JSON: it is nested too deeply at line 1, column 128");
        assert!(parse("{\"a\":".repeat(13_000).as_bytes()).is_err());
    }
}
