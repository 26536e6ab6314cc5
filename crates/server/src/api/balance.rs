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
    document::{parameters, query, words},
    error::ApiError,
    refusal::{KEYED, USABLE, VALIDATION_ERROR, refusals},
    wire::query::Query,
};

parameters!(BalanceParameters: query::<words::GivenDateTime>("at", "The instant to look at; now when omitted."));
refusals!(BalanceRefusals: KEYED, USABLE, &[VALIDATION_ERROR]);

/// What the project has.
#[derive(Serialize, ToSchema)]
#[schema(title = "Balance", as = Balance)]
pub(crate) struct BalanceJson {
    #[schema(value_type = words::ProjectId)]
    project_id: String,
    #[schema(value_type = words::Environment)]
    environment: &'static str,
    #[schema(value_type = words::Currency)]
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
    #[schema(value_type = words::DateTime)]
    as_of: String,
}

/// Get the balance, now or as it was.
#[utoipa::path(
    get, path = "/v1/balance", tag = "Balance", operation_id = "getBalance",
    params(BalanceParameters),
    responses((status = 200, description = "The balance", body = BalanceJson), BalanceRefusals)
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
