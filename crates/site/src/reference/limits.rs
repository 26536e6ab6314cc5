//! The limits of a schema in words.

use serde_json::Value;

use super::prose::{Piece, Prose};

/// Longer patterns say nothing to a reader; the description says in words what they demand.
const PATTERN_CHARACTERS: usize = 80;
/// How the document begins the patterns of texts without control characters, on one line and on several.
const ONE_LINE: &str = "^[^\\u0000-\\u001f";
const LINES: &str = "^[^\\u0000-\\u0009";

/// Every limit of a schema, each as a short phrase.
pub(super) fn limits(schema: &Value) -> Vec<Prose> {
    let ranges = [
        ("minLength", "maxLength", " character"),
        ("minimum", "maximum", ""),
        ("minItems", "maxItems", " entry"),
        ("minProperties", "maxProperties", " member"),
    ];
    let mut found: Vec<String> = Vec::new();
    for (least, most, unit) in ranges {
        found.extend(range(schema[least].as_i64(), schema[most].as_i64(), unit));
    }
    if schema["uniqueItems"] == true {
        found.push("each entry once".to_owned());
    }
    found.extend(schema["pattern"].as_str().and_then(pattern));
    if let Some(default) = schema.get("default") {
        found.push(format!("`{}` if omitted", default.as_str().map_or_else(|| default.to_string(), str::to_owned)));
    }
    let mut found: Vec<Prose> = found.iter().map(|phrase| Prose::read(phrase)).collect();
    // The limits of an object whose members have names of the caller's own.
    let free = [("propertyNames", "names: "), ("additionalProperties", "values: ")];
    for (part, label) in free.into_iter().filter(|(part, _)| schema[*part].is_object()) {
        for mut phrase in limits(&schema[part]) {
            phrase.0.insert(0, Piece { text: label.to_owned(), is_code: false });
            found.push(phrase);
        }
    }
    found
}

fn range(least: Option<i64>, most: Option<i64>, unit: &str) -> Option<String> {
    // A text of at least no character may be empty, which every text may.
    let least = least.filter(|least| *least != 0 || unit.is_empty());
    let units = |count: i64| match (unit, count) {
        (_, 1) => unit.to_owned(),
        (" entry", _) => " entries".to_owned(),
        ("", _) => String::new(),
        _ => format!("{unit}s"),
    };
    match (least, most) {
        (None, None) => None,
        (Some(least), Some(most)) if least == most => Some(format!("exactly {}{}", grouped(least), units(least))),
        (Some(least), Some(most)) => Some(format!("{} to {}{}", grouped(least), grouped(most), units(most))),
        (Some(least), None) => Some(format!("at least {}{}", grouped(least), units(least))),
        (None, Some(most)) => Some(format!("at most {}{}", grouped(most), units(most))),
    }
}

/// A number with a narrow gap between each three digits.
fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "−" } else { "" });
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

fn pattern(pattern: &str) -> Option<String> {
    if pattern.starts_with(ONE_LINE) {
        return Some("one line, no control characters".to_owned());
    }
    if pattern.starts_with(LINES) {
        return Some("no control characters but line breaks".to_owned());
    }
    let is_short = pattern.chars().count() <= PATTERN_CHARACTERS && !pattern.contains('`');
    is_short.then(|| format!("pattern `{pattern}`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn limits_are_said_in_words() {
        let check = |schema: Value, phrases: &[&str]| {
            let found: Vec<String> = limits(&schema).iter().map(Prose::plain).collect();
            assert_eq!(found, phrases, "{schema}");
        };
        check(json!({}), &[]);
        check(json!({ "minLength": 1, "maxLength": 255 }), &["1 to 255 characters"]);
        check(json!({ "minLength": 0, "maxLength": 1 }), &["at most 1 character"]);
        check(json!({ "minimum": 0, "maximum": 999_999_999_999_i64 }), &["0 to 999\u{202f}999\u{202f}999\u{202f}999"]);
        check(json!({ "minimum": -1500 }), &["at least −1\u{202f}500"]);
        check(json!({ "minItems": 1, "uniqueItems": true }), &["at least 1 entry", "each entry once"]);
        check(json!({ "maxItems": 14 }), &["at most 14 entries"]);
        check(json!({ "pattern": "^[!-~]*$", "default": 20 }), &["pattern ^[!-~]*$", "20 if omitted"]);
        check(json!({ "pattern": "^[^\\u0000-\\u001f\\u007f]*$" }), &["one line, no control characters"]);
        check(json!({ "pattern": "x".repeat(81) }), &[]);
        let free = json!({ "maxProperties": 20, "propertyNames": { "maxLength": 40 }, "additionalProperties": { "maxLength": 500 } });
        check(free, &["at most 20 members", "names: at most 40 characters", "values: at most 500 characters"]);
        check(json!({ "additionalProperties": false }), &[]);
    }
}
