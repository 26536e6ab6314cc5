//! `/v1/project`: the project's settings, for dashboard sessions only.

use crate::{
    auth::DashboardCaller,
    refusal::{FORBIDDEN, KEYED, refusals},
};

refusals!(ProjectRefusals: KEYED, &[FORBIDDEN]);

/// Get the project; for dashboard sessions only.
#[utoipa::path(get, path = "/v1/project", tag = "Project", operation_id = "getProject", responses(ProjectRefusals))]
pub(crate) async fn get(DashboardCaller: DashboardCaller) {}
