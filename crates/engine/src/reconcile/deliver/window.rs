//! How many attempts a receiver gets at once.
//!
//! A size is tried with as many attempts as it has. If they are answered quickly, and more at once means more in all, the next
//! size is a quarter larger. A receiver that takes a few at once and lets the others wait, as one with a short queue for
//! connections does, makes some of them slow: then half the size follows, and the size that went wrong is remembered. It is
//! tried again after a while, which doubles each time that this does not help.
//!
//! The next size waits until all attempts of the one before have ended. So one that is stuck for a second keeps the window from
//! growing meanwhile, however many others are quick.

use std::time::{Duration, Instant};

use domain::delivery::AttemptOutcome;

/// Attempts at once of a receiver of which nothing is known yet, or nothing good.
const FIRST: usize = 4;
/// An answer that takes longer is slow.
const QUICK_WITHIN: Duration = Duration::from_millis(500);
/// Only where answers take this long is it worth knowing whether more at once means more in all. Quicker ones leave little to
/// gain, and how long they take depends on this machine as much as on the receiver.
const COMPARED_FROM: Duration = Duration::from_millis(200);
/// Of so many attempts one may be slow or fail without saying anything about the size.
const ONE_SLOW_IN: usize = 8;
/// After what went wrong once, its size is not tried again for twice this long; each further time, for twice as long as before.
const REST_FIRST: Duration = Duration::from_secs(5);
const REST_MOST: Duration = Duration::from_mins(5);

/// How a receiver has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    Quick(Duration),
    /// It took long, or it failed.
    Slow(Duration),
}

impl Pace {
    pub(super) fn of(outcome: &AttemptOutcome) -> Pace {
        let latency = outcome.latency;
        if outcome.delivered() && latency < QUICK_WITHIN { Pace::Quick(latency) } else { Pace::Slow(latency) }
    }
}

/// The number of an attempt, in the order in which they begin.
pub(super) type AttemptNumber = u64;

#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    size: usize,
    most: usize,
    under_way: usize,
    next: AttemptNumber,
    trial: Trial,
    /// Slow attempts beside those that the trial counts.
    others_slow: usize,
    /// Whether a trial has succeeded since something went wrong.
    is_proven: bool,
    rest: Duration,
    trouble: Option<Trouble>,
    best: Option<Measured>,
}

/// The attempts from `first` on, as many as the window's size, which say whether that size is right.
#[derive(Clone, Copy, Debug)]
struct Trial {
    first: AttemptNumber,
    under_way: usize,
    ended: usize,
    slow: usize,
    latencies: Duration,
}

impl Trial {
    const fn from(first: AttemptNumber) -> Trial {
        Trial { first, under_way: 0, ended: 0, slow: 0, latencies: Duration::ZERO }
    }
}

/// A size that went wrong, and until when it is not tried again.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    size: usize,
    until: Instant,
}

/// What attempts took at the largest size that has brought something.
#[derive(Clone, Copy, Debug)]
struct Measured {
    size: usize,
    micros_each: u128,
}

impl Window {
    pub(super) fn new(most: usize) -> Window {
        Window {
            size: FIRST.min(most),
            most,
            under_way: 0,
            next: 0,
            trial: Trial::from(0),
            others_slow: 0,
            is_proven: false,
            rest: REST_FIRST,
            trouble: None,
            best: None,
        }
    }

    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// How many attempts may begin now.
    pub(super) const fn free(&self) -> usize {
        self.size.saturating_sub(self.under_way)
    }

    /// Whether it knows of a size that should not be tried again yet.
    pub(super) fn remembers_trouble(&self, now: Instant) -> bool {
        self.trouble.is_some_and(|trouble| now < trouble.until)
    }

    pub(super) fn begin(&mut self) -> AttemptNumber {
        let number = self.next;
        self.next += 1;
        self.under_way += 1;
        self.trial.under_way += 1;
        number
    }

    /// An attempt has ended; without a pace if nothing was sent. More are allowed only if some `wait` for that.
    pub(super) fn end(&mut self, attempt: AttemptNumber, pace: Option<Pace>, wait: bool, now: Instant) {
        self.under_way = self.under_way.saturating_sub(1);
        let is_of_trial = attempt >= self.trial.first;
        if is_of_trial {
            self.trial.under_way = self.trial.under_way.saturating_sub(1);
        }
        match pace {
            None => self.begin_trial(),
            Some(pace) if is_of_trial && attempt - self.trial.first < self.size as AttemptNumber => {
                self.count(pace, wait, now);
            }
            Some(Pace::Quick(_)) => {}
            // They began before the size was changed, or after those that the trial counts. When there are as many of them as
            // may be sent at once, it is not by chance.
            Some(Pace::Slow(_)) => {
                self.others_slow += 1;
                if self.others_slow >= self.size {
                    self.shrink(now);
                }
            }
        }
    }

    fn count(&mut self, pace: Pace, wait: bool, now: Instant) {
        self.trial.ended += 1;
        match pace {
            Pace::Quick(latency) => self.trial.latencies += latency,
            Pace::Slow(latency) => {
                self.trial.latencies += latency;
                self.trial.slow += 1;
                if self.trial.slow > (self.size / ONE_SLOW_IN).max(1) {
                    return self.shrink(now);
                }
            }
        }
        if self.trial.ended >= self.size {
            self.conclude(wait, now);
        }
    }

    /// All attempts of the trial have ended, and few of them were slow.
    fn conclude(&mut self, wait: bool, now: Instant) {
        let trial = self.trial;
        let older = self.under_way - trial.under_way;
        self.begin_trial();
        // Too many have been stuck since before.
        if older > (self.size / ONE_SLOW_IN).max(1) {
            return;
        }
        self.is_proven = true;
        let measured =
            Measured { size: self.size, micros_each: trial.latencies.as_micros() / self.size.max(1) as u128 };
        if let Some(best) = self.best
            && !is_worth_it(best, measured)
        {
            self.remember_trouble(now);
            self.size = best.size;
            return;
        }
        self.best = Some(measured);
        if self.size == self.most || self.trouble.is_some_and(|trouble| self.size >= 2 * trouble.size) {
            (self.trouble, self.rest) = (None, REST_FIRST);
        }
        if wait {
            let allowed = match self.trouble {
                Some(trouble) if now < trouble.until => trouble.size - 1,
                Some(_) | None => self.most,
            };
            self.size = (self.size + (self.size / 4).max(1)).min(allowed).min(self.most).max(self.size);
        }
    }

    /// Too many at once were slow or failed. With the fewest there is nothing to remember: they are tried on and on.
    fn shrink(&mut self, now: Instant) {
        let fewest = FIRST.min(self.most);
        if self.size > fewest {
            self.remember_trouble(now);
            self.size = (self.size / 2).max(fewest);
        }
        self.begin_trial();
    }

    fn remember_trouble(&mut self, now: Instant) {
        // A receiver that is down fails at any size. Once it is up again, it should not wait for long.
        if std::mem::take(&mut self.is_proven) {
            self.rest = (self.rest * 2).min(REST_MOST);
        }
        self.trouble = Some(Trouble { size: self.size, until: now + self.rest });
    }

    /// The attempts that begin from now on show whether the size is right.
    const fn begin_trial(&mut self) {
        self.trial = Trial::from(self.next);
        self.others_slow = 0;
    }
}

/// Whether a size brings more answers in the same time than a smaller one: at least a quarter of what it could.
fn is_worth_it(best: Measured, now: Measured) -> bool {
    if now.size <= best.size || now.micros_each < COMPARED_FROM.as_micros() {
        return true;
    }
    let (size, before) = (now.size as u128, best.size as u128);
    let gain = (size * best.micros_each).saturating_sub(before * now.micros_each);
    4 * gain >= (size - before) * now.micros_each
}

#[cfg(test)]
mod tests {
    use domain::delivery::{Failure, FailureClass};

    use super::*;

    const QUICK: Option<Pace> = Some(Pace::Quick(Duration::from_millis(5)));
    const SLOW: Option<Pace> = Some(Pace::Slow(Duration::from_secs(1)));

    /// Sends as many as are allowed, and ends all of them.
    fn send(window: &mut Window, pace: Option<Pace>, wait: bool, now: Instant) -> usize {
        let begun: Vec<AttemptNumber> = (0..window.free()).map(|_| window.begin()).collect();
        begun.iter().for_each(|number| window.end(*number, pace, wait, now));
        window.size()
    }

    #[test]
    fn a_quick_receiver_gets_a_quarter_more_at_once_up_to_the_limit_and_a_slow_one_four() {
        let (mut window, now) = (Window::new(64), Instant::now());
        assert_eq!((window.size(), send(&mut window, QUICK, false, now)), (4, 4), "nothing waits");
        for wanted in [5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 33, 41, 51, 63, 64, 64] {
            assert_eq!(send(&mut window, QUICK, true, now), wanted);
        }
        assert_eq!(send(&mut window, SLOW, true, now), 8, "all 64 were slow");
        assert_eq!(send(&mut window, SLOW, true, now), 4);
        assert_eq!(send(&mut window, SLOW, true, now), 4);
    }

    #[test]
    fn one_that_is_stuck_keeps_the_window_from_growing_and_one_slow_answer_does_not_shrink_it() {
        let (mut window, now) = (Window::new(64), Instant::now());
        let stuck = window.begin();
        for _ in 0..100 {
            assert_eq!(send(&mut window, QUICK, true, now), 4);
        }
        window.end(stuck, SLOW, true, now);
        assert_eq!(window.size(), 5, "one of four may be slow");
    }

    #[test]
    fn the_size_that_went_wrong_is_tried_again_after_a_while_that_doubles() {
        let (mut window, mut now) = (Window::new(64), Instant::now());
        let mut waits = Vec::new();
        for _ in 0..8 {
            while window.size() < 8 {
                send(&mut window, QUICK, true, now);
            }
            let begun: Vec<AttemptNumber> = (0..8).map(|_| window.begin()).collect();
            begun[..2].iter().for_each(|number| window.end(*number, SLOW, true, now));
            begun[2..].iter().for_each(|number| window.end(*number, QUICK, true, now));
            let wrong_at = now;
            for _ in 0..8 {
                send(&mut window, QUICK, true, now);
            }
            assert_eq!(window.size(), 7, "eight went wrong");
            while window.size() < 8 {
                now += Duration::from_secs(1);
                send(&mut window, QUICK, true, now);
            }
            waits.push(now.duration_since(wrong_at).as_secs());
        }
        assert_eq!(waits, [10, 20, 40, 80, 160, 300, 300, 300]);
    }

    #[test]
    fn attempts_that_were_not_made_say_nothing() {
        let (mut window, now) = (Window::new(64), Instant::now());
        for _ in 0..100 {
            assert_eq!(send(&mut window, None, true, now), 4);
        }
        assert!(!window.remembers_trouble(now));
        assert_eq!(send(&mut window, QUICK, true, now), 5);
    }

    #[test]
    fn a_limit_below_four_is_never_exceeded() {
        for most in 1..4 {
            let (mut window, now) = (Window::new(most), Instant::now());
            for pace in [QUICK, SLOW, SLOW, QUICK] {
                assert_eq!((window.size(), send(&mut window, pace, true, now)), (most, most));
            }
        }
    }

    #[test]
    fn only_a_delivery_within_half_a_second_is_quick() {
        let millis = Duration::from_millis;
        let answered = |latency, status| AttemptOutcome::of_answer(millis(latency), status, String::new());
        assert_eq!(Pace::of(&answered(499, 204)), Pace::Quick(millis(499)));
        assert_eq!(Pace::of(&answered(500, 204)), Pace::Slow(millis(500)));
        assert_eq!(Pace::of(&answered(1, 500)), Pace::Slow(millis(1)));
        let refused = Failure::new(FailureClass::Connect, "refused");
        assert_eq!(Pace::of(&AttemptOutcome::unanswered(Duration::ZERO, refused)), Pace::Slow(Duration::ZERO));
    }
}
