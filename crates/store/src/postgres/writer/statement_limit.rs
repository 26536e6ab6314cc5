//! How long the server may take for what must be committed by some time.

use std::time::Duration;

use crate::deadline::Deadline;

pub(super) const COMMIT_WITHIN: Duration = Duration::from_secs(10);
/// A plan that has less time left than this is not tried any more.
pub(super) const COMMIT_NEEDS: Duration = Duration::from_millis(100);
/// The part of the time that is left for a plan with a deadline in which its statements must be done. After that the server
/// cancels them, and it is known before the deadline that nothing was committed.
const STATEMENT_PART: f64 = 0.75;

/// How long the server may work on a statement of a plan with this deadline. The rest is for the commit and its answer.
pub(super) fn statement_limit(deadline: &Deadline) -> Duration {
    deadline.left().min(COMMIT_WITHIN).mul_f64(STATEMENT_PART)
}
