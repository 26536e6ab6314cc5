//! `/v1/balance`: what the project has.

use axum::{
    Json,
    extract::{RawQuery, State},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    auth::Caller,
    error::{ApiError, ErrorJson},
    wire::query::Query,
};

#[derive(Serialize, ToSchema)]
#[schema(title = "Balance", as = Balance)]
pub(crate) struct BalanceJson {
    project_id: String,
    #[schema(example = "sandbox")]
    environment: &'static str,
    #[schema(example = "IDR")]
    currency: &'static str,
    /// Settled.
    available: i64,
    /// Paid, not settled yet.
    pending: i64,
    /// Arrived, but fits no payment.
    unapplied: i64,
    #[schema(format = DateTime)]
    as_of: String,
}

/// Get the balance, now or as it was.
#[utoipa::path(
    get, path = "/v1/balance", tag = "Balance", operation_id = "getBalance",
    params(("at" = Option<String>, Query, description = "The instant to look at, RFC 3339")),
    responses(
        (status = 200, description = "The balance", body = BalanceJson),
        (status = 400, description = "VALIDATION_ERROR", body = ErrorJson),
        (status = 401, description = "UNAUTHORIZED", body = ErrorJson),
        (status = 403, description = "PROJECT_UNAVAILABLE or CORS_ORIGIN_FORBIDDEN", body = ErrorJson),
        (status = 429, description = "RATE_LIMITED", body = ErrorJson),
        (status = 503, description = "SERVICE_UNAVAILABLE or AUTH_UNAVAILABLE", body = ErrorJson),
    )
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Result<Json<BalanceJson>, ApiError> {
    let query = Query::parse(query.as_deref())?;
    let balance = app.engine.balance(caller.project.id, query.instant("at")?).await?;
    Ok(Json(BalanceJson {
        project_id: caller.project.id.to_string(),
        environment: caller.project.environment.word(),
        currency: "IDR",
        available: balance.available.get(),
        pending: balance.pending.get(),
        unapplied: balance.unapplied.get(),
        as_of: balance.as_of.to_string(),
    }))
}
