//! Spans of days that a list offers by name, so that they need not be typed and an address means the same days of every
//! day.

use std::time::Duration;

use domain::time::Timestamp;
use i18n_embed_fl::fl;
use web::page::moment::{date_of, midnight_of};

use crate::words::Words;

pub(crate) const DAY: Duration = Duration::from_hours(24);
/// How many days before today the longer spans begin: today is one of their days.
const BEFORE_TODAY_OF_SEVEN: u32 = 6;
const BEFORE_TODAY_OF_THIRTY: u32 = 29;
/// Where the day begins in `2026-11-15`.
const DAY_OF_MONTH: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Period {
    Today,
    Yesterday,
    Seven,
    Thirty,
    Month,
}

impl Period {
    pub(crate) const ALL: [Period; 5] =
        [Period::Today, Period::Yesterday, Period::Seven, Period::Thirty, Period::Month];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Period::Today => "today",
            Period::Yesterday => "yesterday",
            Period::Seven => "7days",
            Period::Thirty => "30days",
            Period::Month => "month",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Period> {
        Period::ALL.into_iter().find(|period| period.word() == text)
    }

    pub(crate) fn name(self, words: Words) -> String {
        match self {
            Period::Today => fl!(words, "period-today"),
            Period::Yesterday => fl!(words, "period-yesterday"),
            Period::Seven => fl!(words, "period-7days"),
            Period::Thirty => fl!(words, "period-30days"),
            Period::Month => fl!(words, "period-month"),
        }
    }

    /// Its whole days in western Indonesia: from the first instant on, and before the second.
    pub(crate) fn span(self, now: Timestamp) -> (Timestamp, Timestamp) {
        let date = date_of(now);
        let today = midnight_of(&date).unwrap_or(now);
        let tomorrow = today.plus(DAY);
        match self {
            Period::Today => (today, tomorrow),
            Period::Yesterday => (today.minus(DAY), today),
            Period::Seven => (today.minus(DAY * BEFORE_TODAY_OF_SEVEN), tomorrow),
            Period::Thirty => (today.minus(DAY * BEFORE_TODAY_OF_THIRTY), tomorrow),
            Period::Month => {
                let first = date.get(..DAY_OF_MONTH).and_then(|month| midnight_of(&format!("{month}01")));
                (first.unwrap_or(today), tomorrow)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_made_of_whole_days_in_western_indonesia_and_ends_with_today_or_yesterday() {
        let spans = |now: &str| {
            let now = Timestamp::parse(now).unwrap();
            Period::ALL.map(|period| {
                let (from, until) = period.span(now);
                assert_eq!(Period::parse(period.word()), Some(period));
                (date_of(from), date_of(until.minus(Duration::from_millis(1))))
            })
        };
        let dates = |rows: [(&str, &str); 5]| rows.map(|(from, to)| (from.to_owned(), to.to_owned()));
        // Half past midnight of 1 March 2028 in Jakarta, still February in UTC.
        let early = [
            ("2028-03-01", "2028-03-01"),
            ("2028-02-29", "2028-02-29"),
            ("2028-02-24", "2028-03-01"),
            ("2028-02-01", "2028-03-01"),
            ("2028-03-01", "2028-03-01"),
        ];
        assert_eq!(spans("2028-02-29T17:30:00Z"), dates(early));
        let late = [
            ("2026-12-31", "2026-12-31"),
            ("2026-12-30", "2026-12-30"),
            ("2026-12-25", "2026-12-31"),
            ("2026-12-02", "2026-12-31"),
            ("2026-12-01", "2026-12-31"),
        ];
        assert_eq!(spans("2026-12-31T16:59:59.999Z"), dates(late));
        assert_eq!(["", "Today", "8days", "all"].map(Period::parse), [None; 4]);
    }
}
