//! How an account does: the log of calls in figures, our token, what is still to be asked, and whether calls are suspended.

use std::{collections::BTreeMap, time::Duration};

use domain::time::Timestamp;
use gateway::snap::{Breaker, CallHealth};
use store::{BankCall, JobsWaiting};

use super::go_live::BankAccountFile;
use crate::{Engine, Error};

/// The service that gives tokens.
const TOKEN: i64 = 73;
/// Due jobs are counted up to this number.
const JOBS_COUNTED: i64 = 10_000;
/// A job that has been due for so long is a matter for an operator.
const JOB_LATE_AFTER: Duration = Duration::from_mins(10);

/// How the calls of an account and the work about it stand.
#[derive(Clone, Debug)]
pub struct BankHealth {
    /// The calls of the log, ours first, by service and code.
    pub groups: Vec<CallGroup>,
    /// When the bank last gave us a token, as far as this node or the log knows.
    pub token_at: Option<Timestamp>,
    pub jobs: JobsWaiting,
    /// Whether so many calls have failed that none is made for a while.
    pub is_suspended: bool,
    /// The latest calls of ours, if they have failed.
    pub failing: Option<FailingCalls>,
}

/// Calls of one service that ended in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallGroup {
    /// Whether we made them.
    pub outbound: bool,
    /// The service's number in SNAP.
    pub service: i64,
    pub code: String,
    pub count: usize,
    pub median_ms: i64,
    pub worst_ms: i64,
    pub last_at: Timestamp,
}

/// Calls that have failed one after another, up to the latest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingCalls {
    pub count: usize,
    pub since: Timestamp,
    /// How the latest has ended.
    pub code: String,
}

impl BankHealth {
    /// Whether a job has been due for too long.
    pub fn is_late(&self, now: Timestamp) -> bool {
        self.jobs.oldest_due_at.is_some_and(|due| due.plus(JOB_LATE_AFTER) < now)
    }
}

impl Engine {
    pub async fn bank_health(&self, file: &BankAccountFile) -> Result<BankHealth, Error> {
        let (id, now) = (file.account.id, self.now());
        let is_token = |call: &&BankCall| call.outbound && call.service == TOKEN && call.code.starts_with("200");
        let logged = file.calls.iter().find(is_token).map(|call| call.at);
        Ok(BankHealth {
            groups: groups(&file.calls),
            token_at: logged.max(self.outbound.token_age(id, now).map(|age| now.minus(age))),
            jobs: self.store.jobs_waiting(id, now, JOBS_COUNTED).await?,
            is_suspended: self.outbound.is_down(id, now) || breaker_after(&file.calls).is_open(now),
            failing: failing(&file.calls),
        })
    }
}

fn groups(calls: &[BankCall]) -> Vec<CallGroup> {
    let mut by_end: BTreeMap<(bool, i64, &str), Vec<&BankCall>> = BTreeMap::new();
    for call in calls {
        by_end.entry((!call.outbound, call.service, &call.code)).or_default().push(call);
    }
    let group = |((is_theirs, service, code), calls): ((bool, i64, &str), Vec<&BankCall>)| {
        let mut took: Vec<i64> = calls.iter().map(|call| call.latency_ms).collect();
        took.sort_unstable();
        CallGroup {
            outbound: !is_theirs,
            service,
            code: code.to_owned(),
            count: took.len(),
            median_ms: took.get(took.len() / 2).copied().unwrap_or_default(),
            worst_ms: took.last().copied().unwrap_or_default(),
            last_at: calls.iter().map(|call| call.at).max().unwrap_or(Timestamp::from_millis(0)),
        }
    };
    by_end.into_iter().map(group).collect()
}

/// The breaker of a node that would have made all calls of the log.
fn breaker_after(calls: &[BankCall]) -> Breaker {
    let mut breaker = Breaker::default();
    for call in calls.iter().rev().filter(|call| call.outbound) {
        breaker.admit(call.at);
        breaker.note(call.at, CallHealth::of_code(&call.code));
    }
    breaker
}

fn failing(calls: &[BankCall]) -> Option<FailingCalls> {
    let ours = calls.iter().filter(|call| call.outbound);
    let failed: Vec<&BankCall> = ours.take_while(|call| CallHealth::of_code(&call.code) == CallHealth::Fails).collect();
    let (latest, first) = (failed.first()?, failed.last()?);
    Some(FailingCalls { count: failed.len(), since: first.at, code: latest.code.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(at: i64, outbound: bool, service: i64, code: &str, latency_ms: i64) -> BankCall {
        let at = Timestamp::from_millis(at * 1_000);
        BankCall { id: at.to_string(), at, service, code: code.to_owned(), latency_ms, outbound, proved: true }
    }

    #[test]
    fn calls_are_counted_by_direction_service_and_code_with_median_and_worst() {
        let calls = [
            call(5, true, 47, "2004700", 9),
            call(4, true, 47, "2004700", 5),
            call(3, true, 47, "2004700", 100),
            call(2, false, 52, "2005200", 3),
            call(1, true, 47, "timeout", 8_000),
        ];
        let found: Vec<_> = groups(&calls)
            .into_iter()
            .map(|group| (group.outbound, group.service, group.code, group.count, group.median_ms, group.worst_ms))
            .collect();
        let expected = [
            (true, 47, "2004700".to_owned(), 3, 9, 100),
            (true, 47, "timeout".to_owned(), 1, 8_000, 8_000),
            (false, 52, "2005200".to_owned(), 1, 3, 3),
        ];
        assert_eq!(found, expected);
        assert_eq!(groups(&[]), []);
    }

    #[test]
    fn five_failures_of_the_log_suspend_calls_and_a_success_ends_the_row_of_failures() {
        let failures: Vec<BankCall> = (0..5).rev().map(|at| call(at, true, 47, "5004700", 1)).collect();
        assert!(breaker_after(&failures).is_open(Timestamp::from_millis(5_000)));
        assert!(!breaker_after(&failures[1..]).is_open(Timestamp::from_millis(5_000)));
        let found = failing(&failures).unwrap();
        assert_eq!((found.count, found.since, found.code.as_str()), (5, Timestamp::from_millis(0), "5004700"));
        let mended: Vec<BankCall> = [call(9, true, 51, "4045101", 1)].into_iter().chain(failures).collect();
        assert_eq!(failing(&mended), None, "a refusal is an answer");
        assert_eq!(failing(&[call(1, false, 24, "5002400", 1)]), None, "the bank's own calls");
    }
}
