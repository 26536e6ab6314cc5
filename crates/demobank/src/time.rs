//! Times as SNAP writes them: in Jakarta, seven hours ahead of UTC.

use jiff::{
    Timestamp, Zoned,
    tz::{self, TimeZone},
};

/// `2026-01-15T10:20:30+07:00`, with three decimals of a second where the bank writes them.
pub(crate) fn text(unix_ms: i64, with_milliseconds: bool) -> String {
    let format = if with_milliseconds { "%Y-%m-%dT%H:%M:%S%.3f%:z" } else { "%Y-%m-%dT%H:%M:%S%:z" };
    jakarta(unix_ms).strftime(format).to_string()
}

/// Fourteen digits, for the ids that begin with the time.
pub(crate) fn digits(unix_ms: i64) -> String {
    jakarta(unix_ms).strftime("%Y%m%d%H%M%S").to_string()
}

/// `2026-01-15 10:20:30 WIB`, for people.
pub(crate) fn shown(unix_ms: i64) -> String {
    jakarta(unix_ms).strftime("%Y-%m-%d %H:%M:%S WIB").to_string()
}

/// The day in Jakarta, `2026-01-15`.
pub(crate) fn day(unix_ms: i64) -> String {
    jakarta(unix_ms).strftime("%Y-%m-%d").to_string()
}

/// Reads a time with its offset.
pub(crate) fn parse(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// A time that no calendar has counts as the beginning of 1970.
fn jakarta(unix_ms: i64) -> Zoned {
    let timestamp = Timestamp::from_millisecond(unix_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    timestamp.to_zoned(TimeZone::fixed(tz::offset(7)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_jakarta_and_read_with_any_offset() {
        let unix_ms = parse("2026-01-15T10:20:30+07:00").unwrap();
        assert_eq!(text(unix_ms, false), "2026-01-15T10:20:30+07:00");
        assert_eq!(text(unix_ms + 7, true), "2026-01-15T10:20:30.007+07:00");
        assert_eq!(text(unix_ms, true), "2026-01-15T10:20:30.000+07:00");
        assert_eq!(digits(unix_ms), "20260115102030");
        assert_eq!(day(parse("2026-01-14T17:00:00Z").unwrap()), "2026-01-15");
        assert_eq!(parse("2026-01-15T03:20:30Z"), Some(unix_ms));
        assert_eq!(parse("2026-01-15"), None);
    }
}
