//! Wraps the handling of every request: gives it an id and a time limit, turns a panic or a time-out into an error answer, and
//! writes one line to the request log. It logs no header, query, body or secret.

use std::{any::Any, panic::AssertUnwindSafe, time::Instant};

use axum::{
    extract::Request,
    http::{HeaderValue, header},
    response::Response,
};
use futures_util::FutureExt;

use crate::{
    App, Cause, Failure,
    caller_notes::CallerNotes,
    client,
    request_id::{REQUEST_ID, RequestId},
    surface::{Surfaces, Wording},
};

/// Lets the surface that owns the path answer the request. When that takes too long or panics, the answer is an error in that
/// surface's wording.
pub(crate) async fn handle_request(app: App, surfaces: &Surfaces, mut request: Request) -> Response {
    let started = Instant::now();
    let id = RequestId::of(request.headers());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let notes = CallerNotes::default();
    request.extensions_mut().insert(id.clone());
    request.extensions_mut().insert(notes.clone());
    let surface = surfaces.of(&path);
    let wording = surface.wording.of(&app, &request);
    if let Wording::Page(_, visitor) = &wording {
        // Handlers of pages take the visitor from here instead of reading the request a second time.
        request.extensions_mut().insert(visitor.clone());
    }
    let client = client::address(request.extensions(), request.headers(), &app.settings.trusted_proxies);
    let answer = AssertUnwindSafe(surface.answer(request)).catch_unwind();
    let mut response = match tokio::time::timeout(app.settings.request_timeout, answer).await {
        Ok(Ok(response)) => response,
        Ok(Err(panic)) => wording.answer(&app, panicked(&*panic)),
        Err(_) => wording.answer(&app, Failure::RequestTimeout),
    };
    let caller = notes.write(response.headers_mut());
    // Only these fields are logged: no header, no query, no body and no secret part of a path.
    tracing::info!(
        request_id = id.text(),
        %method,
        path = surface.logged(&path),
        status = response.status().as_u16(),
        duration_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        %client,
        project_id = caller.project_id.map(tracing::field::display),
        key_id = caller.key_id.map(tracing::field::display),
        user_id = caller.user_id.map(tracing::field::display),
        error = response.extensions().get::<Cause>().map(|cause| cause.0.as_str()),
        "request"
    );
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id.0);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// A panic is a bug of ours: the log gets its message, the client only learns that something failed.
fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = text.unwrap_or("without a message"), "a request panicked");
    Failure::Panicked
}
