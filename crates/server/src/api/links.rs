//! `/v1/payment-links`: hosted checkout pages for a fixed amount.

use axum::{
    Json,
    extract::{RawQuery, State},
};
use domain::{
    id::LinkId,
    idempotency::{Endpoint, Idempotency},
    link::{CustomerFields, Link},
    project::Project,
    rules::LinkRequest,
};
use engine::LinkFilter;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    answer::{Answer, Listing},
    body::{JsonBytes, OptionalKey},
    path::PathId,
    payments::decode,
};
use crate::{
    app::App,
    auth::Caller,
    error::{ApiError, ErrorJson},
    wire::{
        json::ShapeError,
        method::{MethodJson, method_request},
        query::Query,
        shape::Members,
    },
};

#[derive(Serialize, ToSchema)]
#[schema(title = "PaymentLink", as = PaymentLink)]
pub(crate) struct LinkJson {
    #[schema(example = "pl_01kzdq3f5ve8x9m2r7t4w6y8za")]
    id: String,
    project_id: String,
    merchant_name: String,
    /// Your own order id; made up when omitted at creation.
    reference: String,
    title: String,
    /// Empty when not given.
    description: String,
    #[schema(example = 50000)]
    amount: i64,
    #[schema(example = "IDR")]
    currency: &'static str,
    #[schema(example = "merchant")]
    fee_bearer: &'static str,
    /// One per allowed method.
    fee_previews: Vec<FeePreviewJson>,
    allowed_payment_methods: Vec<MethodJson>,
    allow_multiple_payments: bool,
    customer_fields: CustomerFieldsJson,
    /// `active`, `cancelled` or `inactive` (past its expiry).
    #[schema(example = "active")]
    status: &'static str,
    #[schema(format = DateTime)]
    created_at: String,
    url: String,
    /// Null when the link does not expire.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(title = "FeePreview", as = FeePreview)]
struct FeePreviewJson {
    payment_method: MethodJson,
    fee_amount: i64,
    customer_amount: i64,
    merchant_net: i64,
}

#[derive(Serialize, ToSchema)]
#[schema(title = "CustomerFields", as = CustomerFields)]
struct CustomerFieldsJson {
    name: bool,
    email: bool,
    phone: bool,
    address: bool,
}

impl LinkJson {
    fn of(app: &App, project: &Project, link: Link) -> LinkJson {
        let fees = app.engine.fees(project);
        let previews = link.methods.iter().map(|method| fees.preview(*method, link.amount));
        let CustomerFields { name, email, phone, address } = link.customer_fields;
        LinkJson {
            id: link.id.to_string(),
            project_id: link.project_id.to_string(),
            merchant_name: project.merchant.name.clone(),
            amount: link.amount.get(),
            currency: "IDR",
            fee_bearer: "merchant",
            fee_previews: previews
                .map(|preview| FeePreviewJson {
                    payment_method: preview.method.into(),
                    fee_amount: preview.fee.get(),
                    customer_amount: preview.customer_amount.get(),
                    merchant_net: preview.merchant_net.get(),
                })
                .collect(),
            allowed_payment_methods: link.methods.iter().copied().map(MethodJson::from).collect(),
            allow_multiple_payments: link.allow_multiple_payments,
            customer_fields: CustomerFieldsJson { name, email, phone, address },
            status: link.status_at(app.engine.now()).word(),
            created_at: link.created_at.to_string(),
            url: format!("{}/p/{}", app.shared.checkout_url_base, link.id),
            expires_at: link.expires_at.map(|at| at.to_string()),
            reference: link.reference,
            title: link.title,
            description: link.description,
        }
    }
}

/// Create a payment link.
#[utoipa::path(
    post, path = "/v1/payment-links", tag = "Payment links", operation_id = "createPaymentLink",
    params(("Idempotency-Key" = Option<String>, Header, max_length = 255)),
    request_body = crate::wire::requests::CreateLink,
    responses(
        (status = 201, description = "Created", body = LinkJson),
        (status = 200, description = "The link that an earlier request with this key made", body = LinkJson),
        (status = 400, description = "INVALID_REQUEST or VALIDATION_ERROR", body = ErrorJson),
        (status = 401, description = "UNAUTHORIZED", body = ErrorJson),
        (status = 403, description = "PROJECT_UNAVAILABLE or CORS_ORIGIN_FORBIDDEN", body = ErrorJson),
        (status = 404, description = "PROJECT_NOT_FOUND", body = ErrorJson),
        (status = 409, description = "IDEMPOTENCY_CONFLICT", body = ErrorJson),
        (status = 413, description = "INVALID_REQUEST: over 64 KiB", body = ErrorJson),
        (status = 415, description = "INVALID_REQUEST: not application/json", body = ErrorJson),
        (status = 429, description = "RATE_LIMITED", body = ErrorJson),
        (status = 503, description = "SERVICE_UNAVAILABLE or AUTH_UNAVAILABLE", body = ErrorJson),
    )
)]
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    OptionalKey(key): OptionalKey,
    JsonBytes(bytes): JsonBytes,
) -> Result<Answer<LinkJson>, ApiError> {
    let project = &caller.project;
    let (request, fingerprint, ignored) = decode(&bytes, project, link_request)?;
    let idempotency = key.map(|key| Idempotency::new(project.id, Endpoint::Links, &key, fingerprint));
    let created = app.engine.create_link(project, idempotency, request).await?;
    Ok(Answer::created(created, |link| LinkJson::of(&app, project, link)).ignoring(ignored))
}

fn link_request(members: &Members<'_>) -> Result<LinkRequest, ShapeError> {
    let methods = members.objects("allowed_payment_methods")?;
    let fields = members.object("customer_fields")?;
    Ok(LinkRequest {
        title: members.text("title")?,
        amount: members.integer("amount")?,
        reference: members.text("reference")?,
        description: members.text("description")?,
        expires_at: members.text("expires_at")?,
        methods: methods.map(|methods| methods.iter().map(method_request).collect()).transpose()?,
        allow_multiple_payments: members.boolean("allow_multiple_payments")?,
        customer_fields: fields.map(|fields| customer_fields(&fields)).transpose()?.unwrap_or_default(),
    })
}

fn customer_fields(members: &Members<'_>) -> Result<CustomerFields, ShapeError> {
    let wanted = |name| members.boolean(name).map(Option::unwrap_or_default);
    Ok(CustomerFields {
        name: wanted("name")?,
        email: wanted("email")?,
        phone: wanted("phone")?,
        address: wanted("address")?,
    })
}

/// List payment links, newest first.
#[utoipa::path(
    get, path = "/v1/payment-links", tag = "Payment links", operation_id = "listPaymentLinks",
    params(
        ("page" = Option<i64>, Query, minimum = 1),
        ("page_size" = Option<i64>, Query, minimum = 1, maximum = 100),
        ("search" = Option<String>, Query, description = "Part of the title or the reference, in any case", max_length = 255),
    ),
    responses(
        (status = 200, description = "One page", body = Listing<LinkJson>),
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
    RawQuery(query): RawQuery,
) -> Result<Json<Listing<LinkJson>>, ApiError> {
    let query = Query::parse(query.as_deref())?;
    let page = query.page()?;
    let filter = LinkFilter { search: query.search()? };
    let listed = app.engine.links(caller.project.id, &filter, page.into()).await?;
    Ok(Listing::of(listed, page, |link| LinkJson::of(&app, &caller.project, link)))
}

/// Get a payment link.
#[utoipa::path(
    get, path = "/v1/payment-links/{paymentLinkID}", tag = "Payment links", operation_id = "getPaymentLink",
    params(("paymentLinkID" = String, Path)),
    responses(
        (status = 200, description = "The link", body = LinkJson),
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
    PathId(id): PathId<LinkId>,
) -> Result<Json<LinkJson>, ApiError> {
    let link = app.engine.link(caller.project.id, id).await?;
    Ok(Json(LinkJson::of(&app, &caller.project, link)))
}

/// Cancel a payment link at once, and its pending payments with it.
#[utoipa::path(
    post, path = "/v1/payment-links/{paymentLinkID}/cancel", tag = "Payment links", operation_id = "cancelPaymentLink",
    params(("paymentLinkID" = String, Path)),
    responses(
        (status = 200, description = "The cancelled link", body = LinkJson),
        (status = 401, description = "UNAUTHORIZED", body = ErrorJson),
        (status = 403, description = "PROJECT_UNAVAILABLE or CORS_ORIGIN_FORBIDDEN", body = ErrorJson),
        (status = 404, description = "RESOURCE_NOT_FOUND", body = ErrorJson),
        (status = 409, description = "PAYMENT_LINK_NOT_ACTIVE", body = ErrorJson),
        (status = 429, description = "RATE_LIMITED", body = ErrorJson),
        (status = 503, description = "SERVICE_UNAVAILABLE or AUTH_UNAVAILABLE", body = ErrorJson),
    )
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<LinkId>,
) -> Result<Json<LinkJson>, ApiError> {
    let link = app.engine.cancel_link(caller.project.id, id).await?;
    Ok(Json(LinkJson::of(&app, &caller.project, link)))
}
