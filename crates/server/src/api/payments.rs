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
use engine::{MethodFilter, PaymentFilter};
use utoipa::openapi::Required;

use super::{
    answer::{Answer, Listing, Refused},
    body::{JsonBytes, RequiredKey},
    path::PathId,
};
use crate::{
    app::App,
    auth::Caller,
    document::{accept_language, idempotency_key, page, page_size, parameters, path, query, search, words},
    error::ApiError,
    refusal::{
        IDEMPOTENCY_CONFLICT, IDEMPOTENCY_KEY_REQUIRED, JSON_BODY, KEYED, PAYMENT_PROVIDER_UNAVAILABLE,
        PROJECT_NOT_FOUND, RESOURCE_NOT_FOUND, USABLE, VALIDATION_ERROR, refusals,
    },
    wire::{
        fingerprint::fingerprint,
        json::ShapeError,
        method::method_request,
        payment::{PaymentJson, View},
        query::Query,
        shape::{Body, Members, ignored_header},
    },
};

parameters!(CreateParameters: idempotency_key(Required::True), accept_language());
refusals!(
    CreateRefusals: KEYED, USABLE, JSON_BODY,
    &[IDEMPOTENCY_KEY_REQUIRED, PROJECT_NOT_FOUND, IDEMPOTENCY_CONFLICT, PAYMENT_PROVIDER_UNAVAILABLE]
);
parameters!(
    ListParameters: page(), page_size(),
    search("Part of the reference, in any case; `%` and `_` mean themselves."),
    query::<String>("payment_link_id", "Only payments made through the link with this id; none when there is no such link."),
    query::<words::PaymentStatus>("status", "Only payments in this state; `paid` and `succeeded` mean the same."),
    query::<words::MethodType>("method", "Only payments by this method."),
    accept_language(),
);
refusals!(ListRefusals: KEYED, USABLE, &[VALIDATION_ERROR]);
parameters!(PaymentParameters: path::<words::PaymentId>("paymentID"), accept_language());
refusals!(PaymentRefusals: KEYED, USABLE, &[RESOURCE_NOT_FOUND]);

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
    params(CreateParameters),
    request_body = crate::wire::requests::CreatePayment,
    responses(
        (status = 201, description = "Created", body = PaymentJson),
        (status = 200, description = "The payment that an earlier request with this key made", body = PaymentJson),
        CreateRefusals
    )
)]
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    RequiredKey(key): RequiredKey,
    headers: HeaderMap,
    JsonBytes(bytes): JsonBytes,
) -> Result<Answer<PaymentJson>, Refused> {
    let project = &caller.project;
    let (request, fingerprint, ignored) = decode(&bytes, project, payment_request)?;
    let idempotency = Idempotency { project_id: project.id, endpoint: Endpoint::Payments, key, request: fingerprint };
    let created = app.engine.create_payment(project, idempotency, request).await;
    let created = created.map_err(|error| Refused::ignoring(error, ignored.as_ref()))?;
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
    params(ListParameters),
    responses((status = 200, description = "One page", body = Listing<PaymentJson>), ListRefusals)
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
        method: query.choice("method", &METHODS)?.map(MethodFilter::Kind),
        created: None,
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
    params(PaymentParameters),
    responses((status = 200, description = "The payment", body = PaymentJson), PaymentRefusals)
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
