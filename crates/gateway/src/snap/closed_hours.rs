//! The hours of a day in Jakarta in which a bank takes no orders.

use std::fmt;

use domain::time::{DAY, Timestamp, WIB};

use super::setting_texts::number;

const MINUTES_OF_HOUR: u16 = 60;
const MINUTES_OF_DAY: u16 = 24 * MINUTES_OF_HOUR;
const MILLIS_OF_MINUTE: i64 = 60_000;

/// `none`, or from when to when, such as `23:55-06:00`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClosedHours(Option<(u16, u16)>);

impl ClosedHours {
    pub fn parse(text: &str) -> Option<ClosedHours> {
        if text == "none" {
            return Some(ClosedHours(None));
        }
        let (from, until) = text.split_once('-')?;
        let (from, until) = (minute(from)?, minute(until)?);
        (from != until).then_some(ClosedHours(Some((from, until))))
    }

    /// When the bank opens again; none if it is open.
    pub fn opens_at(self, now: Timestamp) -> Option<Timestamp> {
        let (from, until) = self.0?;
        let local = now.plus(WIB).as_millis();
        let midnight = local - local.rem_euclid(i64::try_from(DAY.as_millis()).ok()?);
        let minute_of_day = u16::try_from((local - midnight) / MILLIS_OF_MINUTE).ok()?;
        let is_closed = match from < until {
            true => (from..until).contains(&minute_of_day),
            false => minute_of_day >= from || minute_of_day < until,
        };
        let days = if is_closed && minute_of_day >= until { 1 } else { 0 };
        let opening = i64::from(until) + days * i64::from(MINUTES_OF_DAY);
        is_closed.then(|| Timestamp::from_millis(midnight + opening * MILLIS_OF_MINUTE).minus(WIB))
    }
}

/// `HH:MM`, as minutes since midnight.
fn minute(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let is_whole = hours.len() == 2 && minutes.len() == 2;
    let (hours, minutes): (u16, u16) = (number(hours)?, number(minutes)?);
    (is_whole && hours < 24 && minutes < MINUTES_OF_HOUR).then_some(hours * MINUTES_OF_HOUR + minutes)
}

impl fmt::Display for ClosedHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = |minutes: u16| format!("{:02}:{:02}", minutes / MINUTES_OF_HOUR, minutes % MINUTES_OF_HOUR);
        match self.0 {
            None => f.write_str("none"),
            Some((from, until)) => write!(f, "{}-{}", clock(from), clock(until)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_closed_bank_opens_at_the_next_end_of_its_closed_hours() {
        for (hours, now, opens) in [
            ("23:55-06:00", "2026-01-15T23:54:59+07:00", None),
            ("23:55-06:00", "2026-01-15T23:55:00+07:00", Some("2026-01-16T06:00:00+07:00")),
            ("23:55-06:00", "2026-01-16T00:00:00+07:00", Some("2026-01-16T06:00:00+07:00")),
            ("23:55-06:00", "2026-01-16T05:59:59+07:00", Some("2026-01-16T06:00:00+07:00")),
            ("23:55-06:00", "2026-01-16T06:00:00+07:00", None),
            ("01:00-03:30", "2026-01-16T02:00:00+07:00", Some("2026-01-16T03:30:00+07:00")),
            ("01:00-03:30", "2026-01-16T00:59:00+07:00", None),
            ("none", "2026-01-16T02:00:00+07:00", None),
        ] {
            let hours = ClosedHours::parse(hours).unwrap();
            assert_eq!(hours.opens_at(at(now)), opens.map(at), "{hours} {now}");
        }
    }

    #[test]
    fn hours_are_written_as_they_are_read() {
        for text in ["none", "23:55-06:00", "00:00-00:01"] {
            assert_eq!(ClosedHours::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "23:55", "23:55-24:00", "1:00-2:00", "01:60-02:00", "01:00-01:00", "aa:bb-cc:dd"] {
            assert_eq!(ClosedHours::parse(text), None, "{text}");
        }
    }
}
