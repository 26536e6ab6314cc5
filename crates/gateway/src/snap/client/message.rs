//! Parts of messages that several services share.

use domain::{money::Rupiah, qris::plain};
use serde_json::{Map, Value, json};

use crate::snap::call_error::{CallError, Cause, Reason};

/// What proxies and other programs are known to write in another way.
const ESCAPED_ELSEWHERE: [char; 6] = ['/', '<', '>', '&', '\\', '"'];

/// A text of people, in capitals that no program on the way writes anew.
pub(super) fn plain_text(text: &str, characters_most: usize, fallback: &str) -> String {
    plain(&text.replace(ESCAPED_ELSEWHERE, " "), characters_most, fallback)
}

/// Adds a member that has a value.
pub(super) fn with(body: &mut Map<String, Value>, member: &str, value: Option<&str>) {
    if let Some(value) = value {
        body.insert(member.to_owned(), value.into());
    }
}

/// Adds a member of `additionalInfo`.
pub(super) fn with_info(body: &mut Map<String, Value>, member: &str, value: &str) {
    let info = body.entry("additionalInfo").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(info) = info {
        info.insert(member.to_owned(), value.into());
    }
}

pub(super) fn amount(amount: Rupiah) -> Value {
    json!({ "value": format!("{}.00", amount.get()), "currency": "IDR" })
}

/// An answer about another code than the one in question has no meaning for it.
pub(super) fn same_reference(ours: &str, told: Option<String>) -> Result<(), CallError> {
    match told.is_none_or(|told| told == ours) {
        true => Ok(()),
        false => Err(CallError::Unknown(Reason::new(Cause::Unreadable, "the answer is about another reference"))),
    }
}
