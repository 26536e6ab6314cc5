//! A cache of projects. Callers pass the version that they have just read from the database, so the cache never returns
//! an outdated project: it saves decoding the row, not the read of the version.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use domain::{id::ProjectId, project::Project};

/// Projects in the cache. When there are more, the cache is cleared; the next request of each project adds it again.
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
