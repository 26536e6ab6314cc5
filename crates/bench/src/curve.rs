//! What `growth` has measured: the cost of each operation by the number of payments, and whether it grows too fast.

use std::fmt::Write;

use crate::{
    report::{Finding, decimal},
    rounds::middle,
};

/// How much more than by the logarithm an operation may cost before we say that it grows faster, in thousandths: rounds on a
/// busy machine differ by that much.
const NOISE: u64 = 1_250;
/// Characters of the longest bar of a curve in text.
const BAR_MOST: u64 = 60;

/// One operation at every size.
pub(crate) struct Grown {
    pub(crate) name: &'static str,
    pub(crate) points: Vec<Point>,
}

/// One operation at one size.
pub(crate) struct Point {
    pub(crate) payments: u64,
    pub(crate) per_second: u64,
    /// What it costs relative to the smallest size, in thousandths: of each round, in ascending order.
    costs: Vec<u64>,
    /// The most that it may cost.
    most: u64,
}

/// What was measured on one database.
pub(crate) struct Curve {
    pub(crate) title: &'static str,
    pub(crate) operations: Vec<Grown>,
}

impl Point {
    pub(crate) fn cost(&self) -> u64 {
        middle(&self.costs)
    }

    fn holds(&self) -> bool {
        self.cost() <= self.most
    }
}

impl Grown {
    /// Whether it grows no faster than the logarithm, at every size.
    pub(crate) fn holds(&self) -> bool {
        self.points.iter().all(Point::holds)
    }
}

/// `rates` has those of each size by round.
pub(crate) fn points(sizes: &[u64], rates: &[Vec<u64>]) -> Vec<Point> {
    let first = rates.first().cloned().unwrap_or_default();
    let point = |(payments, rates): (&u64, &Vec<u64>)| {
        let mut costs: Vec<u64> = first.iter().zip(rates).map(|(first, rate)| first * 1_000 / rate).collect();
        costs.sort_unstable();
        let mut rates = rates.clone();
        rates.sort_unstable();
        let most = most(*payments, sizes[0]);
        Point { payments: *payments, per_second: middle(&rates), costs, most }
    };
    sizes.iter().zip(rates).map(point).collect()
}

/// The most that an operation may cost at this size relative to the smallest, both of them powers of ten, in thousandths.
fn most(payments: u64, smallest: u64) -> u64 {
    NOISE * u64::from(payments.ilog10()) / u64::from(smallest.ilog10()).max(1)
}

impl Curve {
    pub(crate) fn findings(&self, group: &'static str) -> Vec<Finding> {
        let mut findings = Vec::new();
        for Grown { name, points } in &self.operations {
            let Some((smallest, others)) = points.split_first() else { continue };
            for point in others {
                let (least, most) = (point.costs.first().copied(), point.costs.last().copied());
                let [least, most] = [least, most].map(|cost| decimal(cost.unwrap_or_default()));
                findings.push(Finding {
                    group,
                    product: format!("{name} {}/s at {}", point.per_second, power(point.payments)),
                    ceiling: format!("{}/s at {}", smallest.per_second, power(smallest.payments)),
                    ratio: format!("{} ({least} to {most})", decimal(point.cost())),
                    goal: format!("<= {}", decimal(point.most)),
                    holds: Some(point.holds()),
                });
            }
        }
        findings
    }

    /// A bar for each operation and size, as long as its cost relative to the smallest size.
    pub(crate) fn text(&self) -> String {
        let costs = self.operations.iter().flat_map(|grown| &grown.points).map(Point::cost);
        let longest = costs.max().unwrap_or_default().max(1);
        let mut text = format!("{}: what each costs, relative to the smallest size\n", self.title);
        for Grown { name, points } in &self.operations {
            for point in points {
                let bar = "#".repeat(usize::try_from(point.cost() * BAR_MOST / longest).unwrap_or_default());
                let mark = if point.holds() { "" } else { ", faster than log n" };
                let (payments, cost) = (power(point.payments), decimal(point.cost()));
                // Writing to a string does not fail.
                let _ = writeln!(text, "{name:8} {payments:5} {bar} {cost}, {}/s{mark}", point.per_second);
            }
        }
        text
    }
}

/// `10^4` for 10,000.
fn power(size: u64) -> String {
    format!("10^{}", size.ilog10())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_may_cost_as_much_more_as_the_logarithm_grows_and_a_quarter() {
        let grown = |rates: [u64; 3]| {
            let rates = rates.map(|rate| vec![rate; 3]);
            Grown { name: "get", points: points(&[10_000, 100_000, 1_000_000], &rates) }
        };
        assert!(grown([1_000, 1_000, 1_000]).holds());
        assert!(grown([1_000, 641, 534]).holds());
        assert!(!grown([1_000, 639, 600]).holds());
        assert!(!grown([1_000, 900, 532]).holds());
        assert!(!grown([1_000, 100, 10]).holds());
    }
}
