//! The tabs above the operator's pages, and the paths that these pages share.

use domain::id::ProjectId;

/// The path of the first tab; the paths of all operators' pages begin with it.
pub(crate) const PATH: &str = "/dashboard/operator";

/// The tab that a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Projects,
    Users,
    Log,
}

/// The path of a project's page.
pub(crate) fn project_path(id: ProjectId) -> String {
    format!("{PATH}/projects/{id}")
}
