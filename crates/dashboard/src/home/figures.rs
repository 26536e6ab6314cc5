//! What was paid today and in the chosen period, each compared with the same time before it.

use domain::{language::Language, money::Rupiah, time::Timestamp};
use engine::{Home, Paid};
use i18n_embed_fl::fl;
use web::page::moment::short_time;

use crate::{short_amount::decimal, words::Words};

/// The periods that the page offers, in days, and the one that it shows when none is chosen.
pub(crate) const PERIODS: [u32; 3] = [7, 30, 90];
pub(crate) const PERIOD: u32 = 30;
/// A rise beyond this is not written in percent.
const PERCENT_MOST: i128 = 999;
/// Below this, percentages have one decimal.
const DECIMAL_BELOW: i128 = 10;

pub(crate) struct Stat {
    pub(crate) label: String,
    pub(crate) amount: String,
    pub(crate) count: String,
    pub(crate) change: Option<Change>,
}

/// How an amount compares with the one before it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// `up`, `down` or nothing.
    pub(crate) tone: &'static str,
    /// `+15%`; empty where there is nothing to compare with.
    pub(crate) percent: String,
    /// What it is compared with.
    pub(crate) text: String,
}

/// One of the periods.
pub(crate) struct PeriodChoice {
    pub(crate) url: String,
    pub(crate) label: String,
    pub(crate) is_chosen: bool,
}

/// The period that the address asks for; the usual one where it asks for none of them.
pub(crate) fn chosen_period(asked: Option<&str>) -> u32 {
    asked.and_then(|days| PERIODS.into_iter().find(|period| period.to_string() == days)).unwrap_or(PERIOD)
}

pub(crate) fn choices(words: Words, base: &str, chosen: u32) -> Vec<PeriodChoice> {
    let choice = |days: u32| PeriodChoice {
        url: format!("{base}?days={days}"),
        label: fl!(words, "home-days", days = days),
        is_chosen: days == chosen,
    };
    PERIODS.map(choice).into()
}

/// Today, yesterday and the balance.
pub(crate) fn stats(words: Words, language: Language, home: &Home, now: Timestamp) -> Vec<Stat> {
    let today = home.days.last().map(|day| Paid { payments: day.payments, amount: day.amount }).unwrap_or_default();
    let (before, time) = (home.yesterday_so_far.amount, short_time(now, language));
    let than = before.to_string();
    let text = fl!(words, "change-yesterday", time = time, before = than);
    let pending = home.balance.pending.to_string();
    vec![
        Stat {
            label: fl!(words, "home-today"),
            amount: today.amount.to_string(),
            count: fl!(words, "payments-count", count = today.payments),
            change: change(today.amount, before, text, language),
        },
        Stat {
            label: fl!(words, "home-yesterday"),
            amount: home.yesterday.amount.to_string(),
            count: fl!(words, "payments-count", count = home.yesterday.payments),
            change: None,
        },
        Stat {
            label: fl!(words, "home-available"),
            amount: home.balance.available.to_string(),
            count: fl!(words, "home-pending", amount = pending),
            change: None,
        },
    ]
}

/// The whole period.
pub(crate) fn period(words: Words, language: Language, home: &Home, days: u32) -> Stat {
    let amount: Rupiah = home.days.iter().map(|day| day.amount).sum();
    let payments: i64 = home.days.iter().map(|day| day.payments).sum();
    let before = home.before.amount.to_string();
    let text = fl!(words, "change-period", days = days, before = before);
    Stat {
        label: fl!(words, "home-period", days = days),
        amount: amount.to_string(),
        count: fl!(words, "payments-count", count = payments),
        change: change(amount, home.before.amount, text, language),
    }
}

/// None where nothing was paid, neither now nor before.
fn change(now: Rupiah, before: Rupiah, text: String, language: Language) -> Option<Change> {
    let (now, before) = (i128::from(now.get()), i128::from(before.get()));
    if before <= 0 {
        return (now > 0).then(|| Change { tone: "", percent: String::new(), text });
    }
    let difference = now - before;
    // Tenths of a percent, rounded to the nearest.
    let tenths = (difference.abs() * 1_000 * 2 + before) / (2 * before);
    let (tone, sign) = match difference {
        _ if tenths == 0 => ("", ""),
        1.. => ("up", "+"),
        _ => ("down", "−"),
    };
    let percent = match tenths / 10 {
        PERCENT_MOST.. if difference > 0 => format!(">{PERCENT_MOST}"),
        whole if whole < DECIMAL_BELOW => format!("{sign}{}", decimal(tenths * 10, language)),
        _ => format!("{sign}{}", (tenths + 5) / 10),
    };
    Some(Change { tone, percent: format!("{percent}%"), text })
}

#[cfg(test)]
mod tests {
    use engine::{BalanceAt, Day, FailingDeliveries, HeldSum, SetupProgress};

    use super::*;
    use crate::words::words;

    #[test]
    fn a_change_has_a_sign_and_as_many_digits_as_can_be_read() {
        for (now, before, tone, percent) in [
            (115, 100, "up", "+15%"),
            (50, 100, "down", "−50%"),
            (0, 100, "down", "−100%"),
            (100, 100, "", "0%"),
            (1_000_001, 1_000_000, "", "0%"),
            (1_003, 1_000, "up", "+0,3%"),
            (9_260, 10_000, "down", "−7,4%"),
            (1_096, 1_000, "up", "+9,6%"),
            (1_996, 1_000, "up", "+100%"),
            (100_000, 100, "up", ">999%"),
            (i64::MAX, 1, "up", ">999%"),
            (100, 0, "", ""),
        ] {
            let change = change(Rupiah::new(now), Rupiah::new(before), String::new(), Language::Indonesian).unwrap();
            assert_eq!((change.tone, &*change.percent), (tone, percent), "{now} after {before}");
        }
        assert_eq!(change(Rupiah::ZERO, Rupiah::ZERO, String::new(), Language::English), None);
    }

    #[test]
    fn counts_have_their_thousands_apart() {
        let day = |payments| Day { begins: Timestamp::from_millis(0), payments, amount: Rupiah::new(1) };
        let home = Home {
            setup: SetupProgress::default(),
            days: vec![day(6_000), day(510)],
            before: Paid::default(),
            yesterday: Paid::default(),
            yesterday_so_far: Paid::default(),
            balance: BalanceAt {
                available: Rupiah::ZERO,
                pending: Rupiah::ZERO,
                unapplied: Rupiah::ZERO,
                refunding: Rupiah::ZERO,
                as_of: Timestamp::from_millis(0),
            },
            held: HeldSum::default(),
            failing: FailingDeliveries::default(),
        };
        for (language, all) in [(Language::Indonesian, "6.510 pembayaran"), (Language::English, "6,510 payments")] {
            assert_eq!(period(words(language), language, &home, 30).count, all);
        }
    }

    #[test]
    fn only_offered_periods_can_be_chosen() {
        for (asked, days) in [(None, 30), (Some("7"), 7), (Some("90"), 90), (Some("8"), 30), (Some("07"), 30)] {
            assert_eq!(chosen_period(asked), days, "{asked:?}");
        }
    }
}
