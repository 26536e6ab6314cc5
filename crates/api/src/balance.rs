//! `/v1/balance`: what the project has.

use axum::{
    Json,
    extract::{RawQuery, State},
};
use serde::Serialize;
use utoipa::ToSchema;
use web::{App, query::Query};
use wire::schemas;

use crate::{
    auth::Caller,
    document::{parameters, query},
    error::ApiError,
    error_code::{KEYED, USABLE, VALIDATION_ERROR, error_codes},
};

parameters!(BalanceParameters: query::<schemas::GivenDateTime>("at", "The instant to look at; now when omitted."));
error_codes!(BalanceErrors: KEYED, USABLE, &[VALIDATION_ERROR]);

/// What the project has.
#[derive(Serialize, ToSchema)]
#[schema(title = "Balance", as = Balance)]
pub(crate) struct BalanceJson {
    #[schema(value_type = schemas::ProjectId)]
    project_id: String,
    #[schema(value_type = schemas::Environment)]
    environment: &'static str,
    #[schema(value_type = schemas::Currency)]
    currency: &'static str,
    /// Settled, in whole rupiah.
    #[schema(minimum = 0, examples(1_250_000))]
    available: i64,
    /// Paid, not settled yet.
    #[schema(minimum = 0, examples(14_895))]
    pending: i64,
    /// Arrived, but fits no payment.
    #[schema(minimum = 0, examples(0))]
    unapplied: i64,
    /// The instant that this is about.
    #[schema(value_type = schemas::DateTime)]
    as_of: String,
}

/// Get the balance, now or as it was.
#[utoipa::path(
    get, path = "/v1/balance", tag = "Balance", operation_id = "getBalance",
    params(BalanceParameters),
    responses((status = 200, description = "The balance", body = BalanceJson), BalanceErrors)
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
