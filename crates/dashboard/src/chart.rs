//! How much was paid on each day, as bars and as a table. The bars are drawn on the server, so that they need no
//! script. Positions are percentages, so that bars stretch with the page and texts do not.

mod scale;

use domain::{language::Language, money::Rupiah};
use engine::Day;
use i18n_embed_fl::fl;
use web::page::moment::{day, short_day};

use self::scale::{Scale, WHOLE, percent};
use crate::{
    short_amount::short_amount,
    words::{Words, words},
};

/// The lowest bar, so that it can be seen.
const HEIGHT_LEAST: i128 = WHOLE / 100;
/// How much of a day's place its bar takes, in hundredths.
const BAR: i128 = 72;
/// Where the break of a bar begins and ends that is cut off.
const BREAK: [i128; 2] = [WHOLE / 20, WHOLE / 11];
/// Figures above bars that are closer to each other than this would touch on a phone.
const FIGURES_APART: i128 = WHOLE * 3 / 10;
/// A figure closer to an edge than this begins or ends there.
const EDGE: i128 = WHOLE / 7;

pub(crate) struct Chart {
    /// The drawing in a sentence, for screen readers.
    pub(crate) label: String,
    pub(crate) highest: Option<String>,
    /// The amounts at the lines, highest first; empty where nothing was paid.
    pub(crate) axis: Vec<String>,
    /// Where the lines are.
    pub(crate) lines: Vec<String>,
    pub(crate) bars: Vec<Bar>,
    /// The amounts of bars that are cut off, above them.
    pub(crate) figures: Vec<Figure>,
    /// How many bars are cut off, in a sentence.
    pub(crate) cut: Option<String>,
    pub(crate) dates: Vec<Date>,
    /// The latest day first.
    pub(crate) rows: Vec<Row>,
}

/// A day's place, which shows its title, and its bar.
pub(crate) struct Bar {
    pub(crate) place: String,
    pub(crate) place_width: String,
    pub(crate) x: String,
    pub(crate) width: String,
    pub(crate) y: String,
    pub(crate) height: String,
    pub(crate) title: String,
    pub(crate) is_empty: bool,
    /// The upper and the lower end of a line across a bar that is cut off.
    pub(crate) cut: Option<[String; 2]>,
    /// Where the day's place ends.
    pub(crate) place_end: String,
}

pub(crate) struct Figure {
    pub(crate) x: String,
    /// Which part of the text is there: `start`, `middle` or `end`.
    pub(crate) anchor: &'static str,
    pub(crate) text: String,
}

pub(crate) struct Date {
    pub(crate) x: String,
    /// As of a figure.
    pub(crate) anchor: &'static str,
    pub(crate) text: String,
    /// Whether it is left out where there is little room.
    pub(crate) is_minor: bool,
}

pub(crate) struct Row {
    pub(crate) day: String,
    pub(crate) payments: i64,
    pub(crate) amount: String,
}

impl Chart {
    pub(super) fn of(days: &[Day], language: Language) -> Chart {
        let words = words(language);
        let amounts: Vec<i64> = days.iter().map(|day| day.amount.get()).collect();
        let scale = Scale::of(&amounts);
        let best = days.iter().max_by_key(|day| day.amount).filter(|day| day.amount > Rupiah::ZERO);
        let highest = best.map(|best| {
            let (amount, on) = (best.amount.to_string(), short_day(best.begins, language));
            fl!(words, "chart-highest", amount = amount, day = on)
        });
        let lines: Vec<i128> = scale.map(|scale| scale.lines().collect()).unwrap_or_default();
        let steps = i128::try_from(lines.len().saturating_sub(1)).unwrap_or(1).max(1);
        Chart {
            label: label(words, days, language),
            highest,
            axis: lines.iter().map(|amount| short_amount(*amount, language)).collect(),
            lines: (0..).zip(&lines).map(|(line, _)| percent(line * WHOLE / steps)).collect(),
            bars: scale.map(|scale| bars(days, scale, language)).unwrap_or_default(),
            figures: scale.map(|scale| figures(days, scale, language)).unwrap_or_default(),
            cut: scale.zip(best).and_then(|(scale, best)| cut(words, days, scale, best, language)),
            dates: dates(days, language),
            rows: days.iter().rev().map(|of| row(of, language)).collect(),
        }
    }
}

fn label(words: Words, days: &[Day], language: Language) -> String {
    let total: Rupiah = days.iter().map(|day| day.amount).sum();
    let named = |of: Option<&Day>| of.map(|of| day(of.begins, language)).unwrap_or_default();
    let (from, to, total) = (named(days.first()), named(days.last()), total.to_string());
    fl!(words, "chart-label", from = from, to = to, total = total)
}

/// Where the place of a day begins.
fn place(index: i128, days: usize) -> i128 {
    index * WHOLE / i128::try_from(days).unwrap_or(1).max(1)
}

fn middle(index: i128, days: usize) -> i128 {
    i128::midpoint(place(index, days), place(index + 1, days))
}

fn bars(days: &[Day], scale: Scale, language: Language) -> Vec<Bar> {
    let bar = |(index, day): (i128, &Day)| {
        let (begin, end) = (place(index, days.len()), place(index + 1, days.len()));
        let width = (end - begin) * BAR / 100;
        let height = scale.height(day.amount.get()).max(HEIGHT_LEAST);
        Bar {
            place: percent(begin),
            place_width: percent(end - begin),
            place_end: percent(end),
            x: percent(begin + (end - begin - width) / 2),
            width: percent(width),
            y: percent(WHOLE - height),
            height: percent(height),
            title: format!("{}: {}", short_day(day.begins, language), day.amount),
            is_empty: day.amount <= Rupiah::ZERO,
            cut: scale.cuts(day.amount.get()).then(|| BREAK.map(percent)),
        }
    };
    (0..).zip(days).map(bar).collect()
}

/// The amounts of bars that are cut off, the highest first. Where two would touch, the lower one is left out.
fn figures(days: &[Day], scale: Scale, language: Language) -> Vec<Figure> {
    let mut cut: Vec<(i128, &Day)> = (0..).zip(days).filter(|(_, day)| scale.cuts(day.amount.get())).collect();
    cut.sort_by_key(|(_, day)| std::cmp::Reverse(day.amount));
    let mut taken: Vec<i128> = Vec::new();
    let mut figures = Vec::new();
    for (index, day) in cut {
        let x = middle(index, days.len());
        if taken.iter().any(|other| (other - x).abs() < FIGURES_APART) {
            continue;
        }
        taken.push(x);
        let anchor = match x {
            _ if x < EDGE => "start",
            _ if x > WHOLE - EDGE => "end",
            _ => "middle",
        };
        figures.push(Figure { x: percent(x), anchor, text: short_amount(day.amount.get().into(), language) });
    }
    figures
}

fn cut(words: Words, days: &[Day], scale: Scale, best: &Day, language: Language) -> Option<String> {
    let count = days.iter().filter(|day| scale.cuts(day.amount.get())).count();
    let (amount, on) = (best.amount.to_string(), short_day(best.begins, language));
    (count > 0).then(|| fl!(words, "chart-cut", count = count, amount = amount, day = on))
}

/// The dates below the bars, counted from the last day back, so that the last one is always named.
fn dates(days: &[Day], language: Language) -> Vec<Date> {
    let every = match days.len() {
        0..=10 => 1,
        11..=45 => 5,
        _ => 15,
    };
    let date = |(back, (index, day)): (usize, (i128, &Day))| {
        (back % every == 0).then(|| Date {
            x: percent(middle(index, days.len())),
            // Below a narrow bar, a text around its middle would leave the drawing.
            anchor: if back == 0 && every > 1 { "end" } else { "middle" },
            text: short_day(day.begins, language),
            is_minor: back / every % 2 == 1,
        })
    };
    let counted: Vec<(i128, &Day)> = (0..).zip(days).collect();
    counted.into_iter().rev().enumerate().filter_map(date).collect()
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

    fn drawn(chart: &Chart) -> Vec<(&str, &str, &str)> {
        chart.bars.iter().filter(|bar| !bar.is_empty).map(|bar| (&*bar.x, &*bar.y, &*bar.height)).collect()
    }

    #[test]
    fn the_highest_day_fills_the_drawing_and_the_smallest_is_still_visible() {
        let chart = Chart::of(&days(&[0, 1, 500_000, 1_000_000]), Language::Indonesian);
        let expected = [("28.50%", "99.00%", "1.00%"), ("53.50%", "50.00%", "50.00%"), ("78.50%", "0.00%", "100.00%")];
        assert_eq!(drawn(&chart), expected);
        assert_eq!(chart.axis, ["Rp1 jt", "Rp750 rb", "Rp500 rb", "Rp250 rb", "Rp0"]);
        assert_eq!(chart.lines, ["0.00%", "25.00%", "50.00%", "75.00%", "100.00%"]);
        assert_eq!((chart.bars.len(), &*chart.bars[0].title), (4, "17 Okt: Rp0"), "an empty day is named too");
        assert_eq!(chart.bars[3].title, "20 Okt: Rp1.000.000");
        assert_eq!((chart.rows.len(), &*chart.rows[0].day), (4, "20 Oktober 2026"));
        assert!(chart.label.contains("Rp1.500.001"), "{}", chart.label);
        assert!(chart.figures.is_empty() && chart.cut.is_none());
    }

    #[test]
    fn a_day_far_above_the_others_is_cut_off_and_named() {
        let mut amounts = vec![400_000; 30];
        amounts[29] = 48_500_000;
        let chart = Chart::of(&days(&amounts), Language::Indonesian);
        assert_eq!((&*chart.axis[0], &*chart.bars[0].height), ("Rp400 rb", "100.00%"));
        assert!(chart.bars[29].cut.is_some() && chart.bars[28].cut.is_none());
        let [figure] = chart.figures.as_slice() else { panic!("one figure") };
        assert_eq!((&*figure.text, figure.anchor), ("Rp48,5 jt", "end"));
        let cut = chart.cut.unwrap();
        assert!(cut.contains("Rp48.500.000") && cut.contains("15 Nov"), "{cut}");
        // Of two beside each other the higher one has its figure; the sentence counts both.
        amounts[28] = 50_000_000;
        let chart = Chart::of(&days(&amounts), Language::English);
        assert_eq!(chart.figures.iter().map(|figure| &*figure.text).collect::<Vec<_>>(), ["Rp50M"]);
        assert!(chart.cut.is_some_and(|cut| cut.starts_with("2 days")));
    }

    #[test]
    fn the_last_day_is_always_named_below_the_bars() {
        for (count, named) in [(1, 1), (7, 7), (30, 6), (90, 6)] {
            let dates = Chart::of(&days(&vec![1; count]), Language::English).dates;
            assert_eq!(dates.len(), named, "{count} days");
            assert!(!dates[0].is_minor && dates.iter().filter(|date| !date.is_minor).count() <= 4, "{count} days");
        }
        assert_eq!(Chart::of(&days(&[1; 30]), Language::English).dates[0].text, "15 Nov");
    }

    #[test]
    fn days_without_money_and_the_largest_sums_are_drawn_too() {
        let chart = Chart::of(&days(&[0, 0]), Language::English);
        assert!(chart.bars.is_empty() && chart.highest.is_none() && chart.axis.is_empty());
        let chart = Chart::of(&days(&[i64::MAX / 2, 1]), Language::English);
        assert_eq!(drawn(&chart).len(), 2);
        assert!(chart.bars.iter().all(|bar| !bar.height.starts_with('-') && !bar.y.starts_with('-')));
        assert!(Chart::of(&[], Language::English).rows.is_empty());
    }
}
