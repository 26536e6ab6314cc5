//! Server-sent events: how an open page learns that something has changed.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use tokio::time::Instant;

use crate::limits::StreamSlot;

/// How often something is sent while nothing happens, so that pages, proxies and the server notice a dead connection.
pub const KEEP_ALIVE: Duration = Duration::from_secs(25);
/// A page that is still open after this long reconnects; a connection that nobody reads ends.
const LONGEST: Duration = Duration::from_mins(15);
/// Seconds after which a page that got no stream may ask for one again; until then it polls.
const RETRY_AFTER: u64 = 30;

/// What a stream sends.
pub trait Source: Send + 'static {
    /// What is sent at once, such as how long the browser waits before it reconnects.
    fn first(&mut self) -> Bytes;

    /// What is sent next, when there is something to send or the connection must be kept alive; none ends the stream.
    fn next(&mut self) -> impl Future<Output = Option<Bytes>> + Send;
}

struct Open<S> {
    source: S,
    is_new: bool,
    ends: Instant,
    _slot: StreamSlot,
}

impl<S: Source> Open<S> {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Open<S>)> {
        let bytes = if self.is_new {
            self.is_new = false;
            self.source.first()
        } else {
            self.source.next().await.filter(|_| Instant::now() <= self.ends)?
        };
        Some((Ok(bytes), self))
    }
}

/// An answer that goes on until its source ends, or the stream is too old.
pub fn answer(source: impl Source, slot: StreamSlot) -> Response {
    let open = Open { source, is_new: true, ends: Instant::now() + LONGEST, _slot: slot };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        // Proxies that buffer answers would hold every event back.
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(stream::unfold(open, Open::next))).into_response()
}

/// The answer where there are too many streams already: the page polls, and asks again later.
pub fn unavailable() -> Response {
    let retry_after = [(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER))];
    (StatusCode::SERVICE_UNAVAILABLE, retry_after, axum::Json(())).into_response()
}
