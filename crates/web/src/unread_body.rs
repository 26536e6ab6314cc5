//! Deals with the body of a request that was answered before anybody read it, as most refusals are. The next request on the
//! connection begins after that body. So a short body that comes soon is read and dropped; after any other, the answer says
//! `Connection: close` (RFC 9112, 9.6), and no client sends its next request into a connection that is being closed.
//!
//! A request without a body costs nothing here.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::header,
};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use tokio::sync::oneshot::{self, error::TryRecvError};

/// A longer body is not read: a new connection costs its client less than sending it all.
const DRAINED_BYTES_MOST: u64 = 64 * 1024;
/// How long the answer waits for the rest of a body. It is shorter than the time for a head, so an unread body keeps a
/// connection for less time than a head that is never finished.
const DRAIN_TIME_MOST: Duration = Duration::from_secs(1);

/// Learns what its handler left of a request's body.
pub(crate) struct UnreadBody {
    remainder: oneshot::Receiver<Remainder>,
    /// Whether the client sends its body only when it is told to.
    is_held_back: bool,
}

enum Remainder {
    Whole(Incoming),
    /// The handler has read a part. It has waited as long as a body may take, or has read as much as it may have.
    Part,
}

/// A request's body. When it is dropped before its end, the remainder goes to its [`UnreadBody`].
struct WatchedBody {
    incoming: Option<Incoming>,
    is_begun: bool,
    is_read: bool,
    remainder: Option<oneshot::Sender<Remainder>>,
}

/// The request as handlers get it, and what becomes of its body, if it has one.
pub(crate) fn watch(request: hyper::Request<Incoming>) -> (Request, Option<UnreadBody>) {
    if request.body().is_end_stream() {
        return (request.map(Body::new), None);
    }
    let is_held_back = request.headers().contains_key(header::EXPECT);
    let (sender, remainder) = oneshot::channel();
    let watched =
        |incoming| WatchedBody { incoming: Some(incoming), is_begun: false, is_read: false, remainder: Some(sender) };
    (request.map(|incoming| Body::new(watched(incoming))), Some(UnreadBody { remainder, is_held_back }))
}

impl UnreadBody {
    /// Reads and drops what the handler left of the body, within `time_most` and the limits above. Returns whether the body
    /// has come to its end, so that another request can follow.
    pub(crate) async fn drain(mut self, time_most: Duration) -> bool {
        match self.remainder.try_recv() {
            Err(TryRecvError::Closed) => true,
            Ok(Remainder::Whole(body)) if !self.is_held_back && body.size_hint().lower() <= DRAINED_BYTES_MOST => {
                let ended = tokio::time::timeout(time_most.min(DRAIN_TIME_MOST), read_to_end(body)).await;
                ended.unwrap_or(false)
            }
            Ok(_) | Err(TryRecvError::Empty) => false,
        }
    }
}

/// Whether the body ends before the limit.
async fn read_to_end(mut body: Incoming) -> bool {
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
        if bytes > DRAINED_BYTES_MOST {
            return false;
        }
    }
    true
}

impl hyper::body::Body for WatchedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.is_begun = true;
        let polled = match &mut self.incoming {
            Some(incoming) => Pin::new(incoming).poll_frame(context),
            None => Poll::Ready(None),
        };
        self.is_read |= matches!(polled, Poll::Ready(None));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.as_ref().is_none_or(hyper::body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.as_ref().map(hyper::body::Body::size_hint).unwrap_or_default()
    }
}

impl Drop for WatchedBody {
    fn drop(&mut self) {
        if self.is_read || self.is_end_stream() {
            return;
        }
        if let (Some(incoming), Some(sender)) = (self.incoming.take(), self.remainder.take()) {
            let remainder = if self.is_begun { Remainder::Part } else { Remainder::Whole(incoming) };
            // Nobody is left to ask when the connection itself is gone.
            let _ = sender.send(remainder);
        }
    }
}
