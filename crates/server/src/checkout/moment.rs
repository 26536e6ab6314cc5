//! Moments as customers read them: the date and the time in western Indonesia, where no clock is ever changed.

use std::time::Duration;

use domain::{steps::Language, time::Timestamp};

use super::view::Moment;

const WIB: Duration = Duration::from_hours(7);

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

pub(super) fn moment(at: Timestamp, language: Language) -> Moment {
    Moment { text: text(at, language), utc: at.to_string() }
}

fn text(at: Timestamp, language: Language) -> String {
    // The same text as in UTC, seven hours on: `2026-11-15T21:30:00.000Z`.
    let local = at.plus(WIB).to_string();
    let part = |from: usize, to: usize| local.get(from..to).unwrap_or_default();
    let (year, day, hour, minute) = (part(0, 4), part(8, 10).trim_start_matches('0'), part(11, 13), part(14, 16));
    let month = part(5, 7).parse().ok().and_then(|number: usize| MONTHS.get(number.checked_sub(1)?));
    let [indonesian, english] = month.copied().unwrap_or_default();
    match language {
        Language::Indonesian => format!("{day} {indonesian} {year} pukul {hour}.{minute} WIB"),
        Language::English => format!("{day} {english} {year}, {hour}:{minute} WIB"),
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
}
