//! How an account does, as `lunas bank show` shows it: calls in figures, our token, what is due, and whether calls are suspended.

use engine::{BankHealth, CallGroup};
use serde::Serialize;

use crate::{
    output::{fields, table},
    project::yes_or_no,
};

#[derive(Serialize)]
pub(super) struct HealthJson {
    /// When the bank last gave us a token, as far as the log knows.
    token_at: Option<String>,
    jobs_due: i64,
    /// Since when the longest due job is due.
    oldest_job_due_at: Option<String>,
    /// Whether so many of our calls have failed that none is made for a while.
    calls_suspended: bool,
    /// How many of our latest calls have failed, one after another.
    failing_calls: usize,
    groups: Vec<GroupJson>,
}

/// Calls of one service with the same answer.
#[derive(Serialize)]
struct GroupJson {
    outbound: bool,
    service: i64,
    code: String,
    count: usize,
    median_ms: i64,
    longest_ms: i64,
    last_at: String,
}

impl HealthJson {
    pub(super) fn of(health: &BankHealth) -> HealthJson {
        HealthJson {
            token_at: health.token_at.map(|at| at.to_string()),
            jobs_due: health.jobs.count,
            oldest_job_due_at: health.jobs.oldest_due_at.map(|at| at.to_string()),
            calls_suspended: health.is_suspended,
            failing_calls: health.failing.as_ref().map_or(0, |failing| failing.count),
            groups: health.groups.iter().map(GroupJson::of).collect(),
        }
    }

    pub(super) fn text(&self) -> String {
        let facts = fields(&[
            ("last token", self.token_at.clone().unwrap_or_else(|| "none is known".to_owned())),
            ("jobs due", self.jobs_due.to_string()),
            ("oldest job", self.oldest_job_due_at.clone().unwrap_or_else(|| "none".to_owned())),
            ("calls suspended", yes_or_no(self.calls_suspended)),
            ("failing calls", self.failing_calls.to_string()),
        ]);
        let row = |group: &GroupJson| {
            [
                group.service.to_string(),
                caller(group.outbound).to_owned(),
                group.code.clone(),
                group.count.to_string(),
                format!("{} ms", group.median_ms),
                format!("{} ms", group.longest_ms),
            ]
        };
        let rows: Vec<_> = self.groups.iter().map(row).collect();
        format!("{facts}\n\n{}", table(["SERVICE", "BY", "ANSWER", "CALLS", "MEDIAN", "LONGEST"], &rows))
    }
}

impl GroupJson {
    fn of(group: &CallGroup) -> GroupJson {
        GroupJson {
            outbound: group.outbound,
            service: group.service,
            code: group.code.clone(),
            count: group.count,
            median_ms: group.median_ms,
            longest_ms: group.worst_ms,
            last_at: group.last_at.to_string(),
        }
    }
}

/// Who has made a call.
pub(super) fn caller(outbound: bool) -> &'static str {
    if outbound { "us" } else { "bank" }
}
