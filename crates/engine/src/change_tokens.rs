//! How projects' desks stand, for all open pages that follow them: each project is looked at once a second, however many look.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use domain::id::ProjectId;
use tokio::sync::Mutex as Turn;

use crate::{Engine, Error};

/// What was read so long ago is read anew.
const FRESH: Duration = Duration::from_millis(900);
/// Projects remembered; beyond that all are forgotten, and come back with whoever follows them.
const PROJECTS_MOST: usize = 10_000;

/// What was last read of a project, and when.
type Last = Option<(Instant, String)>;

#[derive(Default)]
pub(crate) struct Pulses(Mutex<HashMap<ProjectId, Arc<Turn<Last>>>>);

impl Pulses {
    fn of(&self, id: ProjectId) -> Arc<Turn<Last>> {
        let mut projects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if projects.len() >= PROJECTS_MOST {
            projects.clear();
        }
        Arc::clone(projects.entry(id).or_default())
    }
}

impl Engine {
    /// Something that changes within a second of what the project's pages show. Of many who ask at once one reads.
    pub(crate) async fn pulse(&self, id: ProjectId) -> Result<String, Error> {
        let turn = self.pulses.of(id);
        let mut last = turn.lock().await;
        if let Some((_, pulse)) = last.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(pulse.clone());
        }
        let pulse = self.store.pulse(id).await?;
        *last = Some((Instant::now(), pulse.clone()));
        Ok(pulse)
    }
}
