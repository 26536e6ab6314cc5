//! Which address leads where, declared once for the router and for the OpenAPI document.

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::{from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::{
    Modify, OpenApi,
    openapi::security::{Http, HttpAuthScheme, SecurityScheme},
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{api, app::App, auth, cors, error::ApiError, front};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Lunas",
        description = "Take payments in rupiah by QRIS and bank virtual account.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    modifiers(&ApiKeyScheme),
    security(("api_key" = []))
)]
struct Document;

struct ApiKeyScheme;

impl Modify for ApiKeyScheme {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        document.components.get_or_insert_default().add_security_scheme("api_key", scheme);
    }
}

/// Everything under `/v1` that the contract names.
fn api() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(api::payments::create, api::payments::list))
        .routes(routes!(api::payments::get))
        .routes(routes!(api::links::create, api::links::list))
        .routes(routes!(api::links::get))
        .routes(routes!(api::links::cancel))
        .routes(routes!(api::balance::get))
        .routes(routes!(api::keys::revoke))
        .routes(routes!(api::keys::list, api::keys::create))
        .routes(routes!(api::project::get))
        .routes(routes!(api::events::list))
        .routes(routes!(api::events::get))
        .routes(routes!(api::sandbox::simulate))
}

/// The OpenAPI document of this version, as JSON.
pub fn openapi_json() -> String {
    let document = api().into_openapi();
    document.to_pretty_json().unwrap_or_default()
}

pub(crate) fn router(app: App) -> Router {
    let (api, _) = api().split_for_parts();
    let document = openapi_json();
    // A wrong method is noticed inside the key check, which is the first of every request; a wrong path before it.
    api.method_not_allowed_fallback(method_not_allowed)
        .route_layer(from_fn_with_state(app.clone(), auth::authenticate))
        .route("/openapi.json", get(move || std::future::ready(described(document.clone()))))
        .route("/healthz", get(alive))
        .route("/readyz", get(ready))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(no_such_path)
        .layer(from_fn_with_state(app.clone(), cors::preflight))
        .layer(CatchPanicLayer::custom(front::panicked))
        .layer(from_fn(sniff_nothing))
        .layer(from_fn_with_state(app.clone(), front::attend))
        .with_state(app)
}

fn described(document: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], document).into_response()
}

/// The process runs.
async fn alive() -> &'static str {
    "ok\n"
}

/// The process can serve: it is not stopping and its database answers.
async fn ready(State(app): State<App>) -> Result<&'static str, ApiError> {
    if app.is_draining() || !app.engine.is_ready().await {
        return Err(ApiError::NotReady);
    }
    Ok("ready\n")
}

async fn no_such_path() -> ApiError {
    ApiError::NoSuchPath
}

async fn method_not_allowed(request: Request) -> ApiError {
    ApiError::MethodNotAllowed(request.method().to_string())
}

async fn sniff_nothing(request: Request, next: axum::middleware::Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
