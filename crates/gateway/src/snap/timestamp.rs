//! The times of SNAP: `2026-01-15T10:20:30+07:00`. What is signed are the bytes of the header, so a time that was
//! received is compared as a moment but never written anew.

use domain::time::{Timestamp, WIB};

use super::values::Precision;

/// `yyyy-MM-ddTHH:mm:ss`, a point with nine digits, and an offset.
const CHARACTERS_MOST: usize = 35;
const SECONDS_CHARACTERS: usize = 19;
const MILLISECONDS_CHARACTERS: usize = 23;
const JAKARTA: &str = "+07:00";

/// The moment that a bank names: with `Z` or any offset. The standard allows three decimals; up to nine are read.
pub fn parse_timestamp(text: &str) -> Option<Timestamp> {
    let has_shape = text.len() <= CHARACTERS_MOST && text.as_bytes().get(10) == Some(&b'T');
    if has_shape { Timestamp::parse(text).ok() } else { None }
}

/// Like `parse_timestamp`, but a time without an offset is Jakarta's: some banks leave it out in bodies.
pub fn parse_local_timestamp(text: &str) -> Option<Timestamp> {
    parse_timestamp(text).or_else(|| parse_timestamp(&format!("{text}{JAKARTA}")))
}

/// The moment in Jakarta's time, as SNAP writes it.
pub fn format_timestamp(at: Timestamp, precision: Precision) -> String {
    // Written as if Jakarta's time were UTC; the text always has 24 characters.
    let local = at.plus(WIB).to_string();
    let characters = match precision {
        Precision::Seconds => SECONDS_CHARACTERS,
        Precision::Milliseconds => MILLISECONDS_CHARACTERS,
    };
    format!("{}{JAKARTA}", &local[..characters])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn any_offset_and_up_to_nine_decimals_are_read() {
        for text in [
            "2026-01-15T10:20:30+07:00",
            "2026-01-15T03:20:30Z",
            "2026-01-15T03:20:30.0Z",
            "2026-01-15T10:20:30.000+07:00",
            "2026-01-15T12:20:30.000000000+09:00",
            "2026-01-14T23:50:30-03:30",
        ] {
            assert_eq!(parse_timestamp(text), Some(at("2026-01-15T03:20:30Z")), "{text}");
            assert_eq!(parse_local_timestamp(text), parse_timestamp(text), "{text}");
        }
        assert_eq!(parse_timestamp("2026-01-15T03:20:30.123Z"), Some(at("2026-01-15T03:20:30.123Z")));
    }

    #[test]
    fn other_forms_are_no_times() {
        for text in [
            "",
            "2026-01-15",
            "2026-01-15 10:20:30+07:00",
            "2026-01-15T10:20:30+0700",
            "2026-01-15T10:20:30.0000000000+07:00",
            "2026-02-30T10:20:30+07:00",
            "2026-01-15T10:20:30Z+07:00",
            "2026-01-15T10:20:30+07:00 ",
            "2026-01-15T10:20:3☕",
            "1768447230",
        ] {
            assert_eq!(parse_timestamp(text), None, "{text}");
            assert_eq!(parse_local_timestamp(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_without_an_offset_is_jakartas_where_that_is_allowed() {
        for text in ["2026-01-15T10:20:30", "2026-01-15T10:20:30.000"] {
            assert_eq!(parse_timestamp(text), None);
            assert_eq!(parse_local_timestamp(text), Some(at("2026-01-15T03:20:30Z")));
        }
    }

    #[test]
    fn a_moment_is_written_in_jakartas_time_with_the_banks_precision() {
        let moment = at("2026-01-15T20:20:30.987Z");
        assert_eq!(format_timestamp(moment, Precision::Seconds), "2026-01-16T03:20:30+07:00");
        assert_eq!(format_timestamp(moment, Precision::Milliseconds), "2026-01-16T03:20:30.987+07:00");
        assert_eq!(parse_timestamp(&format_timestamp(moment, Precision::Milliseconds)), Some(moment));
        for millis in [i64::MIN, i64::MAX] {
            assert_eq!(format_timestamp(Timestamp::from_millis(millis), Precision::Seconds).len(), 25);
        }
    }
}
