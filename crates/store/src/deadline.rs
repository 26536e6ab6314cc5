//! When a plan must be committed at the latest. Its caller answers somebody who acts on the answer, so at that moment the plan
//! either is committed, or never will be, or the caller knows that it does not know.
//!
//! Caller and writer share one value and agree by it: the writer asks right before it commits, and the caller gives up only
//! what the writer has not begun to commit.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

pub(crate) struct Deadline {
    by: Instant,
    stage: Mutex<Stage>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing has been committed, and the caller may give up.
    Waiting,
    /// The database has been told to commit, and it is not known yet whether it did.
    Committing,
    /// The writer must not commit it any more.
    GivenUp,
}

impl Deadline {
    pub(crate) fn new(by: Instant) -> Deadline {
        Deadline { by, stage: Mutex::new(Stage::Waiting) }
    }

    pub(crate) fn by(&self) -> Instant {
        self.by
    }

    pub(crate) fn left(&self) -> Duration {
        self.by.saturating_duration_since(Instant::now())
    }

    /// Whether the writer may commit now. From then on the caller cannot give up.
    pub(crate) fn begin_commit(&self) -> bool {
        let mut stage = self.stage();
        *stage = match *stage {
            Stage::GivenUp => Stage::GivenUp,
            Stage::Waiting | Stage::Committing if self.left().is_zero() => Stage::GivenUp,
            Stage::Waiting | Stage::Committing => Stage::Committing,
        };
        *stage == Stage::Committing
    }

    /// The commit that was begun is known to have been undone.
    pub(crate) fn undo(&self) {
        let mut stage = self.stage();
        if *stage == Stage::Committing {
            *stage = Stage::Waiting;
        }
    }

    /// Whether the plan is not committed and never will be. False once the writer has begun to commit it.
    pub(crate) fn give_up(&self) -> bool {
        let mut stage = self.stage();
        if *stage == Stage::Waiting {
            *stage = Stage::GivenUp;
        }
        *stage == Stage::GivenUp
    }

    /// Whether it need not be tried: its caller has given up, or its time is over.
    pub(crate) fn is_over(&self) -> bool {
        *self.stage() == Stage::GivenUp || self.left().is_zero()
    }

    pub(crate) fn is_committing(&self) -> bool {
        *self.stage() == Stage::Committing
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_hours(1);

    #[test]
    fn either_the_writer_commits_or_the_caller_gives_up() {
        let first_writer = Deadline::new(Instant::now() + LONG);
        assert!(first_writer.begin_commit() && !first_writer.give_up());
        let first_caller = Deadline::new(Instant::now() + LONG);
        assert!(first_caller.give_up() && !first_caller.begin_commit() && first_caller.is_over());
    }

    #[test]
    fn what_was_undone_can_be_given_up_or_committed_again() {
        let deadline = Deadline::new(Instant::now() + LONG);
        assert!(deadline.begin_commit());
        deadline.undo();
        assert!(deadline.begin_commit());
        deadline.undo();
        assert!(deadline.give_up() && !deadline.begin_commit());
    }

    #[test]
    fn nothing_is_committed_after_its_time() {
        let deadline = Deadline::new(Instant::now());
        assert!(deadline.is_over() && !deadline.begin_commit() && deadline.give_up());
    }
}
