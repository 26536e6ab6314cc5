//! How many numbers of a bank account are taken. There may be millions, so all are counted only while they are few. Else
//! the first of them are read in their order: numbers are drawn evenly, so how far those reach tells how many there are.

use domain::id::BankAccountId;
use gateway::snap::Parameters;
use store::FirstNumbers;

use crate::{Engine, Error};

/// Numbers that are read at most. The estimate is then off by a few percent of itself, and by less the fewer are left.
const NUMBERS_READ: i64 = 2_000;

/// How many numbers are in use or rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumbersTaken {
    pub count: i64,
    pub is_estimate: bool,
}

impl Engine {
    pub(in crate::banks) async fn numbers_taken(
        &self,
        id: BankAccountId,
        parameters: &Parameters,
    ) -> Result<NumbersTaken, Error> {
        let prefix = parameters.number("");
        let first = self.store.first_numbers(id, &prefix, NUMBERS_READ, self.now()).await?;
        Ok(estimate(&first, &prefix))
    }
}

fn estimate(first: &FirstNumbers, prefix: &str) -> NumbersTaken {
    let last = first.last.as_deref().and_then(|last| last.strip_prefix(prefix));
    match last.filter(|_| first.read >= NUMBERS_READ).and_then(reach) {
        Some((reached, all)) => {
            let count = u128::try_from(first.taken).unwrap_or_default() * all / reached;
            NumbersTaken { count: i64::try_from(count).unwrap_or(i64::MAX), is_estimate: true }
        }
        None => NumbersTaken { count: first.taken, is_estimate: false },
    }
}

/// How many numbers there are up to this one, of how many of its length.
fn reach(customer_no: &str) -> Option<(u128, u128)> {
    let all = 10_u128.checked_pow(u32::try_from(customer_no.len()).ok()?)?;
    Some((customer_no.parse::<u128>().ok()?.checked_add(1)?, all))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::RngExt;

    use super::*;

    const PREFIX: &str = "12345";
    const DIGITS: u32 = 6;
    const ALL: i64 = 1_000_000;

    /// What the store reads of these numbers.
    fn first(numbers: &BTreeSet<i64>) -> FirstNumbers {
        let read: Vec<i64> = numbers.iter().copied().take(usize::try_from(NUMBERS_READ).unwrap()).collect();
        let count = i64::try_from(read.len()).unwrap();
        let last = read.last().map(|last| format!("{PREFIX}{last:0width$}", width = DIGITS as usize));
        FirstNumbers { read: count, taken: count, last }
    }

    fn drawn(count: i64) -> BTreeSet<i64> {
        let mut rng = rand::rng();
        let mut numbers = BTreeSet::new();
        while i64::try_from(numbers.len()).unwrap() < count {
            numbers.insert(rng.random_range(0..ALL));
        }
        numbers
    }

    #[test]
    fn few_numbers_are_counted() {
        for count in [0, 1, NUMBERS_READ - 1] {
            let taken = estimate(&first(&drawn(count)), PREFIX);
            assert_eq!(taken, NumbersTaken { count, is_estimate: false });
        }
    }

    #[test]
    fn many_numbers_are_estimated_to_within_a_fifth() {
        // That is nine times the standard deviation, so that no draw misses it.
        for count in [NUMBERS_READ, 20_000, 300_000, 800_000] {
            let taken = estimate(&first(&drawn(count)), PREFIX);
            assert!(taken.is_estimate && (taken.count - count).abs() <= count / 5, "{count}: {taken:?}");
        }
        let all = estimate(&first(&(0..ALL).collect()), PREFIX);
        assert_eq!(all, NumbersTaken { count: ALL, is_estimate: true });
    }

    #[test]
    fn numbers_that_are_free_again_do_not_count() {
        let half = FirstNumbers { taken: NUMBERS_READ / 2, ..first(&(0..ALL).collect()) };
        assert_eq!(estimate(&half, PREFIX).count, ALL / 2);
    }
}
