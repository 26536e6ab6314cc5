//! How the window does with receivers of different kinds, in simulated time.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, VecDeque},
    time::{Duration, Instant},
};

use super::window::{AttemptNumber, Pace, Window};
use domain::delivery::AttemptOutcome;

const MOST: usize = 64;
const SECOND: Duration = Duration::from_secs(1);
/// Attempts that have no connection by then fail.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// `workers` answer at once, each within `takes`, and `queue` connections wait for them. A system whose queue is full drops what
/// comes, and ours tries again after a second, then after two more.
#[derive(Clone, Copy)]
struct Receiver {
    workers: usize,
    queue: usize,
    takes: Duration,
    /// Every so many answers, one takes `long`; 0 for never.
    long_every: u64,
    long: Duration,
    is_failing: bool,
}

/// Like Python's own server: it answers one request after another, and six connections wait.
const SHY: Receiver = Receiver {
    workers: 1,
    queue: 6,
    takes: Duration::from_millis(2),
    long_every: 0,
    long: Duration::ZERO,
    is_failing: false,
};
const WIDE: Receiver = Receiver { workers: 64, queue: 128, takes: Duration::from_millis(5), ..SHY };

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrives,
    Answered,
    GivenUp,
}

struct Simulation {
    window: Window,
    receiver: Receiver,
    epoch: Instant,
    now: Duration,
    events: BinaryHeap<Reverse<(Duration, AttemptNumber, Event)>>,
    /// When each began, and how often it has tried to connect.
    attempts: HashMap<AttemptNumber, (Duration, u32)>,
    busy: usize,
    queue: VecDeque<AttemptNumber>,
    tally: Tally,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    delivered: usize,
    slow: usize,
}

impl Simulation {
    fn new(most: usize, receiver: Receiver) -> Simulation {
        Simulation {
            window: Window::new(most),
            receiver,
            epoch: Instant::now(),
            now: Duration::ZERO,
            events: BinaryHeap::new(),
            attempts: HashMap::new(),
            busy: 0,
            queue: VecDeque::new(),
            tally: Tally::default(),
        }
    }

    /// Sends without end for so long, and answers what came of it.
    fn run(&mut self, duration: Duration) -> Tally {
        let end = self.now + duration;
        self.tally = Tally::default();
        self.fill();
        while let Some(Reverse((at, attempt, event))) = self.events.pop() {
            if at > end {
                self.events.push(Reverse((at, attempt, event)));
                break;
            }
            self.now = at;
            match event {
                Event::Arrives => self.arrive(attempt),
                Event::Answered => self.answer(attempt),
                Event::GivenUp => self.end(attempt, false),
            }
            self.fill();
        }
        self.now = end;
        self.tally
    }

    fn fill(&mut self) {
        while self.window.free() > 0 {
            let attempt = self.window.begin();
            self.attempts.insert(attempt, (self.now, 0));
            self.at(Duration::ZERO, attempt, Event::Arrives);
        }
    }

    fn at(&mut self, after: Duration, attempt: AttemptNumber, event: Event) {
        self.events.push(Reverse((self.now + after, attempt, event)));
    }

    fn arrive(&mut self, attempt: AttemptNumber) {
        if self.busy < self.receiver.workers {
            return self.serve(attempt);
        }
        if self.queue.len() < self.receiver.queue {
            return self.queue.push_back(attempt);
        }
        let (began, tries) = self.attempts.get_mut(&attempt).unwrap();
        let wait = SECOND * 2_u32.pow(*tries);
        *tries += 1;
        match (*began + CONNECT_WITHIN).saturating_sub(self.now) {
            left if left < wait => self.at(left, attempt, Event::GivenUp),
            _ => self.at(wait, attempt, Event::Arrives),
        }
    }

    fn serve(&mut self, attempt: AttemptNumber) {
        let Receiver { takes, long_every, long, .. } = self.receiver;
        self.busy += 1;
        self.at(
            if long_every > 0 && attempt.is_multiple_of(long_every) { long } else { takes },
            attempt,
            Event::Answered,
        );
    }

    fn answer(&mut self, attempt: AttemptNumber) {
        self.busy -= 1;
        while self.busy < self.receiver.workers
            && let Some(next) = self.queue.pop_front()
        {
            self.serve(next);
        }
        self.end(attempt, !self.receiver.is_failing);
    }

    fn end(&mut self, attempt: AttemptNumber, delivered: bool) {
        let (began, _) = self.attempts.remove(&attempt).unwrap();
        let status = if delivered { 200 } else { 500 };
        let pace = Pace::of(&AttemptOutcome::of_answer(self.now - began, status, String::new()));
        self.tally.delivered += usize::from(delivered);
        self.tally.slow += usize::from(matches!(pace, Pace::Slow(_)));
        self.window.end(attempt, Some(pace), true, self.epoch + self.now);
    }
}

/// How much a receiver gets within so long from one that never sends it more than four at once.
fn by_four(receiver: Receiver, duration: Duration) -> usize {
    Simulation::new(4, receiver).run(duration).delivered
}

/// Regression: the window grew far beyond what such a receiver takes, attempts waited for a second and more to be connected, and
/// after it had shrunk it grew straight back. A receiver that answers hundreds a second got forty.
#[test]
fn a_receiver_with_a_short_queue_gets_nearly_as_much_as_by_four_at_once() {
    for queue in [1, 5, 6, 20] {
        let receiver = Receiver { queue, ..SHY };
        let mut sending = Simulation::new(MOST, receiver);
        for (which, duration) in [("first", 2 * SECOND), ("next", 10 * SECOND), ("last", 60 * SECOND)] {
            let (tally, four) = (sending.run(duration), by_four(receiver, duration));
            assert!(tally.delivered * 100 >= four * 95, "{which}, {queue}: {} of {four}", tally.delivered);
            assert!(tally.slow * 100 < tally.delivered, "{which}, {queue}: {} of {}", tally.slow, tally.delivered);
        }
        assert!(sending.window.size() <= (queue + 3).max(4), "{queue}: {}", sending.window.size());
    }
}

#[test]
fn a_receiver_that_takes_more_gets_more_until_the_limit() {
    let mut sending = Simulation::new(MOST, WIDE);
    sending.run(SECOND / 2);
    assert_eq!(sending.window.size(), MOST);
    assert_eq!(sending.run(SECOND).slow, 0);
    let mut far = Simulation::new(MOST, Receiver { takes: SECOND * 3 / 10, ..WIDE });
    far.run(20 * SECOND);
    assert!(far.window.size() >= MOST - 1, "slow by its distance alone: {}", far.window.size());
}

#[test]
fn answers_that_are_slow_by_chance_do_not_keep_a_receiver_from_getting_more() {
    let now_and_then = Receiver { long_every: 67, long: SECOND * 7 / 10, takes: SECOND / 10, ..WIDE };
    let mut sending = Simulation::new(MOST, now_and_then);
    sending.run(20 * SECOND);
    let (tally, four) = (sending.run(60 * SECOND), by_four(now_and_then, 60 * SECOND));
    assert!(tally.slow > 0 && tally.delivered > 10 * four, "{} of {four}", tally.delivered);
}

#[test]
fn where_more_at_once_only_makes_answers_slower_the_window_stops_growing() {
    let one_by_one = Receiver { queue: 1_000, takes: Duration::from_millis(20), ..SHY };
    let mut sending = Simulation::new(MOST, one_by_one);
    let tally = sending.run(60 * SECOND);
    assert!(sending.window.size() <= 15, "{}", sending.window.size());
    assert_eq!(tally.slow, 0);
    assert!(tally.delivered * 100 >= by_four(one_by_one, 60 * SECOND) * 99);
}

#[test]
fn a_receiver_that_takes_less_from_now_on_or_more_gets_what_it_takes() {
    let mut sending = Simulation::new(MOST, WIDE);
    sending.run(2 * SECOND);
    sending.receiver = SHY;
    sending.run(10 * SECOND);
    let (tally, four) = (sending.run(20 * SECOND), by_four(SHY, 20 * SECOND));
    assert!(tally.delivered * 100 >= four * 95, "{} of {four}", tally.delivered);
    assert!(sending.window.size() <= 10, "{}", sending.window.size());
    sending.receiver = WIDE;
    let grown = (0..600).any(|_| {
        sending.run(SECOND);
        sending.window.size() == MOST
    });
    assert!(grown, "{}", sending.window.size());
}

#[test]
fn a_receiver_that_fails_gets_four_at_once_and_soon_more_when_it_is_well_again() {
    for outage in [SECOND, 60 * SECOND] {
        let mut sending = Simulation::new(MOST, WIDE);
        sending.run(SECOND);
        sending.receiver.is_failing = true;
        sending.run(outage);
        assert_eq!(sending.window.size(), 4);
        sending.receiver.is_failing = false;
        sending.run(15 * SECOND);
        assert_eq!(sending.window.size(), MOST);
    }
}
