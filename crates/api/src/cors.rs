//! CORS: which web pages may call the API from a browser. It never lets a page in that neither a project lists nor we serve.

use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use domain::id::ProjectId;
use web::App;

use crate::error::ApiError;

const ALLOWED_METHODS: &str = "GET, POST, DELETE";
const ALLOWED_HEADERS: &str = "Authorization, Content-Type, Idempotency-Key, Accept-Language, X-Request-Id";
const EXPOSED_HEADERS: &str = "X-Request-Id, Idempotent-Replayed, X-Ignored-Members, RateLimit-Limit, \
                               RateLimit-Remaining, RateLimit-Reset, Retry-After";
const PREFLIGHT_SECONDS: &str = "600";

/// Answers preflight requests for the paths under `/v1` that are routes, and passes all other requests on.
pub(crate) async fn answer_preflights(State(app): State<App>, request: Request, next: Next) -> Response {
    match preflight_origin(&request) {
        Some(origin) => answer_preflight(&app, &origin).await.unwrap_or_else(ApiError::into_response),
        None => next.run(request).await,
    }
}

/// The origin that a preflight request asks for; none where the request is no preflight.
fn preflight_origin(request: &Request) -> Option<HeaderValue> {
    let is_preflight = request.method() == Method::OPTIONS
        && request.extensions().get::<MatchedPath>().is_some_and(|path| path.as_str().starts_with("/v1/"))
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    if is_preflight { request.headers().get(header::ORIGIN).cloned() } else { None }
}

/// Answers a preflight. It carries no key, so the origin is allowed if any active project lists it; the request that follows is
/// checked against its own project.
async fn answer_preflight(app: &App, origin: &HeaderValue) -> Result<Response, ApiError> {
    let text = origin.to_str().map_err(|_| ApiError::OriginForbidden)?;
    if !is_own(app, origin) && !app.engine.anyone_allows_origin(text).await? {
        return Err(ApiError::OriginForbidden);
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    allow(headers, origin);
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(ALLOWED_METHODS));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED_HEADERS));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(PREFLIGHT_SECONDS));
    Ok(response)
}

/// The request's origin, if it has one. It is an error if the project does not list it.
pub(crate) async fn allowed_origin(
    app: &App,
    project: ProjectId,
    headers: &HeaderMap,
) -> Result<Option<HeaderValue>, ApiError> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else { return Ok(None) };
    if origins.next().is_some() {
        return Err(ApiError::OriginForbidden);
    }
    let text = origin.to_str().map_err(|_| ApiError::OriginForbidden)?;
    if is_own(app, origin) || app.engine.allows_origin(project, text).await? {
        return Ok(Some(origin.clone()));
    }
    Err(ApiError::OriginForbidden)
}

/// Whether an origin is one of the service's own.
pub(crate) fn is_own(app: &App, origin: &HeaderValue) -> bool {
    app.settings.own_origins.iter().any(|own| origin == own.as_str())
}

/// Adds the headers that let pages of `origin` read the answer.
pub(crate) fn allow(headers: &mut HeaderMap, origin: &HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED_HEADERS));
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}
