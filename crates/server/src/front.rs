//! The outermost layer: every request gets an id, a time limit and one line in the log, and every answer its id.

use std::{any::Any, panic::AssertUnwindSafe, time::Instant};

use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};
use domain::id::{KeyId, ProjectId, UserId};
use futures_util::FutureExt;
use rand::RngExt;
use tower::ServiceExt;

use crate::{
    app::App,
    client, cors,
    dashboard::INVITATIONS,
    error::{ApiError, Cause},
    pages::{surface::Surface, visitor::Visitor},
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const REQUEST_ID_CHARACTERS: usize = 128;

/// The request's id, put beside it for whoever wants to name it.
#[derive(Clone)]
pub(crate) struct RequestId(pub(crate) HeaderValue);

/// Who called, for the log.
#[derive(Clone, Copy)]
pub(crate) struct LoggedCaller {
    /// Whose data was asked for; none where somebody who is signed in named no project of theirs.
    pub(crate) project_id: Option<ProjectId>,
    pub(crate) who: LoggedAs,
}

#[derive(Clone, Copy)]
pub(crate) enum LoggedAs {
    Key(KeyId),
    User(UserId),
}

impl LoggedAs {
    fn key_id(self) -> Option<KeyId> {
        if let LoggedAs::Key(id) = self { Some(id) } else { None }
    }

    fn user_id(self) -> Option<UserId> {
        if let LoggedAs::User(id) = self { Some(id) } else { None }
    }
}

/// Answers one request: what it asks for, or an error when that took too long or broke.
pub(crate) async fn attend(app: App, addresses: Router, mut request: Request) -> Response {
    let started = Instant::now();
    let id = request_id(request.headers());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    request.extensions_mut().insert(RequestId(id.clone()));
    // People get a page in their language where clients of the API get the envelope.
    let visitor = Surface::of(&path).map(|surface| (surface, Visitor::of(&app, &request)));
    if let Some((_, visitor)) = &visitor {
        request.extensions_mut().insert(visitor.clone());
    }
    let told = |error: ApiError| match &visitor {
        Some((surface, visitor)) => surface.problem_page(&app, visitor, error),
        None => error.into_response(),
    };
    let client = client::address(request.extensions(), request.headers(), &app.shared.trusted_proxies);
    let answer = AssertUnwindSafe(answer(&app, addresses, request)).catch_unwind();
    let mut response = match tokio::time::timeout(app.shared.request_timeout, answer).await {
        Ok(Ok(response)) => response,
        Ok(Err(panic)) => told(panicked(&*panic)),
        Err(_) => told(ApiError::RequestTimeout),
    };
    let caller = response.extensions().get::<LoggedCaller>();
    let who = caller.map(|caller| caller.who);
    // Only what is named here is logged: no header, no query, no body and no token of an address, so no secret.
    tracing::info!(
        request_id = id.to_str().unwrap_or_default(),
        %method,
        path = without_token(&path),
        status = response.status().as_u16(),
        duration_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        %client,
        project_id = caller.and_then(|caller| caller.project_id).map(tracing::field::display),
        key_id = who.and_then(LoggedAs::key_id).map(tracing::field::display),
        user_id = who.and_then(LoggedAs::user_id).map(tracing::field::display),
        error = response.extensions().get::<Cause>().map(|cause| cause.0.as_str()),
        "request"
    );
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// The address of an invitation holds what opens it, and whoever reads the log is not who was invited.
fn without_token(path: &str) -> &str {
    if path.starts_with(INVITATIONS) { INVITATIONS } else { path }
}

async fn answer(app: &App, addresses: Router, request: Request) -> Response {
    if let Some(origin) = cors::preflight_origin(&request) {
        return cors::answer_preflight(app, &origin).await.unwrap_or_else(ApiError::into_response);
    }
    addresses.oneshot(request).await.unwrap_or_else(|never| match never {})
}

/// The client's own id when it is well-formed, or a new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let well_formed = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
        (1..=REQUEST_ID_CHARACTERS).contains(&bytes.len()) && bytes.iter().all(plain)
    };
    headers.get(REQUEST_ID).filter(well_formed).cloned().unwrap_or_else(|| {
        let id = format!("req_{:032x}", rand::rng().random::<u128>());
        HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("req_0"))
    })
}

/// A panic is a bug of ours; the client gets an error and the log gets the message.
fn panicked(panic: &(dyn Any + Send)) -> ApiError {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = text.unwrap_or("without a message"), "a request panicked");
    ApiError::Panicked
}
