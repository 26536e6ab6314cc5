//! Formats times for people: date and time in western Indonesia (WIB, UTC+7, without daylight saving time). It never reads a
//! clock.

use std::time::Duration;

use domain::{language::Language, time::Timestamp};

const WIB: Duration = Duration::from_hours(7);
/// Where the date and the seconds end in `2026-11-15T21:30:00.000Z`.
const DATE_END: usize = 10;
const SECONDS_END: usize = 19;
/// Where hours and minutes are in it.
const TIME: std::ops::Range<usize> = 11..16;
/// Letters of a month's abbreviation, in both languages.
const SHORT_MONTH: usize = 3;

/// A point in time, formatted for people and for programs.
pub struct Moment {
    /// `15 November 2026 pukul 21.30 WIB`, in the page's language.
    pub text: String,
    /// RFC 3339 in UTC.
    pub utc: String,
}

const MONTHS: [[&str; 2]; 12] = [
    ["Januari", "January"],
    ["Februari", "February"],
    ["Maret", "March"],
    ["April", "April"],
    ["Mei", "May"],
    ["Juni", "June"],
    ["Juli", "July"],
    ["Agustus", "August"],
    ["September", "September"],
    ["Oktober", "October"],
    ["November", "November"],
    ["Desember", "December"],
];

pub fn moment(at: Timestamp, language: Language) -> Moment {
    Moment { text: text(at, language), utc: at.to_string() }
}

/// The short form, for tables: `15 Nov 2026 21.30 WIB`.
pub fn short_moment(at: Timestamp, language: Language) -> Moment {
    let local = local(at);
    let (year, day, month) = date(&local, language);
    let time = short_time(at, language);
    Moment {
        text: format!("{day} {} {year} {time} WIB", month.get(..SHORT_MONTH).unwrap_or(month)),
        utc: at.to_string(),
    }
}

/// One line of a list: `15 Nov 21.30`, with the year if it is not the year of `now`. The list's head names the time zone.
pub fn row_moment(at: Timestamp, now: Timestamp, language: Language) -> Moment {
    let (local, today) = (local(at), local(now));
    let (year, day, month) = date(&local, language);
    let month = month.get(..SHORT_MONTH).unwrap_or(month);
    let year = if today.starts_with(year) { String::new() } else { format!(" {year}") };
    Moment { text: format!("{day} {month}{year} {}", time_of_day(&local, language)), utc: at.to_string() }
}

/// The day alone: `15 November 2026`.
pub fn day(at: Timestamp, language: Language) -> String {
    let local = local(at);
    let (year, day, month) = date(&local, language);
    format!("{day} {month} {year}")
}

/// The day alone in short form: `15 Nov`.
pub fn short_day(at: Timestamp, language: Language) -> String {
    let local = local(at);
    let (_, day, month) = date(&local, language);
    format!("{day} {}", month.get(..SHORT_MONTH).unwrap_or(month))
}

/// The time of the day alone: `21.30`, in English `21:30`.
pub fn short_time(at: Timestamp, language: Language) -> String {
    let local = local(at);
    let time = local.get(TIME).unwrap_or_default();
    match language {
        Language::Indonesian => time.replace(':', "."),
        Language::English => time.to_owned(),
    }
}

/// The time of the day to the second: `21.30.05`, in English `21:30:05`.
pub fn clock_time(at: Timestamp, language: Language) -> String {
    let local = local(at);
    let time = local.get(TIME.start..SECONDS_END).unwrap_or_default();
    match language {
        Language::Indonesian => time.replace(':', "."),
        Language::English => time.to_owned(),
    }
}

/// RFC 3339 with the offset of western Indonesia: `2026-11-15T21:30:00+07:00`.
pub fn local_rfc3339(at: Timestamp) -> String {
    let local = local(at);
    format!("{}+07:00", local.get(..SECONDS_END).unwrap_or(&local))
}

/// Midnight of a day in western Indonesia, as a browser's date field writes it: `2026-11-15`.
pub fn midnight_of(date: &str) -> Option<Timestamp> {
    let is_date = date.len() == DATE_END && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    is_date.then(|| Timestamp::parse(&format!("{date}T00:00:00+07:00")).ok()).flatten()
}

/// The date in western Indonesia, as [`midnight_of`] reads it.
pub fn date_of(at: Timestamp) -> String {
    let local = local(at);
    local.get(..DATE_END).unwrap_or_default().to_owned()
}

/// The local time, written as if it were UTC: `2026-11-15T21:30:00.000Z` is 21.30 WIB.
fn local(at: Timestamp) -> String {
    at.plus(WIB).to_string()
}

/// Hours and minutes of a local time.
fn time_of_day(local: &str, language: Language) -> String {
    let time = local.get(TIME).unwrap_or_default();
    match language {
        Language::Indonesian => time.replace(':', "."),
        Language::English => time.to_owned(),
    }
}

/// Year, day and month of a local time.
fn date(local: &str, language: Language) -> (&str, &str, &'static str) {
    let part = |from: usize, to: usize| local.get(from..to).unwrap_or_default();
    let month = part(5, 7).parse().ok().and_then(|number: usize| MONTHS.get(number.checked_sub(1)?));
    let [indonesian, english] = month.copied().unwrap_or_default();
    let month = match language {
        Language::Indonesian => indonesian,
        Language::English => english,
    };
    (part(0, 4), part(8, 10).trim_start_matches('0'), month)
}

fn text(at: Timestamp, language: Language) -> String {
    let local = local(at);
    let (year, day, month) = date(&local, language);
    let part = |from: usize, to: usize| local.get(from..to).unwrap_or_default();
    let (hour, minute) = (part(11, 13), part(14, 16));
    match language {
        Language::Indonesian => format!("{day} {month} {year} pukul {hour}.{minute} WIB"),
        Language::English => format!("{day} {month} {year}, {hour}:{minute} WIB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_in_western_indonesian_time_for_people_and_in_utc_for_machines() {
        for (utc, indonesian, english) in [
            ("2026-11-14T09:30:00.000Z", "14 November 2026 pukul 16.30 WIB", "14 November 2026, 16:30 WIB"),
            ("2026-12-31T17:00:00.000Z", "1 Januari 2027 pukul 00.00 WIB", "1 January 2027, 00:00 WIB"),
            ("2028-02-28T23:59:59.999Z", "29 Februari 2028 pukul 06.59 WIB", "29 February 2028, 06:59 WIB"),
        ] {
            let at = Timestamp::parse(utc).unwrap();
            assert_eq!(moment(at, Language::Indonesian).text, indonesian);
            assert_eq!(moment(at, Language::English).text, english);
            assert_eq!(moment(at, Language::English).utc, utc);
        }
    }

    #[test]
    fn a_day_is_the_one_in_western_indonesia() {
        let at = Timestamp::parse("2026-07-31T17:00:00.500Z").unwrap();
        assert_eq!([day(at, Language::Indonesian), day(at, Language::English)], ["1 Agustus 2026", "1 August 2026"]);
        assert_eq!(short_moment(at, Language::Indonesian).text, "1 Agu 2026 00.00 WIB");
        assert_eq!(short_moment(at, Language::English).text, "1 Aug 2026 00:00 WIB");
        let year = |now: &str| row_moment(at, Timestamp::parse(now).unwrap(), Language::Indonesian).text;
        assert_eq!(year("2026-12-31T16:59:59Z"), "1 Agu 00.00");
        assert_eq!(year("2026-12-31T17:00:00Z"), "1 Agu 2026 00.00", "in another year the year is told");
        assert_eq!([short_day(at, Language::Indonesian), short_day(at, Language::English)], ["1 Agu", "1 Aug"]);
        assert_eq!([clock_time(at, Language::Indonesian), clock_time(at, Language::English)], ["00.00.00", "00:00:00"]);
        assert_eq!((date_of(at), local_rfc3339(at)), ("2026-08-01".to_owned(), "2026-08-01T00:00:00+07:00".to_owned()));
        assert_eq!(midnight_of("2026-08-01").map(|at| at.to_string()).as_deref(), Some("2026-07-31T17:00:00.000Z"));
        for wrong in
            ["", "2026-8-1", "2026-02-30", "20260801", "2026-08-01T", "01-08-2026", "２026-08-01", "2026-08-01 "]
        {
            assert_eq!(midnight_of(wrong), None, "{wrong}");
        }
    }
}
