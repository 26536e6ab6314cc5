//! The scale of a chart: round steps, and where its bars end. A few days that are far above all others are cut off,
//! so that the others can be read.

/// Steps between the lines of the scale.
const STEPS_MOST: i128 = 4;
/// A day is far above the next lower one when it has more than so many times its amount.
const FAR_ABOVE: i64 = 4;
/// Of so many days one may be cut off, and of fewer days one too.
const DAYS_FOR_EACH_CUT: usize = 10;
/// Days with money that stay below those that are cut off.
const DAYS_LEFT_LEAST: usize = 3;
/// What [`percent`] writes as 100 %.
pub(super) const WHOLE: i128 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    step: i128,
    steps: i128,
}

impl Scale {
    /// None where there is nothing to draw.
    pub(super) fn of(amounts: &[i64]) -> Option<Scale> {
        let most = i128::from(tallest_whole(amounts)?);
        let step = round_step((most + STEPS_MOST - 1) / STEPS_MOST);
        Some(Scale { step, steps: (most + step - 1) / step })
    }

    fn top(self) -> i128 {
        self.step * self.steps
    }

    /// The amounts at the lines, highest first, down to zero.
    pub(super) fn lines(self) -> impl Iterator<Item = i128> {
        (0..=self.steps).rev().map(move |line| line * self.step)
    }

    pub(super) fn cuts(self, amount: i64) -> bool {
        i128::from(amount) > self.top()
    }

    /// How much of the height a bar takes, in parts of [`WHOLE`].
    pub(super) fn height(self, amount: i64) -> i128 {
        (i128::from(amount) * WHOLE / self.top()).clamp(0, WHOLE)
    }
}

/// The highest amount that is drawn whole.
fn tallest_whole(amounts: &[i64]) -> Option<i64> {
    let mut falling: Vec<i64> = amounts.iter().copied().filter(|amount| *amount > 0).collect();
    falling.sort_unstable_by(|one, other| other.cmp(one));
    let cuts_most = (amounts.len() / DAYS_FOR_EACH_CUT).max(1).min(falling.len().saturating_sub(DAYS_LEFT_LEAST));
    let is_gap = |cut: &usize| falling[cut - 1] / FAR_ABOVE >= falling[*cut];
    let cut = (1..=cuts_most).rev().find(is_gap).unwrap_or(0);
    falling.get(cut).copied()
}

/// The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below `least`.
fn round_step(least: i128) -> i128 {
    let mut power = 1;
    while power * 10 <= least {
        power *= 10;
    }
    // There are no halves of a rupiah.
    let quarter = if power > 1 { power * 5 / 2 } else { 5 };
    let steps = [power, 2 * power, quarter, 5 * power];
    steps.into_iter().find(|step| *step >= least).unwrap_or(10 * power)
}

/// Parts of [`WHOLE`], as SVG writes percentages: `33.33%`.
pub(super) fn percent(part: i128) -> String {
    format!("{}.{:02}%", part / 100, part % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(amounts: &[i64]) -> Vec<i128> {
        Scale::of(amounts).unwrap().lines().collect()
    }

    #[test]
    fn lines_are_at_round_amounts_and_the_top_is_not_below_the_highest_bar() {
        for (most, expected) in [
            (1, &[1, 0][..]),
            (3, &[3, 2, 1, 0]),
            (10, &[10, 5, 0]),
            (900_000, &[1_000_000, 750_000, 500_000, 250_000, 0]),
            (1_000_000, &[1_000_000, 750_000, 500_000, 250_000, 0]),
            (1_000_001, &[1_500_000, 1_000_000, 500_000, 0]),
            (5_400_000, &[6_000_000, 4_000_000, 2_000_000, 0]),
            (7_900_000, &[8_000_000, 6_000_000, 4_000_000, 2_000_000, 0]),
        ] {
            assert_eq!(lines(&[most]), expected, "{most}");
        }
        for most in 1..5_000 {
            let lines = lines(&[most]);
            assert!(
                lines[0] >= most.into() && lines[0] <= 2 * i128::from(most) && lines.len() <= 5,
                "{most} {lines:?}"
            );
        }
    }

    #[test]
    fn one_day_far_above_the_others_is_cut_and_the_others_keep_their_height() {
        let mut month = vec![800_000; 30];
        month[12] = 48_000_000;
        let scale = Scale::of(&month).unwrap();
        assert_eq!(scale.lines().next(), Some(800_000));
        assert!(scale.cuts(48_000_000) && !scale.cuts(800_000));
        assert_eq!((scale.height(48_000_000), scale.height(800_000)), (WHOLE, WHOLE));
        // Three outliers of thirty days are cut, four are not: they are no exception any more.
        month[13] = 47_000_000;
        month[14] = 46_000_000;
        assert!(Scale::of(&month).unwrap().cuts(46_000_000));
        month[15] = 45_000_000;
        assert!(!Scale::of(&month).unwrap().cuts(48_000_000));
    }

    #[test]
    fn nothing_is_cut_where_days_differ_little_or_are_few() {
        for amounts in [&[3_000_000, 1_000_000, 900_000, 800_000, 0, 0, 0][..], &[9_000_000, 1_000, 0], &[5], &[7, 1]] {
            let scale = Scale::of(amounts).unwrap();
            assert!(!scale.cuts(amounts[0]), "{amounts:?}");
        }
        // In a week one day may be cut.
        assert!(Scale::of(&[40, 1, 2, 3, 0, 0, 0]).unwrap().cuts(40));
    }

    #[test]
    fn nothing_has_no_scale_and_the_largest_sums_have_one() {
        assert_eq!((Scale::of(&[]), Scale::of(&[0, 0])), (None, None));
        let scale = Scale::of(&[i64::MAX, 1, 0]).unwrap();
        assert!(!scale.cuts(i64::MAX) && scale.height(i64::MAX) <= WHOLE && scale.height(1) == 0);
        assert_eq!(scale.lines().last(), Some(0));
    }

    #[test]
    fn parts_are_written_as_percentages() {
        assert_eq!([percent(0), percent(5), percent(3_333), percent(WHOLE)], ["0.00%", "0.05%", "33.33%", "100.00%"]);
    }
}
