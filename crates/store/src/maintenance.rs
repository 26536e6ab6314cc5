//! Maintenance: the jobs that keep lists, totals and searches fast as the tables grow.
//!
//! A read that had to go through many rows requests maintenance; a job does a small piece of it at a time. So no
//! request waits for maintenance, and a project whose lists nobody opens costs nothing. Each job has a file of its own.

mod balance_checkpoints;
mod closed_hours;
mod list_checkpoints;
mod search_index;

use std::{
    collections::HashSet,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use domain::{
    id::{PaymentId, ProjectId, first_id_at},
    time::{HOUR, Timestamp},
};

use crate::CommitError;

pub(crate) use balance_checkpoints::LONG_BALANCE;
pub(crate) use closed_hours::MANY_OPEN;
pub(crate) use list_checkpoints::{LONG_TAIL, PAYMENTS_APART};
pub(crate) use search_index::LONG_SEARCH;

/// Checkpoints and closed hours are never updated, so they must not cover a time for which payments may still be
/// committed: a request may take half a minute, and the clocks of two nodes may differ.
const STABLE_AFTER: Duration = HOUR;
/// The same for postings. One that is committed later all the same removes the checkpoints and closed hours that it makes untrue,
/// unless they are committed at the same moment.
const POSTED_AFTER: Duration = Duration::from_mins(10);

/// What reads have requested and no job has done yet.
#[derive(Default)]
pub(crate) struct MaintenanceRequests {
    list_checkpoints: Projects,
    balance_checkpoints: Projects,
    closed_hours: Projects,
    search_index: AtomicBool,
}

impl MaintenanceRequests {
    pub(crate) fn list_checkpoints(&self, project_id: ProjectId) {
        self.list_checkpoints.lock().insert(project_id);
    }

    pub(crate) fn balance_checkpoints(&self, project_id: ProjectId) {
        self.balance_checkpoints.lock().insert(project_id);
    }

    pub(crate) fn closed_hours(&self, project_id: ProjectId) {
        self.closed_hours.lock().insert(project_id);
    }

    pub(crate) fn search_index(&self) {
        self.search_index.store(true, Ordering::Relaxed);
    }
}

/// The projects for which a job is requested.
#[derive(Default)]
struct Projects(Mutex<HashSet<ProjectId>>);

impl Projects {
    fn any(&self) -> Option<ProjectId> {
        self.lock().iter().next().copied()
    }

    /// Removes a project unless the job has more to do for it. After an error, the next read requests the job again.
    fn done(&self, project_id: ProjectId, more: &Result<bool, CommitError>) {
        if !matches!(more, Ok(true)) {
            self.lock().remove(&project_id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<ProjectId>> {
        // Every insertion and removal is complete in itself, so a panic elsewhere leaves the set valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first id that a payment can have which may not be committed yet.
fn first_unstable_id(now: Timestamp) -> PaymentId {
    first_id_at(now.minus(STABLE_AFTER))
}
