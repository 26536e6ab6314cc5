//! `/v1/sandbox`: simulates the customer's bank, for merchants' automated tests. Production payments are out of its reach.

use axum::{extract::State, http::HeaderMap};
use domain::{
    id::PaymentId,
    money::Rupiah,
    payment::Payment,
    rules::{Invalid, RECEIPT_ID, positive_amount},
    time::Timestamp,
};
use engine::{Error, Observed, Outcome};
use serde::Serialize;
use utoipa::ToSchema;
use web::App;
use wire::{payment::PaymentJson, schemas};

use crate::{
    answer::Answer,
    auth::SandboxCaller,
    body::{
        JsonBytes,
        members::{Body, ignored_header},
    },
    error::ApiError,
    error_code::{FORBIDDEN, JSON_BODY, KEYED, PAYMENT_NOT_EDITABLE, RESOURCE_NOT_FOUND, USABLE, error_codes},
    openapi::{accept_language, parameters, path},
    path_id::PathId,
    payments::view,
};

parameters!(SimulateParameters: path::<schemas::PaymentId>("paymentID"), accept_language());
error_codes!(SimulateErrors: KEYED, USABLE, JSON_BODY, &[FORBIDDEN, RESOURCE_NOT_FOUND, PAYMENT_NOT_EDITABLE]);

/// What the simulated bank reports.
struct Report {
    outcome: SimulatedOutcome,
    amount: Option<Rupiah>,
    paid_at: Option<Timestamp>,
    receipt_id: Option<String>,
}

#[derive(Clone, Copy)]
enum SimulatedOutcome {
    Paid,
    Failed,
    Processing,
}

impl Report {
    fn outcome(&self, payment: &Payment, now: Timestamp) -> Outcome {
        match self.outcome {
            SimulatedOutcome::Paid => {
                Outcome::Paid { amount: self.amount.unwrap_or(payment.amount), paid_at: self.paid_at.unwrap_or(now) }
            }
            SimulatedOutcome::Failed => Outcome::Failed,
            SimulatedOutcome::Processing => Outcome::Processing,
        }
    }
}

// Only for the OpenAPI document. The body itself is read member by member, so that each mistake gets its own message.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({ "outcome": "paid" })))]
pub(crate) struct Simulate {
    #[schema(value_type = schemas::Outcome)]
    outcome: String,
    /// The amount that the customer pays; the payment's amount if omitted.
    #[schema(minimum = 1, maximum = 999_999_999_999_i64, examples(15000))]
    amount: Option<i64>,
    /// When the customer pays; now if omitted.
    #[schema(value_type = Option<schemas::GivenDateTime>)]
    paid_at: Option<String>,
    /// The bank's id of this receipt. Sending one a second time repeats the report and moves no money.
    #[schema(
        min_length = 1,
        max_length = 255,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$",
        examples("receipt-1")
    )]
    receipt_id: Option<String>,
}

/// Simulate the bank's report about a sandbox payment.
#[utoipa::path(
    post, path = "/v1/sandbox/payments/{paymentID}/simulate", tag = "Sandbox", operation_id = "simulatePayment",
    params(SimulateParameters),
    request_body = Simulate,
    responses((status = 200, description = "The payment after the report", body = PaymentJson), SimulateErrors)
)]
pub(crate) async fn simulate(
    State(app): State<App>,
    caller: SandboxCaller,
    id: Result<PathId<PaymentId>, ApiError>,
    headers: HeaderMap,
    JsonBytes(bytes): JsonBytes,
) -> Result<Answer<PaymentJson>, ApiError> {
    let (report, ignored) = decode(&bytes)?;
    // The path is checked only now, because the contract has errors of the body before 404.
    let PathId(id) = id?;
    let payment = app.engine.payment(caller.project.id, id).await?;
    let outcome = |now| report.outcome(&payment, now);
    let payment = match app.engine.simulate(&payment, report.receipt_id.as_deref(), outcome).await? {
        Observed::Ended(_) => return Err(Error::NotEditable.into()),
        observed => observed.into_payment(),
    };
    Ok(Answer::ok(PaymentJson::of(payment, view(&app, &caller.project, &headers))).ignoring(ignored))
}

fn decode(bytes: &[u8]) -> Result<(Report, Option<axum::http::HeaderValue>), ApiError> {
    let body = Body::parse(bytes)?;
    let members = body.members();
    let (outcome, amount) = (members.text("outcome")?, members.integer("amount")?);
    let (paid_at, receipt_id) = (members.text("paid_at")?, members.text("receipt_id")?);
    let outcome = match outcome.as_deref() {
        Some("paid") => SimulatedOutcome::Paid,
        Some("failed") => SimulatedOutcome::Failed,
        Some("processing") => SimulatedOutcome::Processing,
        _ => return Err(Invalid::new("outcome", "must be `paid`, `failed` or `processing`").into()),
    };
    let paid_at = paid_at.as_deref().map(Timestamp::parse).transpose();
    let report = Report {
        outcome,
        amount: amount.map(positive_amount).transpose()?,
        paid_at: paid_at.map_err(|error| Invalid::new("paid_at", error.to_string()))?,
        receipt_id: receipt_id.map(|id| RECEIPT_ID.check(id)).transpose()?,
    };
    Ok((report, ignored_header(&body.ignored())))
}
