//! The routes of the API, declared once for the router and for the OpenAPI document.
//!
//! Every route is added by `routes!`, which takes the path from the handler's description, so no route is undocumented. The
//! endpoint of the document itself is here too, since the document is built from these declarations.

use std::sync::LazyLock;

use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, HeaderValue},
    middleware::from_fn_with_state,
    response::Response,
};
use serde_json::Value;
use utoipa::{
    Modify, OpenApi,
    openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
};
use utoipa_axum::{router::OpenApiRouter, routes};
use web::{App, Failure, session, stored_file::StoredFile};
use wire::schemas;

use crate::{
    audit, auth, balance, banks, cors,
    error::ApiError,
    events,
    health::{self, HealthErrors},
    keys, links, openapi, payments, project, receipts, refunds, sandbox,
};

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| openapi::finished(described()));
/// The document as it is sent: compressed once.
static DOCUMENT_FILE: LazyLock<StoredFile> =
    LazyLock::new(|| StoredFile::new("application/json", openapi_json().into_bytes()));
/// Clients ask each time whether the document is still the same: it changes with the program.
const REVALIDATED: HeaderValue = HeaderValue::from_static("public, no-cache");

/// The OpenAPI document of this version, as JSON.
pub fn openapi_json() -> String {
    format!("{:#}", *DOCUMENT)
}

/// The same as a value, for pages that describe the API.
pub fn openapi_document() -> &'static Value {
    &DOCUMENT
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Lunas",
        description = "Take payments in rupiah by QRIS and bank virtual account, and give money back. Amounts are whole rupiah and times are \
                       UTC. Every error has the same envelope, also where no endpoint is: an unknown path is 404 \
                       `RESOURCE_NOT_FOUND`, a wrong method 405 `INVALID_REQUEST` with the header `Allow`. Unknown \
                       members of a body and unknown query parameters are ignored.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    servers((url = "/", description = "Where this document came from")),
    tags(
        (name = "Payments", description = "Direct payments, by one method each"),
        (name = "Refunds", description = "Money back to customers, and the banks that it can go to"),
        (name = "Payment links", description = "Hosted checkout pages"),
        (name = "Receipts", description = "Money that fits no payment, held until somebody decides about it"),
        (name = "Balance", description = "The project's money"),
        (name = "Events", description = "What happened, for example while a webhook receiver was down"),
        (name = "API keys", description = "Revoking keys; creating and listing them needs a session of the dashboard"),
        (name = "Project", description = "The project's settings; needs a session of the dashboard"),
        (name = "Sandbox", description = "Simulates the customer's bank"),
        (name = "Service", description = "For the operator's load balancers and monitoring; without a key"),
    ),
    modifiers(&Schemes),
    security(("api_key" = []))
)]
struct Document;

/// Adds the two ways to authenticate to the document.
struct Schemes;

impl Modify for Schemes {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let description = "An API key of the project: `sk_test_…` in the sandbox, `sk_live_…` in production.";
        let key = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(description)).build();
        components.add_security_scheme("api_key", SecurityScheme::Http(key));
        let description = "The session cookie of a user who is signed in to the dashboard, for its own pages; where the service \
                           is not reached over https, its name is `lunas_session`. It is used only where no `Authorization` \
                           is sent. With it, `project_id` names the project.";
        let session = ApiKeyValue::with_description(session::cookie_name(true), description);
        components.add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(session)));
    }
}

/// The routes of `/v1` that need an API key.
fn keyed() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(payments::create, payments::list))
        .routes(routes!(payments::get))
        .routes(routes!(refunds::create))
        .routes(routes!(refunds::cancel))
        .routes(routes!(banks::list))
        .routes(routes!(links::create, links::list))
        .routes(routes!(links::get))
        .routes(routes!(links::cancel))
        .routes(routes!(balance::get))
        .routes(routes!(keys::revoke))
        .routes(routes!(sandbox::simulate))
        .routes(routes!(sandbox::refunds::simulate))
}

/// The routes of `/v1` that need an API key or a session of the dashboard.
fn keyed_or_signed_in() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(keys::list, keys::create))
        .routes(routes!(project::get))
        .routes(routes!(audit::list))
        .routes(routes!(events::list))
        .routes(routes!(events::get))
        .routes(routes!(refunds::list))
        .routes(routes!(refunds::get))
        .routes(routes!(receipts::list))
        .routes(routes!(receipts::get))
        .routes(routes!(receipts::accept))
        .routes(routes!(receipts::give_back))
}

/// The routes that need neither.
fn open() -> OpenApiRouter<App> {
    let mut open =
        OpenApiRouter::new().routes(routes!(health::alive)).routes(routes!(health::ready)).routes(routes!(describe));
    for path in open.get_openapi_mut().paths.paths.values_mut() {
        if let Some(operation) = &mut path.get {
            operation.security = Some(Vec::new());
        }
    }
    open
}

/// Get this document.
#[utoipa::path(
    get, path = "/openapi.json", tag = "Service", operation_id = "getOpenApi",
    responses(
        (status = 200, description = "The document", body = schemas::OpenApiDocument),
        (status = 304, description = "The document has still the `ETag` that `If-None-Match` names"),
        HealthErrors
    )
)]
async fn describe(headers: HeaderMap) -> Response {
    DOCUMENT_FILE.answer(&headers, REVALIDATED)
}

/// The document as the endpoints declare it, before [`openapi::finished`] adds what holds for all of them.
fn described() -> utoipa::openapi::OpenApi {
    keyed().merge(keyed_or_signed_in()).merge(open()).into_openapi()
}

/// The router of the whole API.
pub(crate) fn router(app: &App) -> Router {
    // An unknown path is answered before the key is checked, and a wrong method after it: the contract has this order.
    let keyed: Router<App> = keyed().into();
    let keyed = keyed
        .method_not_allowed_fallback(method_not_allowed)
        .route_layer(from_fn_with_state(app.clone(), auth::require_key));
    let signed_in: Router<App> = keyed_or_signed_in().into();
    let signed_in = signed_in
        .method_not_allowed_fallback(method_not_allowed)
        .route_layer(from_fn_with_state(app.clone(), auth::require_key_or_session));
    let open: Router<App> = open().into();
    keyed
        .merge(signed_in)
        .merge(open.method_not_allowed_fallback(method_not_allowed))
        .fallback(no_such_path)
        .layer(from_fn_with_state(app.clone(), cors::answer_preflights))
        .with_state(app.clone())
}

async fn no_such_path() -> ApiError {
    Failure::NoSuchPath.into()
}

async fn method_not_allowed(request: Request) -> ApiError {
    ApiError::MethodNotAllowed(request.method().to_string())
}
