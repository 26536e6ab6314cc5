//! How many attempts a receiver gets at once: more while it answers quickly, few again as soon as it does not.

use std::time::Duration;

use domain::delivery::AttemptOutcome;

/// Attempts at once of a receiver of which nothing is known yet, or nothing good.
const FIRST: usize = 4;
/// An answer that takes longer is slow.
const QUICK_WITHIN: Duration = Duration::from_millis(500);

/// How a receiver has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    Quick,
    /// It took long, failed, or never ended.
    Slow,
}

impl Pace {
    pub(super) fn of(outcome: &AttemptOutcome) -> Pace {
        if outcome.delivered() && outcome.latency < QUICK_WITHIN { Pace::Quick } else { Pace::Slow }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    size: usize,
    most: usize,
}

impl Window {
    pub(super) fn new(most: usize) -> Window {
        Window { size: FIRST.min(most), most }
    }

    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// An attempt has ended. More are allowed only if some `wait` for that.
    pub(super) fn ended(&mut self, pace: Pace, wait: bool) {
        self.size = match pace {
            Pace::Quick if wait => (self.size + 1).min(self.most),
            Pace::Quick => self.size,
            Pace::Slow => (self.size / 2).max(Window::new(self.most).size),
        };
    }
}

#[cfg(test)]
mod tests {
    use domain::delivery::{Failure, FailureClass};

    use super::*;

    #[test]
    fn a_quick_receiver_gets_more_at_once_up_to_the_limit_and_a_slow_one_four() {
        let mut window = Window::new(64);
        assert_eq!(window.size(), 4);
        for wanted in (5..=64).chain([64, 64]) {
            window.ended(Pace::Quick, true);
            assert_eq!(window.size(), wanted);
        }
        for wanted in [32, 16, 8, 4, 4] {
            window.ended(Pace::Slow, true);
            assert_eq!(window.size(), wanted);
        }
        window.ended(Pace::Quick, false);
        assert_eq!(window.size(), 4, "nothing waits");
    }

    #[test]
    fn a_limit_below_four_is_never_exceeded() {
        for most in 1..4 {
            let mut window = Window::new(most);
            for pace in [Pace::Quick, Pace::Slow, Pace::Quick] {
                assert_eq!(window.size(), most);
                window.ended(pace, true);
            }
        }
    }

    #[test]
    fn only_a_delivery_within_half_a_second_is_quick() {
        let answered = |millis, status| AttemptOutcome::answered(Duration::from_millis(millis), status, String::new());
        assert_eq!(Pace::of(&answered(499, 204)), Pace::Quick);
        assert_eq!(Pace::of(&answered(500, 204)), Pace::Slow);
        assert_eq!(Pace::of(&answered(1, 500)), Pace::Slow);
        let refused = Failure::new(FailureClass::Connect, "refused");
        assert_eq!(Pace::of(&AttemptOutcome::unanswered(Duration::ZERO, refused)), Pace::Slow);
    }
}
