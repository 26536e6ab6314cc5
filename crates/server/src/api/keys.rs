//! `/v1/api-keys`: keys revoke keys; making and listing them is for the dashboard.

use axum::{Json, extract::State};
use domain::id::KeyId;

use super::path::PathId;
use crate::{
    app::App,
    auth::{AnyCaller, DashboardCaller},
    error::{ApiError, ErrorJson},
    wire::api_key::RevokedKeyJson,
};

/// Revoke an API key of the project, the caller's own included.
#[utoipa::path(
    delete, path = "/v1/api-keys/{id}", tag = "API keys", operation_id = "revokeApiKey",
    params(("id" = String, Path)),
    responses(
        (status = 200, description = "The revoked key", body = RevokedKeyJson),
        (status = 401, description = "UNAUTHORIZED", body = ErrorJson),
        (status = 403, description = "CORS_ORIGIN_FORBIDDEN", body = ErrorJson),
        (status = 404, description = "RESOURCE_NOT_FOUND", body = ErrorJson),
        (status = 429, description = "RATE_LIMITED", body = ErrorJson),
        (status = 503, description = "SERVICE_UNAVAILABLE or AUTH_UNAVAILABLE", body = ErrorJson),
    )
)]
pub(crate) async fn revoke(
    State(app): State<App>,
    caller: AnyCaller,
    PathId(id): PathId<KeyId>,
) -> Result<Json<RevokedKeyJson>, ApiError> {
    let key = app.engine.revoke_key(id, Some(caller.project.id)).await?;
    Ok(Json(key.into()))
}

/// List API keys; for dashboard sessions only.
#[utoipa::path(
    get, path = "/v1/api-keys", tag = "API keys", operation_id = "listApiKeys",
    responses(
        (status = 401, description = "UNAUTHORIZED", body = ErrorJson),
        (status = 403, description = "FORBIDDEN or CORS_ORIGIN_FORBIDDEN", body = ErrorJson),
        (status = 429, description = "RATE_LIMITED", body = ErrorJson),
        (status = 503, description = "AUTH_UNAVAILABLE", body = ErrorJson),
    )
)]
pub(crate) async fn list(DashboardCaller: DashboardCaller) {}

/// Create an API key; for dashboard sessions only.
#[utoipa::path(
    post, path = "/v1/api-keys", tag = "API keys", operation_id = "createApiKey",
    responses(
        (status = 401, description = "UNAUTHORIZED", body = ErrorJson),
        (status = 403, description = "FORBIDDEN or CORS_ORIGIN_FORBIDDEN", body = ErrorJson),
        (status = 429, description = "RATE_LIMITED", body = ErrorJson),
        (status = 503, description = "AUTH_UNAVAILABLE", body = ErrorJson),
    )
)]
pub(crate) async fn create(DashboardCaller: DashboardCaller) {}
