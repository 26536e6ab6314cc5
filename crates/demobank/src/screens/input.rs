//! Numbers that people type.

/// The most that may be typed as an amount in rupiah, or as minutes.
pub(super) const AMOUNT_MOST: i64 = 999_999_999_999;
pub(super) const MINUTES_MOST: i64 = 366 * 24 * 60;

/// Digits that stand for a number within a limit. Dots between thousands are skipped.
pub(super) fn number_up_to(text: &str, most: i64) -> Option<i64> {
    let digits: String = text.trim().chars().filter(|character| *character != '.').collect();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| is_number && *number <= most)
}
