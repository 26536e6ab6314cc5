//! What `lunas doctor` says about one point: its name, a verdict, and one line about what was found. It judges nothing itself.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Ok,
    Warning,
    Failure,
}

/// One point of the examination.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Point {
    pub(super) point: &'static str,
    pub(super) verdict: Verdict,
    pub(super) finding: String,
}

impl Point {
    pub(super) fn ok(point: &'static str, finding: impl Into<String>) -> Point {
        Point { point, verdict: Verdict::Ok, finding: finding.into() }
    }

    pub(super) fn warning(point: &'static str, finding: impl Into<String>) -> Point {
        Point { point, verdict: Verdict::Warning, finding: finding.into() }
    }

    pub(super) fn failure(point: &'static str, finding: impl Into<String>) -> Point {
        Point { point, verdict: Verdict::Failure, finding: finding.into() }
    }
}
