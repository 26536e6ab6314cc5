//! `/v1/api-keys`: keys revoke keys; making and listing them is for the dashboard.

use axum::{Json, extract::State};
use domain::id::KeyId;

use super::path::PathId;
use crate::{
    app::App,
    auth::{AnyCaller, DashboardCaller},
    document::{parameters, path, words},
    error::ApiError,
    refusal::{FORBIDDEN, KEYED, RESOURCE_NOT_FOUND, refusals},
    wire::api_key::RevokedKeyJson,
};

parameters!(KeyParameters: path::<words::ApiKeyId>("id"));
refusals!(RevokeRefusals: KEYED, &[RESOURCE_NOT_FOUND]);
refusals!(DashboardRefusals: KEYED, &[FORBIDDEN]);

/// Revoke an API key of the project, the caller's own included.
#[utoipa::path(
    delete, path = "/v1/api-keys/{id}", tag = "API keys", operation_id = "revokeApiKey",
    params(KeyParameters),
    responses((status = 200, description = "The revoked key", body = RevokedKeyJson), RevokeRefusals)
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
    get,
    path = "/v1/api-keys",
    tag = "API keys",
    operation_id = "listApiKeys",
    responses(DashboardRefusals)
)]
pub(crate) async fn list(DashboardCaller: DashboardCaller) {}

/// Create an API key; for dashboard sessions only.
#[utoipa::path(
    post,
    path = "/v1/api-keys",
    tag = "API keys",
    operation_id = "createApiKey",
    responses(DashboardRefusals)
)]
pub(crate) async fn create(DashboardCaller: DashboardCaller) {}
