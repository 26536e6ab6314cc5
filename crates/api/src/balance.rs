//! `/v1/balance`: the project's money, now or at an earlier time. It only reads.

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
    error::ApiError,
    error_code::{FORBIDDEN, KEYED, USABLE, VALIDATION_ERROR, error_codes},
    openapi::{parameters, query},
};

parameters!(BalanceParameters: query::<schemas::PastDateTime>("at", "The balance at this time; now when omitted."));
error_codes!(BalanceErrors: KEYED, USABLE, &[FORBIDDEN, VALIDATION_ERROR]);

/// The project's money.
#[derive(Serialize, ToSchema)]
#[schema(title = "Balance", as = Balance)]
pub(crate) struct BalanceJson {
    #[schema(value_type = schemas::ProjectId)]
    project_id: String,
    #[schema(value_type = schemas::Environment)]
    environment: &'static str,
    #[schema(value_type = schemas::Currency)]
    currency: &'static str,
    /// Settled money, in whole rupiah. Below 0 where refunds took what the fees of their payments were.
    #[schema(examples(1_250_000))]
    available: i64,
    /// Money of paid payments that is not settled yet.
    #[schema(minimum = 0, examples(14_895))]
    pending: i64,
    /// Money that arrived and could not be applied to a payment.
    #[schema(minimum = 0, examples(0))]
    unapplied: i64,
    /// Money of refunds that are under way: it has left the balance, and has not arrived yet.
    #[schema(minimum = 0, examples(0))]
    refunding: i64,
    /// The time of this balance.
    #[schema(value_type = schemas::DateTime)]
    as_of: String,
}

/// Get the balance, now or at an earlier time.
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
    let query = Query::parse(query.as_deref());
    let balance = app.engine.balance(caller.project.id, query.instant("at")?).await?;
    Ok(Json(BalanceJson {
        project_id: caller.project.id.to_string(),
        environment: caller.project.environment.word(),
        currency: "IDR",
        available: balance.available.get(),
        pending: balance.pending.get(),
        unapplied: balance.unapplied.get(),
        refunding: balance.refunding.get(),
        as_of: balance.as_of.to_string(),
    }))
}
