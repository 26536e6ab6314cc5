//! `/healthz` and `/readyz`: what load balancers and supervisors ask. Neither takes a key.

use axum::extract::State;
use web::App;

use crate::{
    error::ApiError,
    error_code::{ANYWHERE, error_codes},
};

error_codes!(pub(crate) ServiceErrors: ANYWHERE);

/// Tell that the process runs.
#[utoipa::path(
    get, path = "/healthz", tag = "Service", operation_id = "getHealth",
    responses((status = 200, description = "It runs", body = String, content_type = "text/plain"), ServiceErrors)
)]
pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

/// Tell whether the process can serve: it is not stopping and its database answers.
#[utoipa::path(
    get, path = "/readyz", tag = "Service", operation_id = "getReadiness",
    responses((status = 200, description = "It can serve", body = String, content_type = "text/plain"), ServiceErrors)
)]
pub(crate) async fn ready(State(app): State<App>) -> Result<&'static str, ApiError> {
    if app.is_draining() || !app.engine.is_ready().await {
        return Err(ApiError::NotReady);
    }
    Ok("ready\n")
}
