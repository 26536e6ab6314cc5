//! Keeps us from calling a bank that does not work: after several failures within a short time no call is admitted for a
//! while, and then a single one, which shows whether the bank works again. Pure, by the caller's clock.

use std::{collections::VecDeque, time::Duration};

use domain::time::Timestamp;

use super::call_error::CallError;

/// So many failures...
const FAILURES_MOST: usize = 5;
/// ... within this time open the breaker...
const WITHIN: Duration = Duration::from_secs(30);
/// ... for this long. A probe that is never noted counts as failed after the same time.
const OPEN_FOR: Duration = Duration::from_secs(30);

/// A bank's response code: an HTTP status, a service and a case.
const CODE_CHARACTERS: usize = 7;

/// What a call says about the bank's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallHealth {
    /// The bank answered, if only to refuse.
    Works,
    Fails,
}

impl CallHealth {
    pub fn of<T>(result: &Result<T, CallError>) -> CallHealth {
        match result {
            Err(error) if error.is_fault() => CallHealth::Fails,
            _ => CallHealth::Works,
        }
    }

    /// The same by what [`CallError::code`] is called in the log.
    pub fn of_code(code: &str) -> CallHealth {
        let is_token_over = code.len() == CODE_CHARACTERS && code.starts_with("401") && code.ends_with("01");
        let status = code.strip_prefix("http_").unwrap_or(code);
        let is_fault = matches!(code, "not_reached" | "timeout" | "cut_off" | "unreadable")
            || status.starts_with('5')
            || (status.starts_with("401") && !is_token_over);
        if is_fault { CallHealth::Fails } else { CallHealth::Works }
    }
}

/// The breaker of one account.
#[derive(Debug, Default)]
pub struct Breaker {
    /// The latest failures, oldest first.
    failures: VecDeque<Timestamp>,
    /// When it opened, or admitted its latest probe.
    opened_at: Option<Timestamp>,
    is_probing: bool,
}

impl Breaker {
    /// Whether a call may be made now. One that was admitted must be noted.
    pub fn admit(&mut self, now: Timestamp) -> bool {
        if self.is_open(now) {
            return false;
        }
        if self.opened_at.is_some() {
            (self.opened_at, self.is_probing) = (Some(now), true);
        }
        true
    }

    /// Whether no call would be admitted now.
    pub fn is_open(&self, now: Timestamp) -> bool {
        // A clock that was set back must not keep the breaker open until it has caught up.
        self.opened_at.is_some_and(|opened| opened <= now && opened.until(now) < OPEN_FOR)
    }

    pub fn note(&mut self, now: Timestamp, health: CallHealth) {
        match (health, self.opened_at.is_some()) {
            (CallHealth::Works, false) => {}
            // What was sent before the breaker opened says less than the failures after it.
            (CallHealth::Works, true) if !self.is_probing => {}
            (CallHealth::Works, true) => *self = Breaker::default(),
            (CallHealth::Fails, true) => {
                // Calls of before the breaker opened may fail after it: only a probe keeps it open for longer.
                if self.is_probing {
                    (self.opened_at, self.is_probing) = (Some(now), false);
                }
            }
            (CallHealth::Fails, false) => self.note_failure(now),
        }
    }

    fn note_failure(&mut self, now: Timestamp) {
        self.failures.push_back(now);
        while self.failures.front().is_some_and(|first| *first > now || first.until(now) >= WITHIN) {
            self.failures.pop_front();
        }
        if self.failures.len() >= FAILURES_MOST {
            self.failures.clear();
            self.opened_at = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::call_error::Cause, *};
    use crate::snap::call_error::Reason;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(0).plus(Duration::from_secs(seconds))
    }

    fn failing(seconds: &[u64]) -> Breaker {
        let mut breaker = Breaker::default();
        for second in seconds {
            assert!(breaker.admit(at(*second)));
            breaker.note(at(*second), CallHealth::Fails);
        }
        breaker
    }

    #[test]
    fn five_failures_within_thirty_seconds_open_it_for_thirty_seconds() {
        let mut breaker = failing(&[0, 1, 2, 29]);
        assert!(!breaker.is_open(at(29)));
        breaker.note(at(29), CallHealth::Works);
        breaker.note(at(29), CallHealth::Fails);
        for second in [29, 30, 58] {
            assert!(breaker.is_open(at(second)) && !breaker.admit(at(second)), "{second}");
        }
        assert!(!breaker.is_open(at(59)));
    }

    #[test]
    fn failures_that_lie_further_apart_do_not_open_it() {
        let mut breaker = failing(&[0, 8, 16, 24, 30, 38, 46, 54, 60]);
        assert!(breaker.admit(at(60)));
    }

    #[test]
    fn then_one_probe_decides() {
        let mut breaker = failing(&[0, 0, 0, 0, 0]);
        assert!(breaker.admit(at(30)), "the probe");
        assert!(!breaker.admit(at(30)) && breaker.is_open(at(31)), "one at a time");
        breaker.note(at(38), CallHealth::Fails);
        assert!(!breaker.admit(at(67)));
        assert!(breaker.admit(at(68)), "the next probe");
        breaker.note(at(69), CallHealth::Works);
        assert!(breaker.admit(at(69)) && breaker.admit(at(69)));
    }

    #[test]
    fn a_probe_that_nobody_noted_blocks_the_next_for_thirty_seconds_only() {
        let mut breaker = failing(&[0, 0, 0, 0, 0]);
        assert!(breaker.admit(at(30)));
        assert!(!breaker.admit(at(59)));
        assert!(breaker.admit(at(60)));
    }

    #[test]
    fn answers_to_calls_of_before_it_opened_change_nothing() {
        let mut breaker = failing(&[0, 0, 0, 0, 0]);
        breaker.note(at(5), CallHealth::Works);
        breaker.note(at(6), CallHealth::Fails);
        assert!(breaker.is_open(at(29)) && !breaker.is_open(at(30)));
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_keep_it_open() {
        let mut breaker = failing(&[1_000; 5]);
        assert!(breaker.is_open(at(1_000)));
        assert!(breaker.admit(at(10)));
    }

    #[test]
    fn refusals_speak_for_the_bank_and_faults_against_it() {
        let of = |error| CallHealth::of::<()>(&Err(error));
        let reason = |cause| Reason::new(cause, "x");
        for cause in [Cause::NotReached, Cause::TooLate, Cause::CutOff, Cause::Status(500), Cause::Status(504)] {
            assert_eq!(of(CallError::Unknown(reason(cause))), CallHealth::Fails, "{cause:?}");
        }
        assert_eq!(of(CallError::Misconfigured(reason(Cause::Status(401)))), CallHealth::Fails);
        for cause in [Cause::Status(202), Cause::Status(409), Cause::Status(429), Cause::Status(403), Cause::Setting] {
            assert_eq!(of(CallError::Unavailable(reason(cause))), CallHealth::Works, "{cause:?}");
        }
        assert_eq!(of(CallError::refused("4044713", "Invalid Amount")), CallHealth::Works);
        assert_eq!(CallHealth::of(&Ok(())), CallHealth::Works);
    }

    #[test]
    fn the_code_of_a_call_in_the_log_says_the_same_about_the_banks_health() {
        let reason = |cause, code: &str| Reason::new(cause, "x").with_code(code);
        for error in [
            CallError::Unavailable(reason(Cause::NotReached, "")),
            CallError::Unknown(reason(Cause::TooLate, "")),
            CallError::Unknown(reason(Cause::CutOff, "")),
            CallError::Unknown(reason(Cause::Unreadable, "")),
            CallError::Unknown(reason(Cause::Status(500), "5004700")),
            CallError::Unknown(reason(Cause::Status(503), "")),
            CallError::Unknown(reason(Cause::Status(202), "2024700")),
            CallError::Unavailable(reason(Cause::Status(429), "4294700")),
            CallError::Misconfigured(reason(Cause::Status(401), "4014700")),
            CallError::Misconfigured(reason(Cause::Status(401), "")),
            CallError::TokenRefused(reason(Cause::Status(401), "4014701")),
            CallError::Misconfigured(reason(Cause::Status(403), "4034700")),
            CallError::setting("x"),
            CallError::refused("bad_qr", "x"),
            CallError::refused("4044713", "x"),
        ] {
            assert_eq!(CallHealth::of_code(error.code()), CallHealth::of(&Err::<(), _>(error.clone())), "{error:?}");
        }
        assert_eq!(CallHealth::of_code("2004700"), CallHealth::Works);
    }
}
