//! Comparisons that were cut off, by a failure or by the time that one may take: the next one of the same day goes on from
//! there. They are kept in memory: after a restart, and on another node, the day is begun anew.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use domain::{id::BankAccountId, time::Timestamp};

use crate::banks::reconciliation::comparison::ComparedLine;

/// How long after its beginning a comparison may be gone on with.
const KEPT: Duration = Duration::from_hours(24);
/// Comparisons that are kept; further ones are begun anew.
const KEPT_MOST: usize = 32;

/// What a comparison has found so far.
pub(in crate::banks) struct Findings {
    pub(in crate::banks) began_at: Timestamp,
    pub(in crate::banks) lines: Vec<ComparedLine>,
    /// The money that has been judged.
    pub(in crate::banks) seen: HashSet<String>,
    /// The last code that was asked about, in the order in which they are.
    pub(in crate::banks) asked_upto: Option<(Timestamp, String)>,
}

impl Findings {
    pub(in crate::banks) fn nothing(began_at: Timestamp) -> Findings {
        Findings { began_at, lines: Vec::new(), seen: HashSet::new(), asked_upto: None }
    }
}

/// What was found of each day whose comparison was cut off.
#[derive(Default)]
pub(crate) struct Unfinished(Mutex<HashMap<(BankAccountId, i64), Findings>>);

impl Unfinished {
    /// What was found of a day; none if it was not begun, or too long ago.
    pub(in crate::banks) fn take(&self, id: BankAccountId, day: i64, now: Timestamp) -> Option<Findings> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, found| now < found.began_at.plus(KEPT));
        kept.remove(&(id, day))
    }

    pub(in crate::banks) fn keep(&self, id: BankAccountId, day: i64, found: Findings) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT_MOST {
            kept.insert((id, day), found);
        }
    }
}
