//! `/v1/refunds` and `/v1/payments/{paymentID}/refunds`: asking for refunds, listing, reading and cancelling them. Approving one is
//! no business of keys.

use axum::{
    Json,
    extract::{RawQuery, State},
    http::HeaderValue,
};
use domain::{
    audit::Actor,
    id::{PaymentId, RefundId},
    idempotency::{Endpoint, Idempotency},
    refund::{Refund, RefundStatus, request::RefundRequest},
    rules::Invalid,
};
use engine::{Created, Engine, Error, KeyOwner, Listed, RefundFilter};
use serde::Serialize;
use utoipa::{ToSchema, openapi::Required};
use web::{App, query::Query};
use wire::{refund::RefundJson, schemas};

use crate::{
    answer::{Answer, ErrorAnswer, Listing},
    auth::{RefundReader, RefundsCaller},
    body::{
        JsonBytes, RequiredKey,
        fingerprint::fingerprint_with,
        ignored::ignored_header,
        members::{Body, destination_request},
    },
    error::ApiError,
    error_code::{
        IDEMPOTENCY_CONFLICT, IDEMPOTENCY_KEY_REQUIRED, JSON_BODY, KEYED, KEYED_OR_SIGNED_IN, NEEDS_REFUNDS,
        NOT_REFUNDABLE, REFUND_SENT, RESOURCE_NOT_FOUND, ROLE_FORBIDS, USABLE, error_codes,
    },
    openapi::{
        created_from, created_to, idempotency_key, of_payment, page, page_size, parameters, path, project, query,
    },
    path_id::PathId,
};

parameters!(CreateParameters: path::<schemas::PaymentId>("paymentID"), idempotency_key(Required::True));
error_codes!(
    CreateErrors: KEYED, USABLE, JSON_BODY,
    &[NEEDS_REFUNDS, IDEMPOTENCY_KEY_REQUIRED, RESOURCE_NOT_FOUND, IDEMPOTENCY_CONFLICT, NOT_REFUNDABLE]
);
parameters!(
    ListParameters: project(), page(), page_size(),
    of_payment("Only refunds of this payment; none if there is no such payment."),
    query::<schemas::RefundStatus>("status", "Only refunds with this status."),
    created_from(), created_to(),
);
error_codes!(ListErrors: KEYED_OR_SIGNED_IN, USABLE, &[ROLE_FORBIDS]);
parameters!(RefundParameters: path::<schemas::RefundId>("refundID"), project());
error_codes!(RefundErrors: KEYED_OR_SIGNED_IN, USABLE, &[ROLE_FORBIDS, RESOURCE_NOT_FOUND]);
parameters!(CancelParameters: path::<schemas::RefundId>("refundID"));
error_codes!(CancelErrors: KEYED, USABLE, &[NEEDS_REFUNDS, RESOURCE_NOT_FOUND, REFUND_SENT]);

// Only for the OpenAPI document. The body itself is read member by member, so that each mistake gets its own message.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({ "amount": 5000, "reason": "Satu gelas pecah" })))]
pub(crate) struct CreateRefund {
    /// Whole rupiah, at most what is left of the money that was received for the payment; all of it if omitted.
    #[schema(minimum = 1, maximum = 999_999_999_999_i64, examples(5000))]
    amount: Option<i64>,
    /// Why the money is given back; the customer sees it.
    #[schema(
        max_length = 255,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$",
        examples("Satu gelas pecah")
    )]
    reason: Option<String>,
    destination: Option<GivenDestination>,
    #[schema(value_type = Option<schemas::Metadata>)]
    metadata: Option<String>,
}

/// The bank account that money shall go to. One that a key has named waits for an approval in production, unless the project has
/// switched that off.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({ "bank": "014", "account_number": "0123456789", "account_name": "Siti Aminah" })))]
pub(crate) struct GivenDestination {
    /// The `code` of one of `GET /v1/banks`; the code of a bank's virtual accounts, such as `bca`, is taken too.
    #[schema(min_length = 1, examples("014"))]
    bank: String,
    /// From 5 to 20 digits, also with spaces, dots or hyphens between them.
    #[schema(pattern = "^[ .-]*([0-9][ .-]*){5,20}$", examples("0123456789"))]
    account_number: String,
    /// Whom the account belongs to. What the bank says counts.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$",
        examples("Siti Aminah")
    )]
    account_name: Option<String>,
}

/// Give money of a paid payment back to the customer: all that is left of it, or a part.
#[utoipa::path(
    post, path = "/v1/payments/{paymentID}/refunds", tag = "Refunds", operation_id = "createRefund",
    security(("api_key" = ["refunds"])),
    params(CreateParameters),
    request_body = CreateRefund,
    responses(
        (status = 201, description = "Created", body = RefundJson),
        (status = 200, description = "The refund that an earlier request with this Idempotency-Key created", body = RefundJson),
        CreateErrors
    )
)]
pub(crate) async fn create(
    State(app): State<App>,
    RefundsCaller(owner): RefundsCaller,
    RequiredKey(key): RequiredKey,
    id: Result<PathId<PaymentId>, ApiError>,
    JsonBytes(bytes): JsonBytes,
) -> Result<Answer<RefundJson>, ErrorAnswer> {
    // No payment has a malformed id, and so no refund was made with one.
    let about = id.as_ref().map_or_else(|_| String::new(), |PathId(id)| id.to_string());
    let Asked { request, fingerprint, ignored } = decode(&bytes, &about)?;
    let refused = |error: ApiError| ErrorAnswer::ignoring(error, ignored.as_ref());
    let idempotency =
        Idempotency { project_id: owner.project.id, endpoint: Endpoint::Refunds, key, request: fingerprint };
    let created = make(&app.engine, &owner, id, request, idempotency).await.map_err(refused)?;
    let (refund, is_new) = match created {
        Created::New(refund) => (refund, true),
        Created::Replayed(refund) => (refund, false),
    };
    let shown = shown(&app, refund, true).await.map_err(|error| refused(error.into()))?;
    let created = if is_new { Created::New(shown) } else { Created::Replayed(shown) };
    Ok(Answer::created(created, |refund| refund).ignoring(ignored))
}

/// What a body asks for, and the members of it that were ignored.
struct Asked {
    /// Its amount is of the right JSON type, and may still not be whole.
    request: Result<RefundRequest, Invalid>,
    fingerprint: [u8; 16],
    ignored: Option<HeaderValue>,
}

fn decode(bytes: &[u8], about: &str) -> Result<Asked, ApiError> {
    let body = Body::parse(bytes)?;
    let members = body.members();
    let amount = members.whole_number("amount")?;
    let reason = members.text("reason")?;
    let destination = members.object("destination")?.map(|members| destination_request(&members)).transpose()?;
    let metadata = members.texts("metadata")?;
    let request = amount.transpose().map(|amount| RefundRequest { amount, reason, destination, metadata });
    Ok(Asked { request, fingerprint: fingerprint_with(about, body.json()), ignored: ignored_header(&body.ignored()) })
}

/// The checks are in the contract's order: the use of the key, the rules for fields, then the payment.
async fn make(
    engine: &Engine,
    owner: &KeyOwner,
    id: Result<PathId<PaymentId>, ApiError>,
    request: Result<RefundRequest, Invalid>,
    idempotency: Idempotency,
) -> Result<Created<Refund>, ApiError> {
    let engine = engine.by(Actor::Key(owner.key_id));
    match (request, id) {
        (Ok(request), Ok(PathId(id))) => Ok(engine.create_refund(&owner.project, idempotency, id, request).await?),
        (request, id) => {
            engine.check_refund_key_unused(&idempotency).await?;
            request?.check()?;
            Err(id.err().unwrap_or(Error::NotFound("payment").into()))
        }
    }
}

/// The refund as a reader sees it; the page for the customer is for those who may give money back.
pub(super) async fn shown(app: &App, refund: Refund, sees_claim: bool) -> Result<RefundJson, Error> {
    let claim_url = match sees_claim {
        true => app.engine.claim_url(&app.settings.pages_url, &refund).await?,
        false => None,
    };
    Ok(RefundJson::of(refund, claim_url))
}

/// List refunds, newest first.
#[utoipa::path(
    get, path = "/v1/refunds", tag = "Refunds", operation_id = "listRefunds",
    security(("api_key" = []), ("session" = [])),
    params(ListParameters),
    responses((status = 200, description = "One page", body = Listing<RefundJson>), ListErrors)
)]
pub(crate) async fn list(
    State(app): State<App>,
    reader: RefundReader,
    RawQuery(query): RawQuery,
) -> Result<Json<Listing<RefundJson>>, ApiError> {
    let query = Query::parse(query.as_deref());
    let page = query.page()?;
    let payment: Option<Option<PaymentId>> = query.filter("payment_id")?.map(|text| text.parse().ok());
    let statuses: Vec<(&str, RefundStatus)> = RefundStatus::ALL.iter().map(|status| (status.word(), *status)).collect();
    let filter = RefundFilter {
        payment: payment.flatten(),
        status: query.choice("status", &statuses)?,
        created: query.created()?,
        ..RefundFilter::default()
    };
    // No payment can have a malformed id, so no refund is of one.
    let listed = match payment {
        Some(None) => Listed { items: Vec::new(), total: 0 },
        _ => app.engine.refunds(reader.project_id, filter, page.into()).await?,
    };
    let mut items = Vec::with_capacity(listed.items.len());
    for refund in listed.items {
        items.push(shown(&app, refund, reader.sees_claims).await?);
    }
    Ok(Listing::of(Listed { items, total: listed.total }, page, |refund| refund))
}

/// Get a refund.
#[utoipa::path(
    get, path = "/v1/refunds/{refundID}", tag = "Refunds", operation_id = "getRefund",
    security(("api_key" = []), ("session" = [])),
    params(RefundParameters),
    responses((status = 200, description = "The refund", body = RefundJson), RefundErrors)
)]
pub(crate) async fn get(
    State(app): State<App>,
    reader: RefundReader,
    PathId(id): PathId<RefundId>,
) -> Result<Json<RefundJson>, ApiError> {
    let refund = app.engine.refund(reader.project_id, id).await?;
    Ok(Json(shown(&app, refund, reader.sees_claims).await?))
}

/// Cancel a refund of which nothing was sent. Its money is back in the balance at once.
#[utoipa::path(
    post, path = "/v1/refunds/{refundID}/cancel", tag = "Refunds", operation_id = "cancelRefund",
    security(("api_key" = ["refunds"])),
    params(CancelParameters),
    responses((status = 200, description = "The cancelled refund", body = RefundJson), CancelErrors)
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    RefundsCaller(owner): RefundsCaller,
    PathId(id): PathId<RefundId>,
) -> Result<Json<RefundJson>, ApiError> {
    let refund = app.engine.by(Actor::Key(owner.key_id)).cancel_refund(&owner.project, id).await?;
    Ok(Json(shown(&app, refund, true).await?))
}
