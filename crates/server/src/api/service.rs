//! What machines that run the service ask: is it alive, is it ready, what does it offer. None of it takes a key.

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};

use crate::{
    app::App,
    document::{openapi_json, words},
    error::ApiError,
    refusal::{ANYWHERE, refusals},
};

refusals!(ServiceRefusals: ANYWHERE);

/// Tell that the process runs.
#[utoipa::path(
    get, path = "/healthz", tag = "Service", operation_id = "getHealth",
    responses((status = 200, description = "It runs", body = String, content_type = "text/plain"), ServiceRefusals)
)]
pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

/// Tell whether the process can serve: it is not stopping and its database answers.
#[utoipa::path(
    get, path = "/readyz", tag = "Service", operation_id = "getReadiness",
    responses((status = 200, description = "It can serve", body = String, content_type = "text/plain"), ServiceRefusals)
)]
pub(crate) async fn ready(State(app): State<App>) -> Result<&'static str, ApiError> {
    if app.is_draining() || !app.engine.is_ready().await {
        return Err(ApiError::NotReady);
    }
    Ok("ready\n")
}

/// Get this document.
#[utoipa::path(
    get, path = "/openapi.json", tag = "Service", operation_id = "getOpenApi",
    responses((status = 200, description = "The document", body = words::OpenApiDocument), ServiceRefusals)
)]
pub(crate) async fn describe() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], openapi_json()).into_response()
}
