//! Instants as whole milliseconds since 1970 in UTC, and the lengths of time that several modules use. This module
//! formats and parses; it never reads a clock.

use std::{fmt, time::Duration};

use jiff::{
    SignedDuration,
    civil::{DateTime, date},
};

pub const HOUR: Duration = Duration::from_hours(1);
pub const DAY: Duration = Duration::from_hours(24);
pub const HOUR_MILLIS: i64 = 60 * MINUTE_MILLIS;
pub const DAY_MILLIS: i64 = 24 * HOUR_MILLIS;
/// How far western Indonesia's time (WIB) is ahead of UTC; its clocks are never changed.
pub const WIB: Duration = Duration::from_hours(7);

const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);
/// The years that RFC 3339 can write, in UTC: 0000-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z.
const FIRST: i64 = -62_167_219_200_000;
const LAST: i64 = 253_402_300_799_999;
const MINUTE_MILLIS: i64 = 60_000;

/// A moment, to the millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The text was not an RFC 3339 date-time.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an RFC 3339 date-time such as 2026-11-14T09:30:00Z")]
pub struct NotADateTime;

/// `YYYY-MM-DDThh:mm:ss.` and nine digits.
const LOCAL_CHARACTERS: usize = 29;

impl Timestamp {
    pub const fn from_millis(millis: i64) -> Timestamp {
        Timestamp(millis)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// This moment plus `duration`; the latest possible moment when that is beyond it.
    pub fn plus(self, duration: Duration) -> Timestamp {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Timestamp(self.0.saturating_add(millis))
    }

    /// This moment minus `duration`; the earliest possible moment when that is before it.
    pub fn minus(self, duration: Duration) -> Timestamp {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Timestamp(self.0.saturating_sub(millis))
    }

    /// How long it is from this moment to `later`; nothing if that is not later.
    pub fn until(self, later: Timestamp) -> Duration {
        Duration::from_millis(u64::try_from(later.0.saturating_sub(self.0)).unwrap_or_default())
    }

    /// Parses RFC 3339 with any offset. Other forms that the calendar crate would accept (weeks, zone names in
    /// brackets, offsets without minutes) are rejected, since API clients may only rely on RFC 3339.
    pub fn parse(text: &str) -> Result<Timestamp, NotADateTime> {
        if !has_rfc3339_shape(text.as_bytes()) {
            return Err(NotADateTime);
        }
        let (local, offset) = text.split_at(text.len() - if text.ends_with(['Z', 'z']) { 1 } else { 6 });
        // RFC 3339 does not limit the digits of a fraction; the calendar crate reads nanoseconds, and we keep
        // milliseconds.
        let local = &local[..local.len().min(LOCAL_CHARACTERS)];
        let local: DateTime = local.parse().map_err(|_| NotADateTime)?;
        let millis = millis_since_1970(local) - offset_millis(offset);
        if (FIRST..=LAST).contains(&millis) { Ok(Timestamp(millis)) } else { Err(NotADateTime) }
    }
}

fn millis_since_1970(local: DateTime) -> i64 {
    // Rounded down to whole milliseconds.
    let since = local.duration_since(EPOCH);
    since.as_secs() * 1_000 + i64::from(since.subsec_nanos()).div_euclid(1_000_000)
}

/// The milliseconds that the offset `Z` or `±hh:mm` adds to UTC.
fn offset_millis(offset: &str) -> i64 {
    let number = |range| offset.get(range).and_then(|digits: &str| digits.parse::<i64>().ok()).unwrap_or(0);
    let millis = (number(1..3) * 60 + number(4..6)) * MINUTE_MILLIS;
    if offset.starts_with('-') { -millis } else { millis }
}

/// `YYYY-MM-DDThh:mm:ss[.fraction](Z|±hh:mm)`; whether the numbers make a real date is checked by the calendar crate.
fn has_rfc3339_shape(text: &[u8]) -> bool {
    let digits = |range: std::ops::Range<usize>| text[range].iter().all(u8::is_ascii_digit);
    if text.len() < 20 || !text.is_ascii() {
        return false;
    }
    let date = digits(0..4) && text[4] == b'-' && digits(5..7) && text[7] == b'-' && digits(8..10);
    let time = digits(11..13) && text[13] == b':' && digits(14..16) && text[16] == b':' && digits(17..19);
    if !(date && time && matches!(text[10], b'T' | b't' | b' ')) {
        return false;
    }
    let mut rest = &text[19..];
    if let [b'.', fraction @ ..] = rest {
        let length = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    match rest {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', offset @ ..] if offset.len() == 5 => {
            let digits = [0, 1, 3, 4].into_iter().all(|index| offset[index].is_ascii_digit());
            digits && offset[2] == b':' && offset[..2] < b"24"[..] && offset[3..] < b"60"[..]
        }
        _ => false,
    }
}

/// In the form of the API contract: `2026-11-14T09:30:00.000Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since_1970 = SignedDuration::from_millis(self.0.clamp(FIRST, LAST));
        write!(f, "{:.3}Z", EPOCH.saturating_add(since_1970))
    }
}

/// The last midnight in western Indonesia.
pub fn midnight(at: Timestamp) -> Timestamp {
    let local = at.plus(WIB).as_millis();
    Timestamp::from_millis(local - local.rem_euclid(DAY_MILLIS)).minus(WIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_in_western_indonesia() {
        for (at, begins) in [
            ("2026-11-14T17:00:00.000Z", "2026-11-14T17:00:00.000Z"),
            ("2026-11-15T16:59:59.999Z", "2026-11-14T17:00:00.000Z"),
            ("2026-11-15T17:00:00.000Z", "2026-11-15T17:00:00.000Z"),
        ] {
            assert_eq!(midnight(Timestamp::parse(at).unwrap()).to_string(), begins);
        }
    }

    #[test]
    fn any_rfc3339_offset_is_read_and_utc_with_milliseconds_is_written() {
        for (text, written) in [
            ("2026-11-14T09:30:00Z", "2026-11-14T09:30:00.000Z"),
            ("2026-11-14T16:30:00+07:00", "2026-11-14T09:30:00.000Z"),
            ("2026-11-14t09:30:00.123456z", "2026-11-14T09:30:00.123Z"),
            ("2026-11-14 00:00:00.5-09:30", "2026-11-14T09:30:00.500Z"),
            ("2026-11-14T09:30:00.1239999999999999Z", "2026-11-14T09:30:00.123Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
            ("1969-12-31T23:59:59.9995Z", "1969-12-31T23:59:59.999Z"),
            ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.000Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
            // Many clients write this for "never"; the calendar crate's own instants end a day earlier.
            ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), written, "{text}");
        }
    }

    #[test]
    fn what_is_not_rfc3339_is_refused() {
        for text in [
            "",
            "tomorrow",
            "2026-11-14",
            "2026-11-14T09:30:00",
            "2026-11-14T09:30Z",
            "2026-11-14T09:30:00+07",
            "2026-11-14T09:30:00.Z",
            "2026-02-30T00:00:00Z",
            "2026-11-14T24:00:00Z",
            "2026-11-14T09:30:00Z[UTC]",
            "2026-W46-6T09:30:00Z",
            "1731576600",
            "2026-11-14T09:30:00+25:00",
            "２026-11-14T09:30:00Z",
            "2026-11-14T09:30:00Z ",
            "+002026-11-14T09:30:00Z",
            // Beyond the years that can be written back.
            "9999-12-31T23:59:59-00:01",
            "0000-01-01T00:00:00+00:01",
        ] {
            assert_eq!(Timestamp::parse(text), Err(NotADateTime), "{text}");
        }
    }

    #[test]
    fn far_ends_of_time_do_not_panic() {
        for millis in [i64::MIN, i64::MAX] {
            assert!(!Timestamp::from_millis(millis).to_string().is_empty());
        }
        assert_eq!(Timestamp::from_millis(5).plus(Duration::MAX), Timestamp::from_millis(i64::MAX));
    }
}
