//! Server-sent events, by which an open page learns of changes. What the events say is up to the surface.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use tokio::time::Instant;

use crate::limits::StreamSlot;

/// How often an event is sent while nothing changes, so that pages, proxies and the server notice a dead connection.
pub const KEEP_ALIVE: Duration = Duration::from_secs(25);
/// After this long the server ends a stream. A page that is still open reconnects; a connection that no page reads is gone.
const LONGEST: Duration = Duration::from_mins(15);
/// Seconds after which a page that was refused a stream may ask again; until then it polls.
const RETRY_AFTER: u64 = 30;

/// The events of one stream.
pub trait Source: Send + 'static {
    /// What is sent at once: for example how long the browser waits before it reconnects.
    fn first(&mut self) -> Bytes;

    /// Waits for the next event, or until the connection needs a sign of life; none ends the stream.
    fn next(&mut self) -> impl Future<Output = Option<Bytes>> + Send;
}

struct OpenStream<S> {
    source: S,
    is_new: bool,
    ends: Instant,
    _slot: StreamSlot,
}

impl<S: Source> OpenStream<S> {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, OpenStream<S>)> {
        let bytes = if self.is_new {
            self.is_new = false;
            self.source.first()
        } else {
            self.source.next().await.filter(|_| Instant::now() <= self.ends)?
        };
        Some((Ok(bytes), self))
    }
}

/// An answer that goes on until its source ends or the stream reaches its longest age.
pub fn answer(source: impl Source, slot: StreamSlot) -> Response {
    let open = OpenStream { source, is_new: true, ends: Instant::now() + LONGEST, _slot: slot };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        // Tells proxies not to buffer the answer, which would hold every event back.
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(stream::unfold(open, OpenStream::next))).into_response()
}

/// The answer when there are too many streams: the page polls, and asks for a stream again later.
pub fn unavailable() -> Response {
    let retry_after = [(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER))];
    (StatusCode::SERVICE_UNAVAILABLE, retry_after, axum::Json(())).into_response()
}
