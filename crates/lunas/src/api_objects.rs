//! What `lunas link`, `lunas payment` and `lunas refund` share: the members of their requests, and the members of answers as texts for people.
//!
//! Texts of answers come from merchants and customers, so none is printed with its control characters.

use std::str::FromStr;

use domain::money::Rupiah;
use rand::RngExt;
use serde_json::{Map, Value};
use url::form_urlencoded::Serializer;

use crate::{api_client::printable, error::CliError};

/// How many objects a list shows, unless another number is given.
pub(crate) const LISTED: u16 = 20;
pub(crate) const LISTED_MOST: i64 = 1_000;
/// Longer texts in a table are cut.
const CELL_CHARACTERS_MOST: usize = 40;

/// The members of a request's body.
#[derive(Default)]
pub(crate) struct RequestMembers(Map<String, Value>);

impl RequestMembers {
    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    pub(crate) fn set_if_given(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }

    pub(crate) fn set_metadata(&mut self, metadata: &[(String, String)]) {
        if !metadata.is_empty() {
            let texts = metadata.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
            self.set("metadata", texts.collect::<Map<_, _>>());
        }
    }

    pub(crate) fn into_body(self) -> Value {
        Value::Object(self.0)
    }
}

/// The members of an answer.
pub(crate) struct Members<'a>(pub(crate) &'a Value);

impl Members<'_> {
    pub(crate) fn number(&self, member: &str) -> Option<i64> {
        self.0[member].as_i64()
    }

    /// A text that is short enough for a table.
    pub(crate) fn cell(&self, member: &str) -> String {
        let whole = text(self.0, member);
        match whole.chars().count() > CELL_CHARACTERS_MOST {
            true => whole.chars().take(CELL_CHARACTERS_MOST - 1).chain(['…']).collect(),
            false => whole,
        }
    }

    /// The texts of the merchant's own, as `NAME=VALUE` with commas between.
    pub(crate) fn metadata(&self) -> String {
        let Some(metadata) = self.0["metadata"].as_object() else { return String::new() };
        let pair =
            |(name, value): (&String, &Value)| printable(&format!("{name}={}", value.as_str().unwrap_or_default()));
        metadata.iter().map(pair).collect::<Vec<_>>().join(", ")
    }
}

/// A text of an answer; empty where it is not there.
pub(crate) fn text(object: &Value, member: &str) -> String {
    printable(object[member].as_str().unwrap_or_default())
}

/// An amount of an answer; empty where it is not there.
pub(crate) fn rupiah(object: &Value, member: &str) -> String {
    object[member].as_i64().map(|amount| Rupiah::new(amount).to_string()).unwrap_or_default()
}

/// An id that can be part of a path.
pub(crate) fn id<Id: FromStr>(kind: &str, text: &str) -> Result<Id, CliError> {
    text.parse().map_err(|_| {
        let text = text.escape_debug();
        CliError::new(format!("`{text}` is not the id of a {kind}; `lunas {kind} list` shows them"))
    })
}

/// Parses `NAME=VALUE`.
pub(crate) fn metadata(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    pair.ok_or_else(|| "it must be written as NAME=VALUE".to_owned())
}

/// The query of a list, with the filters that were given.
pub(crate) fn query(filters: &[(&str, Option<&str>)]) -> String {
    let given = filters.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
    Serializer::new(String::new()).extend_pairs(given).finish()
}

/// An `Idempotency-Key` that no other request has.
pub(crate) fn random_key() -> String {
    format!("lunas-{:032x}", rand::rng().random::<u128>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_of_answers_have_no_control_characters_and_fit_a_table() {
        let answer = json!({ "title": "kopi\u{1b}[31m\nsusu", "long": "x".repeat(100), "amount": 15_000 });
        assert_eq!(text(&answer, "title"), "kopi [31m susu");
        assert_eq!(Members(&answer).cell("long").chars().count(), CELL_CHARACTERS_MOST);
        assert_eq!((text(&answer, "none"), rupiah(&answer, "none")), (String::new(), String::new()));
        assert_eq!(rupiah(&answer, "amount"), "Rp15.000");
    }

    #[test]
    fn filters_are_encoded_and_those_not_given_are_left_out() {
        assert_eq!(query(&[("q", Some("siti & co=1")), ("status", None)]), "q=siti+%26+co%3D1");
        assert_eq!(query(&[("q", None)]), "");
    }
}
