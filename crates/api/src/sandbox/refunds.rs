//! `/v1/sandbox/refunds`: says as the bank what has become of a refund, for merchants' automated tests.

use axum::{extract::State, http::HeaderValue};
use domain::{audit::Actor, id::RefundId, rules::Invalid};
use engine::RefundOutcome;
use serde::Serialize;
use utoipa::ToSchema;
use web::App;
use wire::{refund::RefundJson, schemas};

use crate::{
    answer::Answer,
    auth::RefundSimulator,
    body::{JsonBytes, ignored::ignored_header, members::Body},
    error::ApiError,
    error_code::{JSON_BODY, KEYED, NEEDS_REFUNDS_IN_SANDBOX, REFUND_STUCK, RESOURCE_NOT_FOUND, USABLE, error_codes},
    openapi::{parameters, path},
    path_id::PathId,
    refunds::shown,
};

parameters!(SimulateRefundParameters: path::<schemas::RefundId>("refundID"));
error_codes!(
    SimulateRefundErrors: KEYED, USABLE, JSON_BODY, &[NEEDS_REFUNDS_IN_SANDBOX, RESOURCE_NOT_FOUND, REFUND_STUCK]
);

// Only for the OpenAPI document. The body itself is read member by member, so that each mistake gets its own message.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({ "outcome": "succeeded" })))]
pub(crate) struct SimulateRefund {
    #[schema(value_type = schemas::RefundOutcome)]
    outcome: String,
}

/// Simulate what becomes of a sandbox refund.
#[utoipa::path(
    post, path = "/v1/sandbox/refunds/{refundID}/simulate", tag = "Sandbox", operation_id = "simulateRefund",
    security(("api_key" = ["refunds"])),
    params(SimulateRefundParameters),
    request_body = SimulateRefund,
    responses((status = 200, description = "The refund after it", body = RefundJson), SimulateRefundErrors)
)]
pub(crate) async fn simulate(
    State(app): State<App>,
    RefundSimulator(owner): RefundSimulator,
    id: Result<PathId<RefundId>, ApiError>,
    JsonBytes(bytes): JsonBytes,
) -> Result<Answer<RefundJson>, ApiError> {
    let (outcome, ignored) = decode(&bytes)?;
    // The path is checked only now, because the contract has errors of the body before 404.
    let PathId(id) = id?;
    let refund = app.engine.by(Actor::Key(owner.key_id)).simulate_refund(&owner.project, id, outcome).await?;
    Ok(Answer::ok(shown(&app, refund, true).await?).ignoring(ignored))
}

fn decode(bytes: &[u8]) -> Result<(RefundOutcome, Option<HeaderValue>), ApiError> {
    let body = Body::parse(bytes)?;
    let outcome = body.members().text("outcome")?;
    let outcome = match outcome.as_deref() {
        Some("succeeded") => RefundOutcome::Succeeded,
        Some("failed") => RefundOutcome::Failed,
        Some("returned") => RefundOutcome::Returned,
        _ => return Err(Invalid::new("outcome", "must be `succeeded`, `failed` or `returned`").into()),
    };
    Ok((outcome, ignored_header(&body.ignored())))
}
