//! `/v1/payments`: direct payments.

use axum::{
    Json,
    extract::{RawQuery, State},
    http::{HeaderMap, HeaderValue, header},
};
use domain::{
    id::{LinkId, PaymentId},
    idempotency::{Endpoint, Idempotency},
    method::MethodKind,
    payment::Status,
    project::Project,
    rules::PaymentRequest,
    steps::Language,
};
use engine::PaymentFilter;

use super::{
    answer::{Answer, Listing},
    body::{JsonBytes, RequiredKey},
    path::PathId,
};
use crate::{
    app::App,
    auth::Caller,
    error::{ApiError, ErrorJson},
    wire::{
        fingerprint::fingerprint,
        json::ShapeError,
        method::method_request,
        payment::{PaymentJson, View},
        query::Query,
        shape::{Body, Members, ignored_header},
    },
};

/// The filter's words: the six states, and the other word for `paid`.
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

/// Create a direct payment.
#[utoipa::path(
    post, path = "/v1/payments", tag = "Payments", operation_id = "createPayment",
    params(("Idempotency-Key" = String, Header, description = "Unique per payment attempt", max_length = 255)),
    request_body = crate::wire::requests::CreatePayment,
    responses(
        (status = 201, description = "Created", body = PaymentJson),
        (status = 200, description = "The payment that an earlier request with this key made", body = PaymentJson),
        (status = 400, description = "INVALID_REQUEST, IDEMPOTENCY_KEY_REQUIRED or VALIDATION_ERROR", body = ErrorJson),
        (status = 401, description = "UNAUTHORIZED", body = ErrorJson),
        (status = 403, description = "PROJECT_UNAVAILABLE or CORS_ORIGIN_FORBIDDEN", body = ErrorJson),
        (status = 404, description = "PROJECT_NOT_FOUND", body = ErrorJson),
        (status = 409, description = "IDEMPOTENCY_CONFLICT", body = ErrorJson),
        (status = 413, description = "INVALID_REQUEST: over 64 KiB", body = ErrorJson),
        (status = 415, description = "INVALID_REQUEST: not application/json", body = ErrorJson),
        (status = 429, description = "RATE_LIMITED", body = ErrorJson),
        (status = 503, description = "PAYMENT_PROVIDER_UNAVAILABLE, SERVICE_UNAVAILABLE or AUTH_UNAVAILABLE", body = ErrorJson),
    )
)]
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    RequiredKey(key): RequiredKey,
    headers: HeaderMap,
    JsonBytes(bytes): JsonBytes,
) -> Result<Answer<PaymentJson>, ApiError> {
    let project = &caller.project;
    let (request, fingerprint, ignored) = decode(&bytes, project, payment_request)?;
    let idempotency = Idempotency::new(project.id, Endpoint::Payments, &key, fingerprint);
    let created = app.engine.create_payment(project, idempotency, request).await?;
    let view = view(&app, project, &headers);
    Ok(Answer::created(created, |payment| PaymentJson::of(payment, view)).ignoring(ignored))
}

/// Reads a body whose `project_id` must be the caller's own; answers with its fingerprint and what nobody read.
pub(super) fn decode<T>(
    bytes: &[u8],
    project: &Project,
    read: impl FnOnce(&Members<'_>) -> Result<T, ShapeError>,
) -> Result<(T, [u8; 16], Option<HeaderValue>), ApiError> {
    let body = Body::parse(bytes)?;
    let members = body.members();
    let project_id = members.text("project_id")?;
    let request = read(&members)?;
    own_project(project_id, project)?;
    Ok((request, fingerprint(body.json()), ignored_header(&body.ignored())))
}

fn own_project(project_id: Option<String>, project: &Project) -> Result<(), ApiError> {
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
    })
}

/// List payments, newest first.
#[utoipa::path(
    get, path = "/v1/payments", tag = "Payments", operation_id = "listPayments",
    params(
        ("page" = Option<i64>, Query, minimum = 1),
        ("page_size" = Option<i64>, Query, minimum = 1, maximum = 100),
        ("search" = Option<String>, Query, description = "Part of the reference, in any case", max_length = 255),
        ("payment_link_id" = Option<String>, Query, description = "Only payments made through that link"),
        ("status" = Option<String>, Query),
        ("method" = Option<String>, Query),
    ),
    responses(
        (status = 200, description = "One page", body = Listing<PaymentJson>),
        (status = 400, description = "VALIDATION_ERROR", body = ErrorJson),
        (status = 401, description = "UNAUTHORIZED", body = ErrorJson),
        (status = 403, description = "PROJECT_UNAVAILABLE or CORS_ORIGIN_FORBIDDEN", body = ErrorJson),
        (status = 429, description = "RATE_LIMITED", body = ErrorJson),
        (status = 503, description = "SERVICE_UNAVAILABLE or AUTH_UNAVAILABLE", body = ErrorJson),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Json<Listing<PaymentJson>>, ApiError> {
    let view = view(&app, &caller.project, &headers);
    let query = Query::parse(query.as_deref())?;
    let page = query.page()?;
    let link_id: Option<Option<LinkId>> = query.text("payment_link_id")?.map(|text| text.parse().ok());
    let filter = PaymentFilter {
        search: query.search()?,
        link_id: link_id.flatten(),
        status: query.choice("status", &STATUSES)?.map(|status| (status, view.now)),
        method: query.choice("method", &METHODS)?,
    };
    // Nothing was made through a link whose id cannot exist.
    let listed = match link_id {
        Some(None) => engine::Listed { items: Vec::new(), total: 0 },
        _ => app.engine.payments(caller.project.id, &filter, page.into()).await?,
    };
    Ok(Listing::of(listed, page, |payment| PaymentJson::of(payment, view)))
}

/// Get a payment.
#[utoipa::path(
    get, path = "/v1/payments/{paymentID}", tag = "Payments", operation_id = "getPayment",
    params(("paymentID" = String, Path)),
    responses(
        (status = 200, description = "The payment", body = PaymentJson),
        (status = 401, description = "UNAUTHORIZED", body = ErrorJson),
        (status = 403, description = "PROJECT_UNAVAILABLE or CORS_ORIGIN_FORBIDDEN", body = ErrorJson),
        (status = 404, description = "RESOURCE_NOT_FOUND", body = ErrorJson),
        (status = 429, description = "RATE_LIMITED", body = ErrorJson),
        (status = 503, description = "SERVICE_UNAVAILABLE or AUTH_UNAVAILABLE", body = ErrorJson),
    )
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<PaymentId>,
    headers: HeaderMap,
) -> Result<Json<PaymentJson>, ApiError> {
    let payment = app.engine.payment(caller.project.id, id).await?;
    Ok(Json(PaymentJson::of(payment, view(&app, &caller.project, &headers))))
}

/// How payments look to this caller, now.
pub(super) fn view<'a>(app: &'a App, project: &Project, headers: &HeaderMap) -> View<'a> {
    let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    View {
        now: app.engine.now(),
        success_word: project.success_word,
        language: Language::from_accept_language(accepted),
        checkout_url_base: &app.shared.checkout_url_base,
    }
}
