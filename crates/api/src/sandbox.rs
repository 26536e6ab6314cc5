//! `/v1/sandbox`: simulates the customer's bank, for merchants' automated tests. Production payments are out of its reach.

pub(crate) mod refunds;

use axum::{extract::State, http::HeaderMap};
use domain::{
    id::PaymentId,
    money::Rupiah,
    payment::Payment,
    project::Project,
    rules::{Invalid, RECEIPT_ID, positive_amount},
    time::Timestamp,
};
use engine::{Engine, Error, Observed, Outcome};
use serde::Serialize;
use utoipa::ToSchema;
use web::App;
use wire::{payment::PaymentJson, schemas};

use crate::{
    answer::Answer,
    auth::SandboxCaller,
    body::{JsonBytes, ignored::ignored_header, members::Body},
    error::ApiError,
    error_code::{
        JSON_BODY, KEYED, NEEDS_PAYMENTS_IN_SANDBOX, PAYMENT_NOT_EDITABLE, RESOURCE_NOT_FOUND, USABLE, error_codes,
    },
    openapi::{accept_language, parameters, path},
    path_id::PathId,
    payments::view,
};

parameters!(SimulateParameters: path::<schemas::PaymentId>("paymentID"), accept_language());
error_codes!(SimulateErrors: KEYED, USABLE, JSON_BODY, &[NEEDS_PAYMENTS_IN_SANDBOX, RESOURCE_NOT_FOUND, PAYMENT_NOT_EDITABLE]);

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
    Expired,
}

impl Report {
    /// Nobody pays a payment that does not exist yet.
    fn check_paid_at(&self, payment: &Payment) -> Result<(), Invalid> {
        match self.paid_at {
            Some(paid_at) if paid_at < payment.created_at => {
                Err(Invalid::new("paid_at", "must not be before the payment was created"))
            }
            _ => Ok(()),
        }
    }

    /// Lets the simulated bank report on a payment; answers the payment afterwards.
    async fn send(&self, engine: &Engine, project: &Project, payment: Payment) -> Result<Payment, Error> {
        let receipt_id = self.receipt_id.as_deref();
        let observed = match self.outcome {
            SimulatedOutcome::Paid => {
                let amount = self.amount.unwrap_or(payment.terms.amount);
                let paid = |now| Outcome::Paid { amount, paid_at: self.paid_at.unwrap_or(now) };
                engine.simulate(project, payment, receipt_id, paid).await?
            }
            SimulatedOutcome::Failed => engine.simulate(project, payment, receipt_id, |_| Outcome::Failed).await?,
            SimulatedOutcome::Processing => {
                engine.simulate(project, payment, receipt_id, |_| Outcome::Processing).await?
            }
            SimulatedOutcome::Expired => return engine.simulate_expiry(project, &payment).await,
        };
        match observed {
            Observed::Ended(_) => Err(Error::NotEditable),
            observed => Ok(observed.into_payment()),
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
    /// When the customer pays, not before the payment was created; now if omitted.
    #[schema(value_type = Option<schemas::GivenDateTime>)]
    paid_at: Option<String>,
    /// The bank's id of this receipt. Money sent a second time under one id is the same money; for another payment it is
    /// held as unapplied. `failed` and `processing` leave the id free for money.
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
    security(("api_key" = ["payments"])),
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
    report.check_paid_at(&payment)?;
    let payment = report.send(&app.engine, &caller.project, payment).await?;
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
        Some("expired") => SimulatedOutcome::Expired,
        _ => return Err(Invalid::new("outcome", "must be `paid`, `failed`, `processing` or `expired`").into()),
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
