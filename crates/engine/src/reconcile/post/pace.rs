//! How many letters a round sends, and how long to rest after it. A relay that was away gets one letter first, and then twice as many
//! each round: what has waited for a day does not fall on it at once.

use std::time::Duration;

use super::round::RoundEnd;

/// How long to rest when nothing was due.
const REST: Duration = Duration::from_millis(500);
/// How long to rest after a round that has found as much as it could take.
const REST_WHEN_BUSY: Duration = Duration::from_millis(100);
/// How long to rest after the first round without a relay, which doubles with each further one.
const REST_WITHOUT_RELAY: Duration = Duration::from_secs(1);
const REST_WITHOUT_RELAY_MOST: Duration = Duration::from_secs(60);
const LETTERS_MOST: usize = 64;
/// What the first round takes.
const LETTERS_FIRST: usize = 8;

pub(super) struct Pace {
    letters: usize,
    /// Rounds without a relay, one after the other.
    failures: u32,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { letters: LETTERS_FIRST, failures: 0 }
    }
}

impl Pace {
    pub(super) const fn letters_most(&self) -> usize {
        self.letters
    }

    /// Takes in how a round ended; answers how long to rest.
    pub(super) fn after(&mut self, end: &RoundEnd) -> Duration {
        match end {
            RoundEnd::NoRelay => {
                self.letters = 1;
                let rest = REST_WITHOUT_RELAY.saturating_mul(1 << self.failures.min(6));
                self.failures = self.failures.saturating_add(1);
                rest.min(REST_WITHOUT_RELAY_MOST)
            }
            RoundEnd::Sent { found } if *found >= self.letters => {
                self.failures = 0;
                self.letters = (self.letters * 2).min(LETTERS_MOST);
                REST_WHEN_BUSY
            }
            RoundEnd::Sent { found } => {
                if *found > 0 {
                    self.failures = 0;
                }
                REST
            }
            RoundEnd::Failed => REST,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relay_that_comes_back_gets_one_letter_and_then_twice_as_many_each_round() {
        let mut pace = Pace::default();
        let rests: Vec<u64> = (0..9).map(|_| pace.after(&RoundEnd::NoRelay).as_secs()).collect();
        assert_eq!(rests, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        let mut sizes = Vec::new();
        for _ in 0..8 {
            sizes.push(pace.letters_most());
            let found = pace.letters_most();
            assert_eq!(pace.after(&RoundEnd::Sent { found }), REST_WHEN_BUSY);
        }
        assert_eq!(sizes, [1, 2, 4, 8, 16, 32, 64, 64]);
        assert_eq!(pace.after(&RoundEnd::Sent { found: 3 }), REST);
        assert_eq!(pace.after(&RoundEnd::NoRelay).as_secs(), 1, "it had been back");
        assert_eq!((pace.after(&RoundEnd::Sent { found: 0 }), pace.letters_most()), (REST, 1));
    }
}
