//! Reading and changing JSON in tests.

use domain::time::Timestamp;
use serde_json::Value;

#[track_caller]
pub(crate) fn text<'a>(resource: &'a Value, member: &str) -> &'a str {
    resource[member].as_str().unwrap_or_else(|| panic!("`{member}` is no text in {resource}"))
}

#[track_caller]
pub(crate) fn id(json: &Value) -> &str {
    text(json, "id")
}

/// The instant that a member holds.
#[track_caller]
pub(crate) fn at(resource: &Value, member: &str) -> Timestamp {
    Timestamp::parse(text(resource, member)).unwrap()
}

/// An instant so many milliseconds later (or earlier), written as the API writes it.
pub(crate) fn shifted(from: Timestamp, millis: i64) -> String {
    moved(from, millis).to_string()
}

pub(crate) fn moved(from: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(from.as_millis() + millis)
}

/// `body` with one member set.
pub(crate) fn with(mut body: Value, member: &str, value: impl Into<Value>) -> Value {
    body[member] = value.into();
    body
}

/// `body` without one member.
pub(crate) fn without(mut body: Value, member: &str) -> Value {
    body.as_object_mut().unwrap().remove(member);
    body
}
