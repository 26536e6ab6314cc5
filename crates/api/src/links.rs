//! `/v1/payment-links`: creating, listing, reading and cancelling payment links. The pages themselves are in `checkout`.

use axum::{
    Json,
    extract::{RawQuery, State},
};
use domain::{
    id::LinkId,
    idempotency::{Endpoint, Idempotency},
    link::{CustomerFields, Link},
    money::Rupiah,
    orders::LinkRequest,
    project::Project,
};
use engine::LinkFilter;
use serde::Serialize;
use utoipa::{ToSchema, openapi::Required};
use web::{App, query::Query};
use wire::{metadata::MetadataJson, method::MethodJson, schemas};

use crate::{
    answer::{Answer, ErrorAnswer, Listing},
    auth::{Caller, PaymentsCaller},
    body::{
        JsonBytes, OptionalKey,
        json::ShapeError,
        members::{Members, method_request},
    },
    error::ApiError,
    error_code::{
        FORBIDDEN, IDEMPOTENCY_CONFLICT, JSON_BODY, KEYED, NEEDS_PAYMENTS, PAYMENT_LINK_NOT_ACTIVE, PROJECT_NOT_FOUND,
        RESOURCE_NOT_FOUND, USABLE, VALIDATION_ERROR, error_codes,
    },
    openapi::{created_from, created_to, idempotency_key, page, page_size, parameters, path, search},
    path_id::PathId,
    payments::decode,
};

parameters!(CreateParameters: idempotency_key(Required::False));
error_codes!(CreateErrors: KEYED, USABLE, JSON_BODY, &[NEEDS_PAYMENTS, PROJECT_NOT_FOUND, IDEMPOTENCY_CONFLICT]);
parameters!(
    ListParameters: page(), page_size(),
    search("Part of the title or the reference, in any case; `%` and `_` mean themselves."),
    created_from(), created_to(),
);
error_codes!(ListErrors: KEYED, USABLE, &[FORBIDDEN, VALIDATION_ERROR]);
parameters!(LinkParameters: path::<schemas::PaymentLinkId>("paymentLinkID"));
error_codes!(LinkErrors: KEYED, USABLE, &[FORBIDDEN, RESOURCE_NOT_FOUND]);
error_codes!(CancelErrors: KEYED, USABLE, &[NEEDS_PAYMENTS, RESOURCE_NOT_FOUND, PAYMENT_LINK_NOT_ACTIVE]);

/// A hosted checkout page.
#[derive(Serialize, ToSchema)]
#[schema(title = "PaymentLink", as = PaymentLink, examples(json!({
    "id": "pl_01kzdq3f5ve8x9m2r7t4w6y8za", "project_id": "prj_01kzdq3f5ve8x9m2r7t4w6y8za",
    "merchant_name": "Toko Kopi", "reference": "PL-7K3M9QX2TA", "title": "Kopi susu", "description": "",
    "amount": 50000, "currency": "IDR", "fee_bearer": "merchant",
    "fee_previews": [{
        "payment_method": { "type": "qris" }, "fee_amount": 350, "customer_amount": 50000, "merchant_net": 49650
    }],
    "allowed_payment_methods": [{ "type": "qris" }], "allow_multiple_payments": false,
    "customer_fields": { "name": true, "email": false, "phone": false, "address": false }, "status": "active",
    "created_at": "2026-11-14T09:30:00.000Z", "url": "https://pay.example/p/pl_01kzdq3f5ve8x9m2r7t4w6y8za",
    "expires_at": null
})))]
pub(crate) struct LinkJson {
    #[schema(value_type = schemas::PaymentLinkId)]
    id: String,
    #[schema(value_type = schemas::ProjectId)]
    project_id: String,
    /// The name that customers see as the payee.
    #[schema(examples("Toko Kopi"))]
    merchant_name: String,
    /// Your own order id; generated if omitted at creation.
    #[schema(min_length = 1, max_length = 255, examples("PL-7K3M9QX2TA"))]
    reference: String,
    /// Shown to the customer.
    #[schema(min_length = 1, max_length = 255, examples("Kopi susu"))]
    title: String,
    /// Shown below the title; empty when not given.
    #[schema(max_length = 2000, examples("Dua gelas, tanpa gula"))]
    description: String,
    /// What a payment costs; with `quantity_max` for one piece, with `amount_min` and `amount_max` always 0.
    #[schema(value_type = schemas::Amount)]
    amount: i64,
    #[schema(value_type = schemas::Currency)]
    currency: &'static str,
    #[schema(value_type = schemas::FeeBearer)]
    fee_bearer: &'static str,
    /// One per method in `allowed_payment_methods`. Where the customer chooses the quantity or the amount, it is for the smallest
    /// amount that can be paid by the method.
    fee_previews: Vec<FeePreviewJson>,
    /// The payment methods that the customer can choose from: those of the link that the project offers now.
    allowed_payment_methods: Vec<MethodJson>,
    /// Whether the link can be paid more than once.
    allow_multiple_payments: bool,
    /// The customer's details that the checkout page asks for.
    customer_fields: CustomerFieldsJson,
    #[schema(value_type = schemas::PaymentLinkStatus)]
    status: &'static str,
    #[schema(value_type = schemas::DateTime)]
    created_at: String,
    /// The checkout page, where the customer pays.
    #[schema(format = "uri", examples("https://pay.example/p/pl_01kzdq3f5ve8x9m2r7t4w6y8za"))]
    url: String,
    /// When the link expires; null if it does not.
    #[schema(value_type = Option<schemas::DateTime>, required)]
    expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = schemas::Metadata, required = false)]
    metadata: Option<MetadataJson>,
    /// Only where it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = schemas::QuantityMax, required = false)]
    quantity_max: Option<i64>,
    /// The least that the customer may type; only where it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = schemas::Amount, required = false)]
    amount_min: Option<i64>,
    /// The most that the customer may type; only where it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = schemas::Amount, required = false)]
    amount_max: Option<i64>,
    /// Only where it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = schemas::ReturnUrl, required = false)]
    return_url: Option<String>,
}

/// The fee of a payment by one method.
#[derive(Serialize, ToSchema)]
#[schema(title = "FeePreview", as = FeePreview)]
struct FeePreviewJson {
    payment_method: MethodJson,
    /// The fee that the merchant is charged.
    #[schema(value_type = schemas::Amount)]
    fee_amount: i64,
    /// The amount that the customer pays.
    #[schema(value_type = schemas::Amount)]
    customer_amount: i64,
    /// The amount that the merchant receives.
    #[schema(value_type = schemas::Amount)]
    merchant_net: i64,
}

/// The customer's details that the checkout page collects.
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
        let methods = link.offered_methods(project);
        let previews = methods.iter().map(|method| fees.preview(*method, link.least_by(*method)));
        let (least, most) = link.pricing.range().unzip();
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
            allowed_payment_methods: methods.iter().copied().map(MethodJson::from).collect(),
            allow_multiple_payments: link.allow_multiple_payments,
            customer_fields: CustomerFieldsJson { name, email, phone, address },
            status: link.status_at(app.engine.now(), project).word(),
            created_at: link.created_at.to_string(),
            url: format!("{}/p/{}", app.settings.pages_url, link.id),
            expires_at: link.expires_at.map(|at| at.to_string()),
            reference: link.reference,
            title: link.title,
            description: link.description,
            metadata: link.metadata.map(MetadataJson),
            quantity_max: link.pricing.quantity_max(),
            amount_min: least.map(Rupiah::get),
            amount_max: most.map(Rupiah::get),
            return_url: link.return_url.map(|url| url.as_str().to_owned()),
        }
    }
}

// Only for the OpenAPI document. The body itself is read member by member, so that each mistake gets its own message.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "project_id": "prj_01kzdq3f5ve8x9m2r7t4w6y8za", "title": "Kopi susu", "amount": 50000,
    "allowed_payment_methods": [{ "type": "qris" }, { "type": "virtual_account", "bank": "bca" }]
})))]
pub(crate) struct CreateLink {
    /// The project of the API key.
    #[schema(value_type = schemas::ProjectId)]
    project_id: String,
    /// Shown to the customer.
    #[schema(
        min_length = 1,
        max_length = 255,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$",
        examples("Kopi susu")
    )]
    title: String,
    /// Whole rupiah; at least the highest minimum among the allowed methods: 100 for `qris`, 10000 for `virtual_account`. Required,
    /// unless `amount_min` and `amount_max` are given, which it must not be given with.
    #[schema(minimum = 100, maximum = 999_999_999_999_i64, examples(50000))]
    amount: Option<i64>,
    /// The minimum of the methods then holds for `amount` times the quantity.
    #[schema(value_type = Option<schemas::QuantityMax>)]
    quantity_max: Option<i64>,
    /// The customer types the amount: at least this. Only together with `amount_max`.
    #[schema(minimum = 100, maximum = 999_999_999_999_i64, examples(10000))]
    amount_min: Option<i64>,
    /// The customer types the amount: at most this. Only together with `amount_min`, and no less.
    #[schema(minimum = 100, maximum = 999_999_999_999_i64, examples(500_000))]
    amount_max: Option<i64>,
    /// Your own order id; generated if omitted.
    #[schema(
        min_length = 1,
        max_length = 255,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$",
        examples("order-1")
    )]
    reference: Option<String>,
    /// Shown below the title; may have several lines.
    #[schema(
        max_length = 2000,
        pattern = "^[^\\u0000-\\u0009\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$",
        examples("Dua gelas")
    )]
    description: Option<String>,
    /// When the link expires and takes no more payments; never if omitted.
    #[schema(value_type = Option<schemas::FutureDateTime>)]
    expires_at: Option<String>,
    /// The allowed payment methods, each at most once; the project's default methods if omitted or empty.
    #[schema(value_type = Option<Vec<schemas::AllowedMethodBody>>, max_items = 14)]
    allowed_payment_methods: Option<String>,
    /// Whether the link can be paid more than once; false if omitted.
    allow_multiple_payments: Option<bool>,
    customer_fields: Option<CustomerFieldsBody>,
    /// Payments made through the link carry it too.
    #[schema(value_type = Option<schemas::Metadata>)]
    metadata: Option<String>,
    #[schema(value_type = Option<schemas::ReturnUrl>)]
    return_url: Option<String>,
}

/// The details that the checkout page asks the customer for; false if omitted.
#[derive(Serialize, ToSchema)]
pub(crate) struct CustomerFieldsBody {
    name: Option<bool>,
    email: Option<bool>,
    phone: Option<bool>,
    address: Option<bool>,
}

/// Create a payment link.
#[utoipa::path(
    post, path = "/v1/payment-links", tag = "Payment links", operation_id = "createPaymentLink",
    security(("api_key" = ["payments"])),
    params(CreateParameters),
    request_body = CreateLink,
    responses(
        (status = 201, description = "Created", body = LinkJson),
        (status = 200, description = "The link that an earlier request with this Idempotency-Key created", body = LinkJson),
        CreateErrors
    )
)]
pub(crate) async fn create(
    State(app): State<App>,
    caller: PaymentsCaller,
    OptionalKey(key): OptionalKey,
    JsonBytes(bytes): JsonBytes,
) -> Result<Answer<LinkJson>, ErrorAnswer> {
    let project = &caller.project;
    let (request, fingerprint, ignored) = decode(&bytes, project, link_request)?;
    let idempotency =
        key.map(|key| Idempotency { project_id: project.id, endpoint: Endpoint::Links, key, request: fingerprint });
    let created = app.engine.create_link(project, idempotency, request).await;
    let created = created.map_err(|error| ErrorAnswer::ignoring(error, ignored.as_ref()))?;
    Ok(Answer::created(created, |link| LinkJson::of(&app, project, link)).ignoring(ignored))
}

fn link_request(members: &Members<'_>) -> Result<LinkRequest, ShapeError> {
    let methods = members.objects("allowed_payment_methods")?;
    let fields = members.object("customer_fields")?;
    Ok(LinkRequest {
        title: members.text("title")?,
        amount: members.integer("amount")?,
        quantity_max: members.integer("quantity_max")?,
        amount_min: members.integer("amount_min")?,
        amount_max: members.integer("amount_max")?,
        reference: members.text("reference")?,
        description: members.text("description")?,
        expires_at: members.text("expires_at")?,
        methods: methods.map(|methods| methods.iter().map(method_request).collect()).transpose()?,
        allow_multiple_payments: members.boolean("allow_multiple_payments")?,
        metadata: members.texts("metadata")?,
        return_url: members.text("return_url")?,
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
    params(ListParameters),
    responses((status = 200, description = "One page", body = Listing<LinkJson>), ListErrors)
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Result<Json<Listing<LinkJson>>, ApiError> {
    let query = Query::parse(query.as_deref());
    let page = query.page()?;
    let filter = LinkFilter { search: query.search()?, created: query.created()? };
    let listed = app.engine.links(caller.project.id, &filter, page.into()).await?;
    Ok(Listing::of(listed, page, |link| LinkJson::of(&app, &caller.project, link)))
}

/// Get a payment link.
#[utoipa::path(
    get, path = "/v1/payment-links/{paymentLinkID}", tag = "Payment links", operation_id = "getPaymentLink",
    params(LinkParameters),
    responses((status = 200, description = "The link", body = LinkJson), LinkErrors)
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<LinkId>,
) -> Result<Json<LinkJson>, ApiError> {
    let link = app.engine.link(caller.project.id, id).await?;
    Ok(Json(LinkJson::of(&app, &caller.project, link)))
}

/// Cancel a payment link and its pending payments at once.
#[utoipa::path(
    post, path = "/v1/payment-links/{paymentLinkID}/cancel", tag = "Payment links", operation_id = "cancelPaymentLink",
    security(("api_key" = ["payments"])),
    params(LinkParameters),
    responses((status = 200, description = "The cancelled link", body = LinkJson), CancelErrors)
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    caller: PaymentsCaller,
    PathId(id): PathId<LinkId>,
) -> Result<Json<LinkJson>, ApiError> {
    let link = app.engine.cancel_link(&caller.project, id).await?;
    Ok(Json(LinkJson::of(&app, &caller.project, link)))
}
