//! Which address leads where, declared once for the router and for the OpenAPI document.
//!
//! An address exists only by `routes!`, which takes its path from the handler's description, so none is undescribed. The endpoint that
//! answers the document is here, since the document is made of these declarations.

use std::sync::LazyLock;

use axum::{
    Router,
    extract::Request,
    http::header,
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
};
use utoipa::{
    Modify, OpenApi,
    openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
};
use utoipa_axum::{router::OpenApiRouter, routes};
use web::{App, Failure, session};
use wire::schemas;

use crate::{
    auth, balance, cors, document,
    error::ApiError,
    events, keys, links, payments, project, sandbox,
    service::{self, ServiceErrors},
};

static DOCUMENT: LazyLock<String> = LazyLock::new(|| format!("{:#}", document::finished(described())));

/// The OpenAPI document of this version, as JSON.
pub fn openapi_json() -> String {
    DOCUMENT.clone()
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Lunas",
        description = "Take payments in rupiah by QRIS and bank virtual account. Amounts are whole rupiah and times are \
                       UTC. Every error has the same envelope, also where no endpoint is: an unknown path is 404 \
                       `RESOURCE_NOT_FOUND`, a wrong method 405 `INVALID_REQUEST` with the header `Allow`. Unknown \
                       members of a body and unknown query parameters are ignored.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    servers((url = "/", description = "Where this document came from")),
    tags(
        (name = "Payments", description = "Direct payments, by one method each"),
        (name = "Payment links", description = "Hosted checkout pages for a fixed amount"),
        (name = "Balance", description = "What the project has"),
        (name = "Events", description = "What happened, for receivers that were down"),
        (name = "API keys", description = "Revoking keys; making and listing them needs a session of the dashboard"),
        (name = "Project", description = "What a project is set to; needs a session of the dashboard"),
        (name = "Sandbox", description = "Play the bank"),
        (name = "Service", description = "For whoever runs the service; without a key"),
    ),
    modifiers(&Schemes),
    security(("api_key" = []))
)]
struct Document;

/// How callers authenticate.
struct Schemes;

impl Modify for Schemes {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let description = "An API key of the project: `sk_test_…` in the sandbox, `sk_live_…` in production.";
        let key = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(description)).build();
        components.add_security_scheme("api_key", SecurityScheme::Http(key));
        let description = "The cookie of somebody who is signed in to the dashboard, for its own pages; where the service is \
                           not reached by https, its name is `lunas_session`. It is looked at only where no `Authorization` \
                           is sent. With it `project_id` says whose project is meant.";
        let session = ApiKeyValue::with_description(session::cookie_name(true), description);
        components.add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(session)));
    }
}

/// The addresses of `/v1` that take a key only.
fn keyed() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(payments::create, payments::list))
        .routes(routes!(payments::get))
        .routes(routes!(links::create, links::list))
        .routes(routes!(links::get))
        .routes(routes!(links::cancel))
        .routes(routes!(balance::get))
        .routes(routes!(keys::revoke))
        .routes(routes!(sandbox::simulate))
}

/// The addresses of `/v1` that take a session of the dashboard too.
fn keyed_or_signed_in() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(keys::list, keys::create))
        .routes(routes!(project::get))
        .routes(routes!(events::list))
        .routes(routes!(events::get))
}

/// The addresses that take neither.
fn open() -> OpenApiRouter<App> {
    let mut open =
        OpenApiRouter::new().routes(routes!(service::alive)).routes(routes!(service::ready)).routes(routes!(describe));
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
    responses((status = 200, description = "The document", body = schemas::OpenApiDocument), ServiceErrors)
)]
async fn describe() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], openapi_json()).into_response()
}

/// What all endpoints declare.
fn described() -> utoipa::openapi::OpenApi {
    keyed().merge(keyed_or_signed_in()).merge(open()).into_openapi()
}

/// Every address of the API.
pub(crate) fn router(app: &App) -> Router {
    // A wrong method is noticed inside the key check, which is the first of every request; a wrong path before it.
    let keyed: Router<App> = keyed().into();
    let keyed = keyed
        .method_not_allowed_fallback(method_not_allowed)
        .route_layer(from_fn_with_state(app.clone(), auth::by_key));
    let signed_in: Router<App> = keyed_or_signed_in().into();
    let signed_in = signed_in
        .method_not_allowed_fallback(method_not_allowed)
        .route_layer(from_fn_with_state(app.clone(), auth::by_key_or_session));
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
