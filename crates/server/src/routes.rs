//! Which address leads where, declared once for the router and for the OpenAPI document.
//!
//! An address exists only by `routes!`, which takes its path from the handler's description, so none is undescribed.

use axum::{
    Router,
    extract::{Request, State},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
};
use utoipa::{
    Modify, OpenApi,
    openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    api,
    app::App,
    auth, checkout,
    dashboard::{self, session},
    error::ApiError,
    pages::{assets, surface::Surface, visitor::Visitor},
};

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

/// How callers say who they are.
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

/// What of `/v1` a key alone opens.
fn keyed() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(api::payments::create, api::payments::list))
        .routes(routes!(api::payments::get))
        .routes(routes!(api::links::create, api::links::list))
        .routes(routes!(api::links::get))
        .routes(routes!(api::links::cancel))
        .routes(routes!(api::balance::get))
        .routes(routes!(api::keys::revoke))
        .routes(routes!(api::sandbox::simulate))
}

/// What of `/v1` a session of the dashboard opens too.
fn keyed_or_signed_in() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(api::keys::list, api::keys::create))
        .routes(routes!(api::project::get))
        .routes(routes!(api::events::list))
        .routes(routes!(api::events::get))
}

/// What anyone may ask.
fn open() -> OpenApiRouter<App> {
    let mut open = OpenApiRouter::new()
        .routes(routes!(api::service::alive))
        .routes(routes!(api::service::ready))
        .routes(routes!(api::service::describe));
    for path in open.get_openapi_mut().paths.paths.values_mut() {
        if let Some(operation) = &mut path.get {
            operation.security = Some(Vec::new());
        }
    }
    open
}

/// What the declarations of all endpoints add up to.
pub(crate) fn described() -> utoipa::openapi::OpenApi {
    keyed().merge(keyed_or_signed_in()).merge(open()).into_openapi()
}

pub(crate) fn router(app: &App) -> Router {
    addresses(app).with_state(app.clone())
}

fn addresses(app: &App) -> Router<App> {
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
        .merge(checkout::routes(app))
        .merge(dashboard::routes(app))
        .merge(assets::router())
        .fallback(no_such_path)
}

async fn no_such_path(State(app): State<App>, request: Request) -> Response {
    match Surface::of(request.uri().path()) {
        Some(surface) => surface.problem_page(&app, &Visitor::of(&app, &request), ApiError::NoSuchPath),
        None => ApiError::NoSuchPath.into_response(),
    }
}

async fn method_not_allowed(request: Request) -> ApiError {
    ApiError::MethodNotAllowed(request.method().to_string())
}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::Ordering, time::Duration};

    use axum::{
        body::Body,
        http::{StatusCode, response::Parts},
        routing::get,
    };
    use http_body_util::BodyExt;
    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::*;
    use crate::{front, limit::Limits};

    async fn app() -> (App, TempDir) {
        app_within(Duration::from_secs(60)).await
    }

    /// A server that gives requests so long.
    async fn app_within(request_timeout: Duration) -> (App, TempDir) {
        App::sample(Limits::new(0), request_timeout).await
    }

    async fn get_text(app: &App, router: &Router, path: &str) -> (Parts, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let (head, body) = front::attend(app.clone(), router.clone(), request).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (head, String::from_utf8(body.to_vec()).unwrap())
    }

    async fn get_whole(app: &App, router: &Router, path: &str) -> (StatusCode, bool, Value) {
        let (head, body) = get_text(app, router, path).await;
        let has_id = head.headers.contains_key("x-request-id");
        (head.status, has_id, serde_json::from_str(&body).unwrap_or(Value::Null))
    }

    #[tokio::test]
    async fn a_panic_is_500_with_the_envelope_and_tells_nothing() {
        async fn broken() {
            panic!("a secret detail");
        }
        let (app, _directory) = app().await;
        let router = addresses(&app).route("/broken", get(broken)).with_state(app.clone());
        let message = "something failed on our side";
        let envelope = json!({ "error": { "code": "INTERNAL_ERROR", "message": message } });
        assert_eq!(get_whole(&app, &router, "/broken").await, (StatusCode::INTERNAL_SERVER_ERROR, true, envelope));
        assert_eq!(get_whole(&app, &router, "/healthz").await.0, StatusCode::OK);
    }

    #[tokio::test]
    async fn a_page_that_breaks_or_takes_too_long_is_a_page_that_names_its_request() {
        async fn broken() {
            panic!("a secret detail");
        }
        for (request_timeout, path, status, retry_after) in [
            (Duration::from_secs(60), "/pay/x/broken", StatusCode::INTERNAL_SERVER_ERROR, None),
            (Duration::from_millis(1), "/pay/x/stuck", StatusCode::SERVICE_UNAVAILABLE, Some("1")),
        ] {
            let (app, _directory) = app_within(request_timeout).await;
            let router = addresses(&app).route("/pay/{id}/broken", get(broken));
            let router = router.route("/pay/{id}/stuck", get(std::future::pending::<()>)).with_state(app.clone());
            let (head, body) = get_text(&app, &router, path).await;
            let header = |name: &str| head.headers.get(name).map(|value| value.to_str().unwrap());
            assert_eq!((head.status, header("retry-after")), (status, retry_after), "{body}");
            assert_eq!(header("content-type"), Some("text/html; charset=utf-8"));
            assert_eq!((header("cache-control"), header("x-robots-tag")), (Some("no-store"), Some("noindex")));
            assert!(header("content-security-policy").is_some_and(|policy| policy.starts_with("default-src 'none'")));
            assert!(body.contains(header("x-request-id").unwrap()) && !body.contains("secret detail"), "{body}");
        }
    }

    #[tokio::test]
    async fn a_server_that_is_stopping_is_alive_and_not_ready() {
        let (app, _directory) = app().await;
        let router = router(&app);
        assert_eq!(get_whole(&app, &router, "/readyz").await.0, StatusCode::OK);
        app.shared.draining.store(true, Ordering::Relaxed);
        let (status, has_id, body) = get_whole(&app, &router, "/readyz").await;
        assert_eq!((status, has_id), (StatusCode::SERVICE_UNAVAILABLE, true));
        assert_eq!(body["error"]["code"], "SERVICE_UNAVAILABLE");
        assert_eq!(get_whole(&app, &router, "/healthz").await.0, StatusCode::OK);
    }
}
