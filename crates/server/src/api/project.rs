//! `/v1/project`: the project's settings, for dashboard sessions only.

use crate::{auth::DashboardCaller, error::ErrorJson};

/// Get the project; for dashboard sessions only.
#[utoipa::path(
    get, path = "/v1/project", tag = "Project", operation_id = "getProject",
    responses(
        (status = 401, description = "UNAUTHORIZED", body = ErrorJson),
        (status = 403, description = "FORBIDDEN or CORS_ORIGIN_FORBIDDEN", body = ErrorJson),
        (status = 429, description = "RATE_LIMITED", body = ErrorJson),
        (status = 503, description = "AUTH_UNAVAILABLE", body = ErrorJson),
    )
)]
pub(crate) async fn get(DashboardCaller: DashboardCaller) {}
