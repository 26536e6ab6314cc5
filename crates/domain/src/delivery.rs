//! The delivery of an event to its merchant: the retry schedule, the outcome of an attempt, and when retries end.
//!
//! Callers pass in the time and random numbers, as [`Jitter`].

use std::time::Duration;

use crate::{
    id::{EventId, ProjectId},
    time::Timestamp,
};

/// Seconds to wait after the first failed attempt, the second, and so on: about three days in all.
const WAITS_SECONDS: [u64; 12] = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400, 86_400];
/// The first attempt, and one after each wait.
pub const ATTEMPTS_MOST: u32 = 13;
/// How much of an answer is read before the connection is dropped.
pub const ANSWER_READ_BYTES_MOST: usize = 16 * 1_024;
/// How much of an answer is stored for people to read.
pub const ANSWER_KEPT_BYTES_MOST: usize = 4 * 1_024;
/// The longest explanation that is stored with a failure.
pub const DETAIL_CHARACTERS_MOST: usize = 300;

/// By how much a wait is made longer or shorter: at most a tenth, so that deliveries which failed at the same time are
/// not all retried at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// Thousandths of the wait in the schedule: 900 to 1,100.
    per_mille: u32,
}

impl Jitter {
    pub const NONE: Jitter = Jitter { per_mille: 1_000 };

    /// Makes a jitter from any random number.
    pub const fn drawn(random: u32) -> Jitter {
        Jitter { per_mille: 900 + random % 201 }
    }

    /// The wait, made longer or shorter.
    pub fn of(self, wait: Duration) -> Duration {
        wait.saturating_mul(self.per_mille) / 1_000
    }
}

/// How long to wait after so many attempts; `None` when there are no more attempts.
pub fn wait_after(attempts_made: u32, jitter: Jitter) -> Option<Duration> {
    let Some(waits_before) = attempts_made.checked_sub(1) else { return Some(Duration::ZERO) };
    let seconds = WAITS_SECONDS.get(usize::try_from(waits_before).ok()?)?;
    Some(Duration::from_millis(seconds * u64::from(jitter.per_mille)))
}

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// The next attempt is due at that time.
    Pending {
        due_at: Timestamp,
    },
    Delivered,
    /// Every attempt failed. It is sent again only when a person asks for it.
    Exhausted,
}

impl DeliveryState {
    /// The state after `attempts_made` attempts, the last of which had this `outcome`.
    pub fn after(attempts_made: u32, outcome: &AttemptOutcome, now: Timestamp, jitter: Jitter) -> DeliveryState {
        if outcome.delivered() {
            return DeliveryState::Delivered;
        }
        match wait_after(attempts_made, jitter) {
            Some(wait) => DeliveryState::Pending { due_at: now.plus(wait) },
            None => DeliveryState::Exhausted,
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            DeliveryState::Pending { .. } => "pending",
            DeliveryState::Delivered => "delivered",
            DeliveryState::Exhausted => "exhausted",
        }
    }

    /// Parses a state; a pending one needs the time at which it is due.
    pub fn parse(word: &str, due_at: Option<Timestamp>) -> Option<DeliveryState> {
        match (word, due_at) {
            ("pending", Some(due_at)) => Some(DeliveryState::Pending { due_at }),
            ("delivered", _) => Some(DeliveryState::Delivered),
            ("exhausted", _) => Some(DeliveryState::Exhausted),
            _ => None,
        }
    }
}

/// An event that is being sent to its merchant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub event_id: EventId,
    pub project_id: ProjectId,
    pub state: DeliveryState,
    /// All attempts that were ever made.
    pub attempts: u32,
    /// How many of them were made before a person last asked to send it again, which restarts the schedule.
    pub resent_after: u32,
    /// Whether it is sent ahead of the project's other deliveries, see [`EventKind::is_urgent`].
    ///
    /// [`EventKind::is_urgent`]: crate::event::EventKind::is_urgent
    pub urgent: bool,
}

impl Delivery {
    /// The delivery after one more attempt.
    #[must_use]
    pub fn attempted(self, outcome: &AttemptOutcome, now: Timestamp, jitter: Jitter) -> Delivery {
        let attempts = self.attempts + 1;
        let state = DeliveryState::after(attempts - self.resent_after, outcome, now, jitter);
        Delivery { state, attempts, ..self }
    }
}

/// One attempt, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub at: Timestamp,
    pub outcome: AttemptOutcome,
}

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptOutcome {
    pub latency: Duration,
    /// The answer's HTTP status, when one came.
    pub status: Option<u16>,
    /// The beginning of the answer, as [`kept_answer`] returns it.
    pub answer: String,
    /// Why the attempt failed; none when it succeeded.
    pub failure: Option<Failure>,
}

impl AttemptOutcome {
    /// The receiver answered. Only a 2xx status means that it has the event.
    pub fn of_answer(latency: Duration, status: u16, answer: String) -> AttemptOutcome {
        let failure = match status {
            200..=299 => None,
            300..=399 => Some(format!("the receiver answered {status}, and redirects are not followed")),
            _ => Some(format!("the receiver answered {status}")),
        };
        let failure = failure.map(|detail| Failure::new(FailureClass::Status, &detail));
        AttemptOutcome { latency, status: Some(status), answer, failure }
    }

    /// There was no answer.
    pub fn unanswered(latency: Duration, failure: Failure) -> AttemptOutcome {
        AttemptOutcome { latency, status: None, answer: String::new(), failure: Some(failure) }
    }

    /// The answer began but did not end. That is a failure even when its status was 2xx: the receiver may not have
    /// stored the event, and one that did recognises its id when it is sent again.
    pub fn cut_short(latency: Duration, status: u16, answer: String, failure: Failure) -> AttemptOutcome {
        AttemptOutcome { latency, status: Some(status), answer, failure: Some(failure) }
    }

    pub const fn delivered(&self) -> bool {
        self.failure.is_none()
    }
}

/// Why an attempt failed: a class to count and filter by, and the details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub class: FailureClass,
    pub detail: String,
}

impl Failure {
    /// Shortens `detail` and replaces line breaks and other control characters, since parts of it come from the
    /// receiver.
    pub fn new(class: FailureClass, detail: &str) -> Failure {
        let printable = detail.chars().map(|character| if character.is_control() { ' ' } else { character });
        Failure { class, detail: printable.take(DETAIL_CHARACTERS_MOST).collect() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureClass {
    NoUrl,
    BlockedAddress,
    Dns,
    Connect,
    Tls,
    Timeout,
    Closed,
    NotHttp,
    Status,
    Other,
}

impl FailureClass {
    pub const ALL: [FailureClass; 10] = [
        FailureClass::NoUrl,
        FailureClass::BlockedAddress,
        FailureClass::Dns,
        FailureClass::Connect,
        FailureClass::Tls,
        FailureClass::Timeout,
        FailureClass::Closed,
        FailureClass::NotHttp,
        FailureClass::Status,
        FailureClass::Other,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            FailureClass::NoUrl => "no_url",
            // Stored attempts have this word.
            FailureClass::BlockedAddress => "refused_address",
            FailureClass::Dns => "dns",
            FailureClass::Connect => "connect",
            FailureClass::Tls => "tls",
            FailureClass::Timeout => "timeout",
            FailureClass::Closed => "closed",
            FailureClass::NotHttp => "not_http",
            FailureClass::Status => "status",
            FailureClass::Other => "other",
        }
    }

    /// The class as a sentence for people.
    pub const fn sentence(self) -> &'static str {
        match self {
            FailureClass::NoUrl => "The project had no webhook URL at that moment.",
            FailureClass::BlockedAddress => "Webhooks may not go to this address.",
            FailureClass::Dns => "The host's name could not be resolved to public addresses.",
            FailureClass::Connect => "No connection could be made.",
            FailureClass::Tls => "A connection was made, but it could not be secured.",
            FailureClass::Timeout => "The answer was not complete in time.",
            FailureClass::Closed => "The connection was closed before the answer was complete.",
            FailureClass::NotHttp => "What came back was not HTTP.",
            FailureClass::Status => "The answer's status was not 2xx.",
            FailureClass::Other => "The request could not be made.",
        }
    }

    pub fn parse(word: &str) -> Option<FailureClass> {
        FailureClass::ALL.into_iter().find(|class| class.word() == word)
    }
}

/// The beginning of an answer as text that both databases can store: valid UTF-8 without U+0000, cut between
/// characters.
pub fn kept_answer(bytes: &[u8]) -> String {
    // Three bytes more, so that a character across the limit is cut off rather than mistaken for a broken one.
    let beginning = &bytes[..bytes.len().min(ANSWER_KEPT_BYTES_MOST + 3)];
    let mut text = String::from_utf8_lossy(beginning).replace('\0', "\u{fffd}");
    text.truncate(text.floor_char_boundary(ANSWER_KEPT_BYTES_MOST));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_794_648_600_000);

    fn failed() -> AttemptOutcome {
        AttemptOutcome::of_answer(Duration::from_millis(12), 500, String::new())
    }

    #[test]
    fn there_are_13_attempts_at_the_times_that_the_documents_promise() {
        let waits: Vec<u64> =
            (0..).map_while(|made| wait_after(made, Jitter::NONE)).map(|wait| wait.as_secs()).collect();
        let (minute, hour) = (60, 3_600);
        let promised = [5, 30, 2 * minute, 10 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 8 * hour, 12 * hour];
        assert_eq!(waits[0], 0);
        assert_eq!(waits[1..11], promised);
        assert_eq!(waits[11..], [24 * hour, 24 * hour]);
        assert_eq!(u32::try_from(waits.len()), Ok(ATTEMPTS_MOST));
        for made in [ATTEMPTS_MOST, ATTEMPTS_MOST + 1, u32::MAX] {
            assert_eq!(wait_after(made, Jitter::NONE), None, "{made}");
        }
    }

    #[test]
    fn jitter_changes_a_wait_by_a_tenth_at_most_and_reaches_both_ends() {
        let wait = |random| wait_after(1, Jitter::drawn(random)).unwrap().as_millis();
        let waits: Vec<u128> = (0..1_000).chain([u32::MAX - 1, u32::MAX]).map(wait).collect();
        assert_eq!(waits.iter().min(), Some(&4_500));
        assert_eq!(waits.iter().max(), Some(&5_500));
        assert_eq!(wait_after(1, Jitter::NONE), Some(Duration::from_secs(5)));
        assert_eq!(wait_after(0, Jitter::drawn(200)), Some(Duration::ZERO), "the first attempt never waits");
    }

    #[test]
    fn a_delivery_goes_on_until_it_is_delivered_or_exhausted() {
        let after = |made, outcome: &AttemptOutcome| DeliveryState::after(made, outcome, NOW, Jitter::NONE);
        let delivered = AttemptOutcome::of_answer(Duration::ZERO, 204, String::new());
        assert_eq!(after(1, &failed()), DeliveryState::Pending { due_at: NOW.plus(Duration::from_secs(5)) });
        assert_eq!(after(12, &failed()), DeliveryState::Pending { due_at: NOW.plus(Duration::from_secs(86_400)) });
        assert_eq!(after(13, &failed()), DeliveryState::Exhausted);
        for made in [1, 13, 20] {
            assert_eq!(after(made, &delivered), DeliveryState::Delivered, "{made}");
        }
    }

    #[test]
    fn any_2xx_delivers_and_no_other_status_does() {
        for (status, delivered) in [(200, true), (202, true), (299, true), (199, false), (300, false), (500, false)] {
            let outcome = AttemptOutcome::of_answer(Duration::ZERO, status, "ok".to_owned());
            assert_eq!(outcome.delivered(), delivered, "{status}");
            assert_eq!(outcome.status, Some(status));
        }
        let redirected = AttemptOutcome::of_answer(Duration::ZERO, 302, String::new()).failure.unwrap();
        assert_eq!(redirected.class, FailureClass::Status);
        assert_eq!(redirected.detail, "the receiver answered 302, and redirects are not followed");
        let broken_off = Failure::new(FailureClass::Closed, "");
        assert!(!AttemptOutcome::cut_short(Duration::ZERO, 200, String::new(), broken_off).delivered());
    }

    #[test]
    fn words_are_read_back_and_each_class_has_its_own_sentence() {
        for class in FailureClass::ALL {
            assert_eq!(FailureClass::parse(class.word()), Some(class));
            assert_eq!(FailureClass::ALL.iter().filter(|other| other.sentence() == class.sentence()).count(), 1);
        }
        assert_eq!(FailureClass::parse("Dns"), None);
        let states = [DeliveryState::Pending { due_at: NOW }, DeliveryState::Delivered, DeliveryState::Exhausted];
        for state in states {
            assert_eq!(DeliveryState::parse(state.word(), Some(NOW)), Some(state));
        }
        assert_eq!(DeliveryState::parse("pending", None), None);
        assert_eq!(DeliveryState::parse("sent", Some(NOW)), None);
    }

    #[test]
    fn what_is_kept_of_an_answer_is_short_clean_text() {
        assert_eq!(kept_answer(b"ok"), "ok");
        assert_eq!(kept_answer(b"a\0b\xff"), "a\u{fffd}b\u{fffd}");
        assert_eq!(kept_answer(&[b'a'; 5_000]).len(), 4_096);
        let across = [&[b'a'; 4_095], "é and more".as_bytes()].concat();
        assert_eq!(kept_answer(&across), "a".repeat(4_095));
        let whole = [&[b'a'; 4_094], "é".as_bytes()].concat();
        assert!(kept_answer(&whole).ends_with('é'));
        // Each of these bytes grows to three.
        assert_eq!(kept_answer(&[0xff; 4_096]), "\u{fffd}".repeat(1_365));
    }

    #[test]
    fn a_failures_detail_is_one_short_line() {
        let failure = Failure::new(FailureClass::Other, &"é\r\n".repeat(200));
        assert_eq!(failure.detail.chars().count(), DETAIL_CHARACTERS_MOST);
        assert!(!failure.detail.contains(char::is_control));
    }
}
