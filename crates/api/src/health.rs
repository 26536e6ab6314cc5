//! `/healthz` and `/readyz`: health checks for load balancers and supervisors. Neither needs a key.

use axum::extract::State;
use web::App;

use crate::{
    error::ApiError,
    error_code::{ANYWHERE, error_codes},
};

error_codes!(pub(crate) HealthErrors: ANYWHERE);

/// Check that the process runs.
#[utoipa::path(
    get, path = "/healthz", tag = "Service", operation_id = "getHealth",
    responses((status = 200, description = "The process runs", body = String, content_type = "text/plain"), HealthErrors)
)]
pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

/// Check that the process can serve: it is not stopping, and its database answers.
#[utoipa::path(
    get, path = "/readyz", tag = "Service", operation_id = "getReadiness",
    responses((status = 200, description = "The process can serve", body = String, content_type = "text/plain"), HealthErrors)
)]
pub(crate) async fn ready(State(app): State<App>) -> Result<&'static str, ApiError> {
    if app.is_draining() || !app.engine.is_ready().await {
        return Err(ApiError::NotReady);
    }
    Ok("ready\n")
}
