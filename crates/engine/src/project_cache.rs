//! Projects as they were last read. A reader brings the version that the database holds now, so that what is answered is
//! never older than that: the cache saves decoding, not looking.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use domain::{id::ProjectId, project::Project};

/// Projects remembered; beyond that all are forgotten, since the next request of each brings it back.
const PROJECTS_MOST: usize = 10_000;

#[derive(Default)]
pub(crate) struct ProjectCache {
    projects: Mutex<HashMap<ProjectId, Arc<Project>>>,
}

impl ProjectCache {
    pub(crate) fn get(&self, id: ProjectId, version: i64) -> Option<Arc<Project>> {
        let projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        projects.get(&id).filter(|project| project.version == version).cloned()
    }

    pub(crate) fn put(&self, project: &Arc<Project>) {
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if projects.len() >= PROJECTS_MOST {
            projects.clear();
        }
        projects.insert(project.id, Arc::clone(project));
    }
}
