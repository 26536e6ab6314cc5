//! How many refused attempts to sign in were added to the audit log in this hour.

use std::sync::{Mutex, PoisonError};

use domain::time::{HOUR_MILLIS, Timestamp};

/// Lines about refused attempts that one process adds to the audit log in an hour. The log is never shortened, so
/// strangers must not be able to fill it.
const REFUSALS_AUDITED_PER_HOUR: u32 = 200;
/// The detail of the last of these lines.
const LAST_OF_THE_HOUR: &str = "last of this hour";

/// How many lines about refused attempts this process has added to the audit log in which hour.
#[derive(Default)]
pub(crate) struct AuditedRefusals(Mutex<(i64, u32)>);

impl AuditedRefusals {
    /// The detail of the next line; none when this hour has had enough of them.
    pub(crate) fn next_detail(&self, now: Timestamp) -> Option<&'static str> {
        let mut audited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hour = now.as_millis().div_euclid(HOUR_MILLIS);
        if audited.0 != hour {
            *audited = (hour, 0);
        }
        audited.1 = audited.1.saturating_add(1);
        match audited.1 {
            ..REFUSALS_AUDITED_PER_HOUR => Some(""),
            REFUSALS_AUDITED_PER_HOUR => Some(LAST_OF_THE_HOUR),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_attempts_add_a_bounded_number_of_lines_an_hour_and_the_last_says_so() {
        let (audited, hour) = (AuditedRefusals::default(), Timestamp::from_millis);
        for start in [0, HOUR_MILLIS] {
            let lines: Vec<&str> = (0..1_000).filter_map(|n| audited.next_detail(hour(start + n))).collect();
            let (last, others) = lines.split_last().unwrap();
            assert_eq!((lines.len(), *last), (200, LAST_OF_THE_HOUR));
            assert!(others.iter().all(|detail| detail.is_empty()));
        }
    }
}
