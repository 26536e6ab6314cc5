//! What random Idempotency-Keys cost. Keys that count up are added beside the last one; each random key has a place of its own
//! in the index of all keys.

use std::io;

use crate::{
    bench::Bench,
    load::{self, CONNECTIONS},
    prefill::Prefilled,
    process::Served,
    report::{Finding, at_least},
    requests::{VIRTUAL_ACCOUNT, keyed_creates},
    rounds::interleave,
};

/// In thousandths.
const GOAL: u64 = 850;
/// Rounds number their keys from here on. The keys of the prefilled payments come before.
const FIRST_ROUND: u64 = 1;
/// 2^64 divided by the golden ratio: multiples of it, mixed, look random and never repeat.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Bench {
    /// Each side has a database of its own, filled with keys of its own kind, and keys of both kinds have 32 characters.
    pub(crate) async fn create_random(&mut self) -> io::Result<Vec<Finding>> {
        let count = self.prefill;
        let with_random = Prefilled::with_keys(count, |index| random(0, index)).await?;
        let with_counting = Prefilled::with_keys(count, |index| counting(0, index)).await?;
        let (scattered, ordered) = (Served::lunas(&with_random.home).await?, Served::lunas(&with_counting.home).await?);
        let create = |served: &Served, key: fn(u64, u64) -> String, round: u64| {
            let run = FIRST_ROUND + round;
            let requests = keyed_creates(vec![served.caller()], VIRTUAL_ACCOUNT, move |index| key(run, index));
            let (address, duration) = (served.address, self.duration);
            async move { load::run(address, CONNECTIONS, duration, &requests).await }
        };
        let measured = interleave(
            self.rounds,
            |round| create(&scattered, random, round),
            |round| create(&ordered, counting, round),
        )
        .await?;
        let found = at_least("create-random", &measured, GOAL);
        Ok(vec![Finding { ceiling: format!("{} with counting keys", found.ceiling), ..found }])
    }
}

fn counting(run: u64, index: u64) -> String {
    format!("{run:016x}{index:016x}")
}

/// Evenly distributed, different for every run and index, and the same in every measurement.
fn random(run: u64, index: u64) -> String {
    let high = mixed(mixed(run).wrapping_add(index));
    format!("{high:016x}{:016x}", mixed(high ^ run))
}

/// The mixing function of SplitMix64.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(1).wrapping_mul(STEP);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn random_keys_never_repeat_and_do_not_count_up() {
        let keys: Vec<String> = (0..4).flat_map(|run| (0..5_000).map(move |index| random(run, index))).collect();
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
        let ascending = keys.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((8_000..12_000).contains(&ascending), "{ascending} of {} follow the one before", keys.len());
        assert!(keys.iter().all(|key| key.len() == counting(7, 7).len()));
    }
}
