//! `/v1/payments`: creating direct payments, and listing and reading payments. Also how a body with `project_id` is read, which
//! `links` uses too.

use axum::{
    Json,
    extract::{RawQuery, State},
    http::{HeaderMap, HeaderValue, header},
};
use domain::{
    id::{LinkId, PaymentId},
    idempotency::{Endpoint, Idempotency},
    language::Language,
    method::MethodKind,
    orders::PaymentRequest,
    payment::Status,
    project::Project,
};
use engine::{MethodFilter, PaymentFilter};
use serde::Serialize;
use utoipa::{ToSchema, openapi::Required};
use web::{App, query::Query};
use wire::{
    payment::{PaymentJson, View},
    schemas,
};

use crate::{
    answer::{Answer, ErrorAnswer, Listing},
    auth::{Caller, PaymentsCaller},
    body::{
        JsonBytes, RequiredKey,
        fingerprint::fingerprint,
        ignored::ignored_header,
        json::ShapeError,
        members::{Body, Members, method_request},
    },
    error::ApiError,
    error_code::{
        FORBIDDEN, IDEMPOTENCY_CONFLICT, IDEMPOTENCY_KEY_REQUIRED, JSON_BODY, KEYED, NEEDS_PAYMENTS,
        PAYMENT_PROVIDER_UNAVAILABLE, PROJECT_NOT_FOUND, RESOURCE_NOT_FOUND, USABLE, VALIDATION_ERROR, error_codes,
    },
    openapi::{
        accept_language, created_from, created_to, idempotency_key, page, page_size, parameters, path, q, query, search,
    },
    path_id::PathId,
};

parameters!(CreateParameters: idempotency_key(Required::True), accept_language());
error_codes!(
    CreateErrors: KEYED, USABLE, JSON_BODY,
    &[NEEDS_PAYMENTS, IDEMPOTENCY_KEY_REQUIRED, PROJECT_NOT_FOUND, IDEMPOTENCY_CONFLICT, PAYMENT_PROVIDER_UNAVAILABLE]
);
parameters!(
    ListParameters: page(), page_size(),
    search("Part of the reference, in any case; `%` and `_` mean themselves."), q(),
    query::<String>("payment_link_id", "Only payments of this payment link; none if there is no such link."),
    query::<schemas::PaymentStatus>("status", "Only payments with this status; `paid` and `succeeded` mean the same."),
    query::<schemas::MethodType>("method", "Only payments by this method."),
    created_from(), created_to(),
    accept_language(),
);
error_codes!(ListErrors: KEYED, USABLE, &[FORBIDDEN, VALIDATION_ERROR]);
parameters!(PaymentParameters: path::<schemas::PaymentId>("paymentID"), accept_language());
error_codes!(PaymentErrors: KEYED, USABLE, &[FORBIDDEN, RESOURCE_NOT_FOUND]);

/// The values of the filter `status`: the six statuses, and `succeeded` as another word for `paid`.
const STATUSES: [(&str, Status); 7] = [
    ("pending", Status::Pending),
    ("processing", Status::Processing),
    ("paid", Status::Paid),
    ("succeeded", Status::Paid),
    ("failed", Status::Failed),
    ("expired", Status::Expired),
    ("cancelled", Status::Cancelled),
];
const METHODS: [(&str, MethodKind); 2] = [("qris", MethodKind::Qris), ("virtual_account", MethodKind::VirtualAccount)];

// Only for the OpenAPI document. The body itself is read member by member, so that each mistake gets its own message.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "project_id": "prj_01kzdq3f5ve8x9m2r7t4w6y8za", "reference": "order-1", "amount": 15000,
    "payment_method": { "type": "virtual_account", "bank": "bca" }
})))]
pub(crate) struct CreatePayment {
    /// The project of the API key.
    #[schema(value_type = schemas::ProjectId)]
    project_id: String,
    /// Your own order id; it need not be unique.
    #[schema(
        min_length = 1,
        max_length = 255,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$",
        examples("order-1")
    )]
    reference: String,
    /// Whole rupiah, at least 100 for `qris` and 10000 for `virtual_account`.
    #[schema(minimum = 100, maximum = 999_999_999_999_i64, examples(15000))]
    amount: i64,
    #[schema(value_type = schemas::PaymentMethodBody)]
    payment_method: String,
    /// For `qris` 15 if omitted and at most 60; for `virtual_account` 1440 if omitted and at most 10080. A larger number is lowered
    /// to the maximum.
    #[schema(value_type = Option<schemas::Minutes>)]
    expires_in_minutes: Option<i64>,
    #[schema(value_type = Option<schemas::Metadata>)]
    metadata: Option<String>,
    #[schema(value_type = Option<schemas::ReturnUrl>)]
    return_url: Option<String>,
}

/// Create a direct payment.
#[utoipa::path(
    post, path = "/v1/payments", tag = "Payments", operation_id = "createPayment",
    security(("api_key" = ["payments"])),
    params(CreateParameters),
    request_body = CreatePayment,
    responses(
        (status = 201, description = "Created", body = PaymentJson),
        (status = 200, description = "The payment that an earlier request with this Idempotency-Key created", body = PaymentJson),
        CreateErrors
    )
)]
pub(crate) async fn create(
    State(app): State<App>,
    caller: PaymentsCaller,
    RequiredKey(key): RequiredKey,
    headers: HeaderMap,
    JsonBytes(bytes): JsonBytes,
) -> Result<Answer<PaymentJson>, ErrorAnswer> {
    let project = &caller.project;
    let (request, fingerprint, ignored) = decode(&bytes, project, payment_request)?;
    let idempotency = Idempotency { project_id: project.id, endpoint: Endpoint::Payments, key, request: fingerprint };
    let created = app.engine.create_payment(project, idempotency, request).await;
    let created = created.map_err(|error| ErrorAnswer::ignoring(error, ignored.as_ref()))?;
    let view = view(&app, project, &headers);
    Ok(Answer::created(created, |payment| PaymentJson::of(payment, view)).ignoring(ignored))
}

/// Reads a body whose `project_id` must be the caller's project. Returns the request, the body's fingerprint and the value of
/// `X-Ignored-Members`.
pub(super) fn decode<T>(
    bytes: &[u8],
    project: &Project,
    read: impl FnOnce(&Members<'_>) -> Result<T, ShapeError>,
) -> Result<(T, [u8; 16], Option<HeaderValue>), ApiError> {
    let body = Body::parse(bytes)?;
    let members = body.members();
    let project_id = members.text("project_id")?;
    let request = read(&members)?;
    check_project_id(project_id, project)?;
    Ok((request, fingerprint(body.json()), ignored_header(&body.ignored())))
}

fn check_project_id(project_id: Option<String>, project: &Project) -> Result<(), ApiError> {
    match project_id.filter(|id| !id.is_empty()) {
        None => Err(domain::rules::Invalid::new("project_id", "is required").into()),
        Some(id) if id == project.id.to_string() => Ok(()),
        Some(_) => Err(ApiError::ProjectNotFound),
    }
}

fn payment_request(members: &Members<'_>) -> Result<PaymentRequest, ShapeError> {
    let method = members.object("payment_method")?;
    Ok(PaymentRequest {
        reference: members.text("reference")?,
        amount: members.integer("amount")?,
        method: method.map(|method| method_request(&method)).transpose()?,
        expires_in_minutes: members.integer("expires_in_minutes")?,
        metadata: members.texts("metadata")?,
        return_url: members.text("return_url")?,
    })
}

/// List payments, newest first.
#[utoipa::path(
    get, path = "/v1/payments", tag = "Payments", operation_id = "listPayments",
    params(ListParameters),
    responses((status = 200, description = "One page", body = Listing<PaymentJson>), ListErrors)
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Json<Listing<PaymentJson>>, ApiError> {
    let view = view(&app, &caller.project, &headers);
    let query = Query::parse(query.as_deref());
    let page = query.page()?;
    let link_id: Option<Option<LinkId>> = query.filter("payment_link_id")?.map(|text| text.parse().ok());
    let filter = PaymentFilter {
        search: query.search()?,
        q: query.q()?,
        link_id: link_id.flatten(),
        status: query.choice("status", &STATUSES)?.map(|status| (status, view.now)),
        method: query.choice("method", &METHODS)?.map(MethodFilter::Kind),
        created: query.created()?,
        ..PaymentFilter::default()
    };
    // No link can have a malformed id, so no payment was made through it.
    let listed = match link_id {
        Some(None) => engine::Listed { items: Vec::new(), total: 0 },
        _ => app.engine.payments(caller.project.id, &filter, page.into()).await?,
    };
    Ok(Listing::of(listed, page, |payment| PaymentJson::of(payment, view)))
}

/// Get a payment.
#[utoipa::path(
    get, path = "/v1/payments/{paymentID}", tag = "Payments", operation_id = "getPayment",
    params(PaymentParameters),
    responses((status = 200, description = "The payment", body = PaymentJson), PaymentErrors)
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<PaymentId>,
    headers: HeaderMap,
) -> Result<Answer<PaymentJson>, ApiError> {
    let payment = app.engine.payment(caller.project.id, id).await?;
    Ok(Answer::ok(PaymentJson::of(payment, view(&app, &caller.project, &headers))))
}

/// How payments are rendered for this caller at this time.
pub(super) fn view<'a>(app: &'a App, project: &Project, headers: &HeaderMap) -> View<'a> {
    let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    View {
        now: app.engine.now(),
        success_word: project.success_word,
        language: Language::from_accept_language(accepted),
        pages_url: &app.settings.pages_url,
    }
}
