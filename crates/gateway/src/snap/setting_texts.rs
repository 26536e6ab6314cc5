//! Reads the texts of settings that several kinds of settings have.

use std::{ops::RangeInclusive, str::FromStr};

pub(super) fn yes_or_no(text: &str) -> Option<bool> {
    match text {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// A number of digits alone that is allowed.
pub(super) fn within<T: FromStr + PartialOrd>(text: &str, allowed: RangeInclusive<T>) -> Option<T> {
    number(text).filter(|number| allowed.contains(number))
}

/// A number of digits alone: without a sign, which the number parser would take.
pub(super) fn number<T: FromStr>(text: &str) -> Option<T> {
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if is_digits { text.parse().ok() } else { None }
}
