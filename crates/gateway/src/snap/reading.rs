//! Reads members of a bank's JSON loosely: numbers may be written as strings or bare, null and empty texts are absent, and
//! what is not known is not looked at.

use domain::{money::Rupiah, time::Timestamp};
use serde_json::Value;

use super::timestamp::parse_local_timestamp;

/// Longer than any text of the standard, and than a QR.
const TEXT_BYTES_MOST: usize = 1_024;
/// As long as the standard's longest id.
const ID_BYTES_MOST: usize = 128;
const CURRENCY: &str = "IDR";

/// A member as a line of text for people; empty where it is not there.
pub(super) fn line(object: &Value, member: &str, characters_most: usize) -> String {
    let text = written(object.get(member)).unwrap_or_default();
    text.chars().filter(|character| !character.is_control()).take(characters_most).collect()
}

/// A member's text without the spaces around it.
pub(super) fn text(object: &Value, member: &str) -> Option<String> {
    let text = written(object.get(member))?;
    let text = text.trim();
    (1..=TEXT_BYTES_MOST).contains(&text.len()).then(|| text.to_owned())
}

/// A member that names something: it is stored, so it has a length.
pub(super) fn id(object: &Value, member: &str) -> Option<String> {
    text(object, member).filter(|id| id.len() <= ID_BYTES_MOST)
}

/// The first of the members that `object` or its `additionalInfo` has.
pub(super) fn first_id(object: &Value, members: &[&str]) -> Option<String> {
    first(object, members, id)
}

pub(super) fn first_time(object: &Value, members: &[&str]) -> Option<Timestamp> {
    first(object, members, |object, member| parse_local_timestamp(&text(object, member)?))
}

/// Whole rupiah: an amount with sen or in another currency is none.
pub(super) fn first_amount(object: &Value, members: &[&str]) -> Option<Rupiah> {
    first(object, members, |object, member| amount(object.get(member)?))
}

/// Whether `object` or its `additionalInfo` has one of the members with anything in it.
pub(super) fn has_any(object: &Value, members: &[&str]) -> bool {
    let is_filled = |value: &Value| !value.is_null() && value.as_str().is_none_or(|text| !text.trim().is_empty());
    let has = |object: &Value| members.iter().filter_map(|member| object.get(member)).any(is_filled);
    has(object) || object.get("additionalInfo").is_some_and(has)
}

fn first<T>(object: &Value, members: &[&str], read: impl Fn(&Value, &str) -> Option<T>) -> Option<T> {
    let inside = |object: &Value| members.iter().find_map(|member| read(object, member));
    inside(object).or_else(|| inside(object.get("additionalInfo")?))
}

/// `{"value":"10000.00","currency":"IDR"}`, or the value alone.
fn amount(written_amount: &Value) -> Option<Rupiah> {
    if !written_amount.is_object() {
        return rupiah(&written(Some(written_amount))?);
    }
    let is_ours = text(written_amount, "currency").is_none_or(|currency| currency.eq_ignore_ascii_case(CURRENCY));
    if is_ours { rupiah(&text(written_amount, "value")?) } else { None }
}

fn rupiah(text: &str) -> Option<Rupiah> {
    let text = text.trim();
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_whole = whole.bytes().all(|byte| byte.is_ascii_digit()) && decimals.bytes().all(|byte| byte == b'0');
    let amount = Rupiah::new(whole.parse().ok()?);
    (is_whole && amount > Rupiah::ZERO && amount <= Rupiah::MAX).then_some(amount)
}

fn written(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_are_read_in_the_ways_that_banks_write_them() {
        for written in [
            json!({ "value": "10000.00", "currency": "IDR" }),
            json!({ "value": 10000, "currency": "idr" }),
            json!({ "value": 10000.0 }),
            json!("10000"),
            json!(10_000),
            json!(" 10000. "),
        ] {
            assert_eq!(amount(&written), Some(Rupiah::new(10_000)), "{written}");
        }
        for written in [
            json!({ "value": "10000.00", "currency": "USD" }),
            json!({ "currency": "IDR" }),
            json!("10000.50"),
            json!("10,000"),
            json!("-10000"),
            json!("+10000"),
            json!("0.00"),
            json!(".00"),
            json!("1000000000000"),
            json!("99999999999999999999"),
            json!(null),
            json!([10_000]),
        ] {
            assert_eq!(amount(&written), None, "{written}");
        }
    }

    #[test]
    fn null_and_empty_texts_are_absent_and_numbers_are_texts() {
        let object = json!({ "a": null, "b": " ", "c": 17, "d": " x ", "e": {}, "f": "y".repeat(1_025),
            "additionalInfo": { "b": "inner" } });
        for (member, read) in [("a", None), ("b", None), ("c", Some("17")), ("d", Some("x")), ("e", None), ("f", None)]
        {
            assert_eq!(text(&object, member).as_deref(), read, "{member}");
        }
        assert_eq!(id(&json!({ "a": "y".repeat(129) }), "a"), None);
        assert_eq!(first_id(&object, &["a", "b"]).as_deref(), Some("inner"));
    }
}
