//! How much was paid on each day, as bars and as a table. The bars are drawn on the server, so that they need no
//! script.

use domain::{language::Language, money::Rupiah};
use engine::Day;
use i18n_embed_fl::fl;
use web::page::moment::{day, short_day};

use crate::words::words;

/// The height of the drawing, in its own units.
const HEIGHT: i64 = 100;
/// The distance from one bar to the next.
const STEP: usize = 10;

pub(crate) struct Chart {
    /// The drawing in a sentence, for screen readers.
    pub(crate) label: String,
    pub(crate) highest: Option<String>,
    pub(crate) width: usize,
    pub(crate) bars: Vec<Bar>,
    /// The first day, one in the middle, and the last.
    pub(crate) ends: Vec<String>,
    /// The latest day first.
    pub(crate) rows: Vec<Row>,
}

pub(crate) struct Bar {
    pub(crate) x: String,
    pub(crate) y: i64,
    pub(crate) height: i64,
    pub(crate) title: String,
}

pub(crate) struct Row {
    pub(crate) day: String,
    pub(crate) payments: i64,
    pub(crate) amount: String,
}

impl Chart {
    pub(super) fn of(days: &[Day], language: Language) -> Chart {
        let words = words(language);
        let total: Rupiah = days.iter().map(|day| day.amount).sum();
        let (first, last) = (days.first(), days.last());
        let named = |of: Option<&Day>| of.map(|of| day(of.begins, language)).unwrap_or_default();
        let (from, to, total) = (named(first), named(last), total.to_string());
        let best = days.iter().max_by_key(|day| day.amount).filter(|day| day.amount > Rupiah::ZERO);
        let highest = best.map(|best| {
            let (amount, on) = (best.amount.to_string(), short_day(best.begins, language));
            fl!(words, "chart-highest", amount = amount, day = on)
        });
        let most = best.map_or(1, |best| best.amount.get());
        let bars = days.iter().enumerate().filter(|(_, day)| day.amount > Rupiah::ZERO);
        let ends = [first, days.get(days.len() / 2), last].into_iter().flatten();
        Chart {
            label: fl!(words, "chart-label", from = from, to = to, total = total),
            highest,
            width: days.len() * STEP,
            bars: bars.map(|(index, day)| bar(index, day, most, language)).collect(),
            ends: ends.map(|day| short_day(day.begins, language)).collect(),
            rows: days.iter().rev().map(|of| row(of, language)).collect(),
        }
    }
}

fn bar(index: usize, of: &Day, most: i64, language: Language) -> Bar {
    // A bar is at least one unit high, so that it can be seen.
    let height = (of.amount.get().saturating_mul(HEIGHT) / most).clamp(1, HEIGHT);
    let title = format!("{}: {}", short_day(of.begins, language), of.amount);
    Bar { x: format!("{}.5", index * STEP + 1), y: HEIGHT - height, height, title }
}

fn row(of: &Day, language: Language) -> Row {
    Row { day: day(of.begins, language), payments: of.payments, amount: of.amount.to_string() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::time::Timestamp;

    use super::*;

    fn days(amounts: &[i64]) -> Vec<Day> {
        let first = Timestamp::parse("2026-10-16T17:00:00Z").unwrap();
        let begins = |index: usize| first.plus(Duration::from_hours(24) * u32::try_from(index).unwrap());
        let day = |(index, amount): (usize, &i64)| Day {
            begins: begins(index),
            payments: i64::from(*amount > 0),
            amount: Rupiah::new(*amount),
        };
        amounts.iter().enumerate().map(day).collect()
    }

    #[test]
    fn the_highest_day_fills_the_drawing_and_the_smallest_is_still_visible() {
        let chart = Chart::of(&days(&[0, 1, 500_000, 1_000_000]), Language::Indonesian);
        let drawn: Vec<(&str, i64, i64)> = chart.bars.iter().map(|bar| (&*bar.x, bar.y, bar.height)).collect();
        assert_eq!(drawn, [("11.5", 99, 1), ("21.5", 50, 50), ("31.5", 0, 100)]);
        assert_eq!(chart.bars[2].title, "20 Okt: Rp1.000.000");
        assert_eq!(chart.ends, ["17 Okt", "19 Okt", "20 Okt"]);
        assert_eq!((chart.width, chart.rows.len(), &*chart.rows[0].day), (40, 4, "20 Oktober 2026"));
        assert!(chart.label.contains("Rp1.500.001"), "{}", chart.label);
    }

    #[test]
    fn days_without_money_and_the_largest_sums_are_drawn_too() {
        let chart = Chart::of(&days(&[0, 0]), Language::English);
        assert!(chart.bars.is_empty() && chart.highest.is_none());
        let chart = Chart::of(&days(&[i64::MAX / 2, 1]), Language::English);
        assert!(chart.bars.iter().all(|bar| (1..=HEIGHT).contains(&bar.height)));
        assert!(Chart::of(&[], Language::English).rows.is_empty());
    }
}
