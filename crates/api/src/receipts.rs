//! `/v1/receipts`: money that could not pay its payment, and the decisions about it. A decision is final, and is made once
//! however many ask for one.

use axum::{
    Json,
    extract::{RawQuery, State},
    http::HeaderValue,
};
use domain::{
    audit::Actor,
    destination::DestinationRequest,
    id::{PaymentId, ReceiptId},
    receipt::{Choice, DECISION_NOTE, Decided, Decision, Difference, ReceiptState, UnappliedReceipt},
    rules::Invalid,
};
use engine::{Error, KeyOwner, ReceiptFilter, UnappliedFilter};
use serde::Serialize;
use utoipa::ToSchema;
use web::{App, query::Query};
use wire::schemas;

use crate::{
    answer::{Answer, ErrorAnswer, Listing},
    auth::{MoneyDecider, Reader},
    body::{
        JsonBytes,
        ignored::ignored_header,
        members::{Body, destination_request},
    },
    error::ApiError,
    error_code::{
        ALREADY_DECIDED, ALREADY_DECIDED_OR_BELOW_FEE, JSON_BODY, KEYED_OR_SIGNED_IN, NEEDS_HELD_MONEY,
        NEEDS_HELD_MONEY_AND_REFUNDS, PAID_BY_OTHER_MONEY, RESOURCE_NOT_FOUND, ROLE_FORBIDS, USABLE, error_codes,
    },
    openapi::{page, page_size, parameters, path, project, query},
    path_id::PathId,
    refunds::GivenDestination,
};

parameters!(
    ListParameters: project(), page(), page_size(),
    query::<schemas::ReceiptState>("state", "Only money in this state."),
    query::<schemas::PaymentId>("payment_id", "Only money that was sent for this payment, or that pays it."),
    query::<schemas::GivenDateTime>("created_from", "Only money whose `received_at` is this date-time or later."),
    query::<schemas::GivenDateTime>(
        "created_to",
        "Only money whose `received_at` is before this date-time; it must be later than `created_from`.",
    ),
);
error_codes!(ListErrors: KEYED_OR_SIGNED_IN, USABLE, &[ROLE_FORBIDS]);
parameters!(ReceiptParameters: path::<schemas::ReceiptId>("receiptID"), project());
error_codes!(ReceiptErrors: KEYED_OR_SIGNED_IN, USABLE, &[ROLE_FORBIDS, RESOURCE_NOT_FOUND]);
error_codes!(
    AcceptErrors: KEYED_OR_SIGNED_IN, USABLE, JSON_BODY,
    &[NEEDS_HELD_MONEY, RESOURCE_NOT_FOUND, ALREADY_DECIDED_OR_BELOW_FEE, PAID_BY_OTHER_MONEY]
);
error_codes!(
    ReturnErrors: KEYED_OR_SIGNED_IN, USABLE, JSON_BODY,
    &[NEEDS_HELD_MONEY_AND_REFUNDS, RESOURCE_NOT_FOUND, ALREADY_DECIDED]
);

/// Money that could not pay its payment when it came.
#[derive(Serialize, ToSchema)]
#[schema(title = "Receipt", as = Receipt, examples(json!({
    "id": "rcp_01kzdq3f5ve8x9m2r7t4w6y8za", "project_id": "prj_01kzdq3f5ve8x9m2r7t4w6y8za",
    "payment_id": "pay_01kzdq3f5ve8x9m2r7t4w6y8za", "amount": 15000, "currency": "IDR", "reason": "too_late",
    "state": "held", "paid_at": "2026-11-14T09:30:00.000Z", "received_at": "2026-11-14T09:30:01.000Z", "decision": null
})))]
pub(crate) struct ReceiptJson {
    #[schema(value_type = schemas::ReceiptId)]
    id: String,
    #[schema(value_type = schemas::ProjectId)]
    project_id: String,
    /// The payment that the customer sent the money for.
    #[schema(value_type = schemas::PaymentId)]
    payment_id: String,
    #[schema(value_type = schemas::Amount)]
    amount: i64,
    #[schema(value_type = schemas::Currency)]
    currency: &'static str,
    #[schema(value_type = schemas::HeldReason)]
    reason: &'static str,
    #[schema(value_type = schemas::ReceiptState)]
    state: &'static str,
    /// When the customer paid, as the bank says.
    #[schema(value_type = schemas::DateTime)]
    paid_at: String,
    /// When we learnt of it.
    #[schema(value_type = schemas::DateTime)]
    received_at: String,
    /// Null while the money is held.
    #[schema(required)]
    decision: Option<DecisionJson>,
}

/// What was decided about the money.
#[derive(Serialize, ToSchema)]
#[schema(title = "ReceiptDecision", as = ReceiptDecision)]
pub(crate) struct DecisionJson {
    /// The payment that the money pays; null if it was returned.
    #[schema(value_type = Option<schemas::PaymentId>, required)]
    payment_id: Option<String>,
    /// By how much the money is more than the amount of the payment that it pays; null if it was returned.
    #[schema(value_type = Option<schemas::Difference>, required)]
    difference: Option<i64>,
    /// The refund by which the money is sent back; null if it was given back elsewhere, or pays a payment.
    #[schema(value_type = Option<schemas::RefundId>, required)]
    refund_id: Option<String>,
    #[schema(min_length = 1, max_length = 500, examples("Pelanggan membayar setelah batas waktu"))]
    note: String,
    /// Null where an earlier version of the service did not store it.
    #[schema(value_type = Option<schemas::DeciderId>, required)]
    decided_by: Option<String>,
    #[schema(value_type = schemas::DateTime)]
    decided_at: String,
}

impl From<UnappliedReceipt> for ReceiptJson {
    fn from(held: UnappliedReceipt) -> ReceiptJson {
        ReceiptJson {
            id: held.id.to_string(),
            project_id: held.project_id.to_string(),
            payment_id: held.payment_id.to_string(),
            amount: held.receipt.amount.get(),
            currency: "IDR",
            reason: held.reason.word(),
            state: held.state().word(),
            paid_at: held.receipt.paid_at.to_string(),
            received_at: held.receipt.received_at.to_string(),
            decision: held.decided.map(DecisionJson::from),
        }
    }
}

impl From<Decided> for DecisionJson {
    fn from(decided: Decided) -> DecisionJson {
        let accepted = match decided.decision {
            Decision::Accepted { payment_id, difference } => Some((payment_id.to_string(), difference.get())),
            Decision::Returned => None,
        };
        let (payment_id, difference) = accepted.unzip();
        DecisionJson {
            payment_id,
            difference,
            refund_id: decided.refund.map(|id| id.to_string()),
            note: decided.note,
            decided_by: decided.by.map(|by| by.to_string()),
            decided_at: decided.at.to_string(),
        }
    }
}

/// List money that could not pay its payment, newest first; with `state=accepted` or `returned`, the latest decision first.
#[utoipa::path(
    get, path = "/v1/receipts", tag = "Receipts", operation_id = "listReceipts",
    security(("api_key" = []), ("session" = [])),
    params(ListParameters),
    responses((status = 200, description = "One page", body = Listing<ReceiptJson>), ListErrors)
)]
pub(crate) async fn list(
    State(app): State<App>,
    reader: Reader,
    RawQuery(query): RawQuery,
) -> Result<Json<Listing<ReceiptJson>>, ApiError> {
    let query = Query::parse(query.as_deref());
    let page = query.page()?;
    let state = match query.choice("state", &ReceiptState::ALL.map(|state| (state.word(), state)))? {
        None => UnappliedFilter::All,
        Some(ReceiptState::Held) => UnappliedFilter::Undecided,
        Some(ReceiptState::Accepted) => UnappliedFilter::Accepted,
        Some(ReceiptState::Returned) => UnappliedFilter::Returned,
    };
    let payment = query.text("payment_id")?.map(payment_id).transpose()?;
    let filter = ReceiptFilter { state, payment, received: query.created()? };
    let listed = app.engine.receipts(reader.project_id, filter, page.into()).await?;
    Ok(Listing::of(listed, page, ReceiptJson::from))
}

/// Get money that could not pay its payment.
#[utoipa::path(
    get, path = "/v1/receipts/{receiptID}", tag = "Receipts", operation_id = "getReceipt",
    security(("api_key" = []), ("session" = [])),
    params(ReceiptParameters),
    responses((status = 200, description = "The receipt", body = ReceiptJson), ReceiptErrors)
)]
pub(crate) async fn get(
    State(app): State<App>,
    reader: Reader,
    PathId(id): PathId<ReceiptId>,
) -> Result<Json<ReceiptJson>, ApiError> {
    Ok(Json(app.engine.receipt(reader.project_id, id).await?.into()))
}

// Only for the OpenAPI document. The bodies themselves are read member by member, so that each mistake gets its own message.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({ "note": "Pelanggan membayar setelah batas waktu" })))]
pub(crate) struct AcceptReceipt {
    /// Why it was decided so; for your own records.
    #[schema(
        min_length = 1,
        max_length = 500,
        pattern = "^[^\\u0000-\\u0009\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$",
        examples("Pelanggan membayar setelah batas waktu")
    )]
    note: String,
    /// The payment that the money shall pay, of the same project and not paid yet; the one that it was sent for if omitted.
    #[schema(value_type = Option<schemas::PaymentId>)]
    payment_id: Option<String>,
    /// Whether the money may pay the payment although it is more or less than the payment's amount; false if omitted.
    accept_difference: Option<bool>,
}

#[derive(Serialize, ToSchema)]
#[schema(examples(json!({ "note": "Dikirim kembali ke rekening pelanggan" })))]
pub(crate) struct ReturnReceipt {
    /// Why it was decided so; for your own records.
    #[schema(
        min_length = 1,
        max_length = 500,
        pattern = "^[^\\u0000-\\u0009\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$",
        examples("Dikirim kembali ke rekening pelanggan")
    )]
    note: String,
    /// Send the whole money there; the decision then names the refund. If omitted, it is only recorded that you gave it back.
    destination: Option<GivenDestination>,
}

/// Let held money pay its payment, or another one of the project. The decision is final; the payment is paid at once, and
/// its event is sent.
#[utoipa::path(
    post, path = "/v1/receipts/{receiptID}/accept", tag = "Receipts", operation_id = "acceptReceipt",
    security(("api_key" = ["held-money"]), ("session" = [])),
    params(ReceiptParameters),
    request_body = AcceptReceipt,
    responses((status = 200, description = "The accepted receipt", body = ReceiptJson), AcceptErrors)
)]
pub(crate) async fn accept(
    State(app): State<App>,
    decider: MoneyDecider,
    id: Result<PathId<ReceiptId>, ApiError>,
    JsonBytes(bytes): JsonBytes,
) -> Result<Answer<ReceiptJson>, ErrorAnswer> {
    decide(&app, decider, id, acceptance(&bytes)?, None).await
}

/// Record that held money was given back to the customer; or with a `destination`, have it sent there, for which a key needs the
/// right `refunds` too. The decision is final, unless such a refund fails, is cancelled or comes back: then the money is held again.
#[utoipa::path(
    post, path = "/v1/receipts/{receiptID}/return", tag = "Receipts", operation_id = "returnReceipt",
    security(("api_key" = ["held-money"]), ("session" = [])),
    params(ReceiptParameters),
    request_body = ReturnReceipt,
    responses((status = 200, description = "The returned receipt", body = ReceiptJson), ReturnErrors)
)]
pub(crate) async fn give_back(
    State(app): State<App>,
    decider: MoneyDecider,
    id: Result<PathId<ReceiptId>, ApiError>,
    JsonBytes(bytes): JsonBytes,
) -> Result<Answer<ReceiptJson>, ErrorAnswer> {
    let GivingBack { decision, destination } = giving_back(&bytes)?;
    if destination.is_some() {
        decider.check_may_refund()?;
    }
    decide(&app, decider, id, decision, destination).await
}

/// What a body asks for, and the members of it that were ignored.
struct DecisionBody {
    choice: Result<(Choice, String), Invalid>,
    ignored: Option<HeaderValue>,
}

/// The same of a return, and where the money shall be sent; none where it was given back elsewhere.
struct GivingBack {
    decision: DecisionBody,
    destination: Option<DestinationRequest>,
}

fn acceptance(bytes: &[u8]) -> Result<DecisionBody, ApiError> {
    let body = Body::parse(bytes)?;
    let members = body.members();
    let (note, payment) = (members.text("note")?, members.text("payment_id")?);
    let difference = match members.boolean("accept_difference")? {
        Some(true) => Difference::Accepted,
        Some(false) | None => Difference::Refused,
    };
    let choice = checked(note).and_then(|note| {
        let payment_id = payment.as_deref().map(payment_id).transpose()?;
        Ok((Choice::Accept { payment_id, difference }, note))
    });
    Ok(DecisionBody { choice, ignored: ignored_header(&body.ignored()) })
}

fn giving_back(bytes: &[u8]) -> Result<GivingBack, ApiError> {
    let body = Body::parse(bytes)?;
    let members = body.members();
    let note = members.text("note")?;
    let destination = members.object("destination")?.map(|members| destination_request(&members)).transpose()?;
    let choice = checked(note).map(|note| (Choice::Return, note));
    Ok(GivingBack { decision: DecisionBody { choice, ignored: ignored_header(&body.ignored()) }, destination })
}

fn checked(note: Option<String>) -> Result<String, Invalid> {
    DECISION_NOTE.check(note.ok_or_else(|| Invalid::new("note", "is required"))?)
}

fn payment_id(text: &str) -> Result<PaymentId, Invalid> {
    text.parse().map_err(|_| Invalid::new("payment_id", "must be the id of a payment"))
}

async fn decide(
    app: &App,
    decider: MoneyDecider,
    id: Result<PathId<ReceiptId>, ApiError>,
    DecisionBody { choice, ignored }: DecisionBody,
    destination: Option<DestinationRequest>,
) -> Result<Answer<ReceiptJson>, ErrorAnswer> {
    let refused = |error: ApiError| ErrorAnswer::ignoring(error, ignored.as_ref());
    let (choice, note) = choice.map_err(|invalid| refused(invalid.into()))?;
    // The path is checked only now, because the contract has errors of the body before 404.
    let PathId(id) = id.map_err(refused)?;
    let decided = match decider {
        MoneyDecider::Key(KeyOwner { key_id, project, .. }) => {
            let engine = app.engine.by(Actor::Key(key_id));
            match destination {
                Some(destination) => engine.return_receipt(&project, id, destination, note).await,
                None => engine.decide_receipt(project.id, id, choice, note).await,
            }
        }
        MoneyDecider::Member(desk) => match destination {
            Some(destination) => desk.return_receipt(id, destination, note).await,
            None => desk.decide_receipt(id, choice, note).await,
        },
    };
    let decided: UnappliedReceipt = decided.map_err(|error: Error| refused(error.into()))?;
    Ok(Answer::ok(decided.into()).ignoring(ignored))
}
