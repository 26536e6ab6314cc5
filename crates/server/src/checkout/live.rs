//! How a page that is open learns that its payment has moved: by server-sent events, or by asking now and then.

use std::{convert::Infallible, time::Duration};

use axum::{
    Json,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::payment::Status;
use engine::Watch;
use futures_util::stream;
use rand::RngExt;
use serde::Serialize;
use tokio::time::{Instant, timeout};

use super::pay::PaymentPath;
use crate::{
    api::path::PathId,
    app::App,
    client,
    limit::Place,
    pages::{refused::Refused, visitor::Visitor},
};

/// How often something is sent where nothing happens, so that pages, proxies and we notice when a connection is dead.
const SIGN_OF_LIFE: Duration = Duration::from_secs(25);
/// A page that is still open after this long connects anew; one that is not read by anybody does not.
const STREAM_LONGEST: Duration = Duration::from_mins(15);
/// How long browsers wait before they connect again, in milliseconds: each another time, lest all of them come at once.
const RECONNECT: std::ops::Range<u32> = 1_000..5_000;
/// When there are too many watchers, pages ask by themselves; this is when a client may try again.
const RETRY_AFTER: u64 = 30;

#[derive(Serialize)]
struct StatusJson {
    status: &'static str,
}

pub(super) async fn status(State(app): State<App>, id: PaymentPath) -> Result<Response, Refused> {
    let PathId(id) = id?;
    let payment = app.engine.known_payment(id).await?;
    let status = payment.status_at(app.engine.now()).word();
    Ok(Json(StatusJson { status }).into_response())
}

pub(super) async fn events(State(app): State<App>, visitor: Visitor, id: PaymentPath) -> Result<Response, Refused> {
    let PathId(id) = id?;
    let payment = app.engine.known_payment(id).await?;
    let place = app.shared.limits.stream(client::limited_as(visitor.address));
    let (Some(place), Ok(watch)) = (place, app.engine.watch(&payment)) else {
        let retry_after = [(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER))];
        return Ok((StatusCode::SERVICE_UNAVAILABLE, retry_after, Json(())).into_response());
    };
    // Only a browser that runs the page's script comes here; whoever merely looks links up gets no further than the page.
    app.engine.note_view(&payment);
    let seen = payment.status_at(app.engine.now());
    let open = Open { watch, seen, told: false, ends: Instant::now() + STREAM_LONGEST, _place: place };
    let body = Body::from_stream(stream::unfold(open, Open::next));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        // Proxies that gather answers would keep the news to themselves.
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Ok((headers, body).into_response())
}

/// A stream that somebody reads.
struct Open {
    watch: Watch,
    seen: Status,
    /// Whether anything was sent yet.
    told: bool,
    ends: Instant,
    _place: Place,
}

impl Open {
    /// What is sent next: how the payment stands, at once, whenever it has moved, and as a sign of life. Nothing more once the
    /// server stops or the stream is old.
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Open)> {
        if !self.told {
            self.told = true;
            let reconnect = rand::rng().random_range(RECONNECT);
            let text = format!("retry: {reconnect}\n{}", event(self.seen));
            return Some((Ok(text.into()), self));
        }
        if let Ok(status) = timeout(SIGN_OF_LIFE, self.watch.changed()).await {
            self.seen = status?;
        }
        let is_old = Instant::now() > self.ends;
        (!is_old).then(|| (Ok(event(self.seen).into()), self))
    }
}

fn event(status: Status) -> String {
    format!("event: status\ndata: {}\n\n", status.word())
}
