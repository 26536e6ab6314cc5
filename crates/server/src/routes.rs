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
    attended(addresses(&app), app)
}

fn addresses(app: &App) -> Router<App> {
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
}

/// What surrounds every address, whatever it does.
fn attended(addresses: Router<App>, app: App) -> Router {
    addresses
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

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, atomic::Ordering},
        time::Duration,
    };

    use axum::{body::Body, http::StatusCode};
    use engine::{Engine, SecretKey, Settings, SettlementDelays, SystemClock};
    use gateway::{Providers, Simulator};
    use http_body_util::BodyExt;
    use serde_json::{Value, json};
    use store::Store;
    use tempfile::TempDir;
    use tower::ServiceExt;

    use super::*;
    use crate::{app::Shared, limit::Limits};

    async fn app() -> (App, TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open_sqlite(&directory.path().join("lunas.db")).await.unwrap();
        let key = SecretKey::from_base64(&SecretKey::generate_base64()).unwrap();
        let shared = Shared {
            limits: Limits::new(0),
            own_origins: Vec::new(),
            checkout_url_base: String::new(),
            trusted_proxies: Vec::new(),
            body_timeout: Duration::from_secs(60),
            request_timeout: Duration::from_secs(60),
            draining: false.into(),
        };
        let providers = Providers { sandbox: Simulator::default(), production: None };
        let settings = Settings { fees: Default::default(), settlement: SettlementDelays::default() };
        let engine = Engine::new(store, providers, Arc::new(SystemClock), settings, key);
        (App { engine, shared: Arc::new(shared) }, directory)
    }

    async fn get_whole(router: Router, path: &str) -> (StatusCode, bool, Value) {
        let response = router.oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
        let (status, has_id) = (response.status(), response.headers().contains_key("x-request-id"));
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, has_id, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    #[tokio::test]
    async fn a_panic_is_500_with_the_envelope_and_tells_nothing() {
        async fn broken() {
            panic!("a secret detail");
        }
        let (app, _directory) = app().await;
        let router = attended(addresses(&app).route("/broken", get(broken)), app);
        let message = "something failed on our side";
        let envelope = json!({ "error": { "code": "INTERNAL_ERROR", "message": message } });
        assert_eq!(get_whole(router.clone(), "/broken").await, (StatusCode::INTERNAL_SERVER_ERROR, true, envelope));
        assert_eq!(get_whole(router, "/healthz").await.0, StatusCode::OK);
    }

    #[tokio::test]
    async fn a_server_that_is_stopping_is_alive_and_not_ready() {
        let (app, _directory) = app().await;
        let router = router(app.clone());
        assert_eq!(get_whole(router.clone(), "/readyz").await.0, StatusCode::OK);
        app.shared.draining.store(true, Ordering::Relaxed);
        let (status, has_id, body) = get_whole(router.clone(), "/readyz").await;
        assert_eq!((status, has_id), (StatusCode::SERVICE_UNAVAILABLE, true));
        assert_eq!(body["error"]["code"], "SERVICE_UNAVAILABLE");
        assert_eq!(get_whole(router, "/healthz").await.0, StatusCode::OK);
    }
}
