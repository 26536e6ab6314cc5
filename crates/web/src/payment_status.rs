//! How an open page learns of a new status of its payment: by server-sent events, or by polling. Who may see the payment is up to the
//! surface.

use std::collections::BTreeMap;

use axum::{
    Json,
    body::Bytes,
    response::{IntoResponse, Response},
};
use domain::payment::{Payment, Status};
use engine::Watch;
use rand::RngExt;
use tokio::time::timeout;

use crate::{App, client, page::visitor::Visitor, stream};

/// How long browsers wait before they reconnect. Each gets a random time, so that they do not all reconnect at once.
const RECONNECT_MILLIS: std::ops::Range<u32> = 1_000..5_000;

/// The status as it is now, for polling.
pub fn now(app: &App, payment: &Payment) -> Response {
    Json(BTreeMap::from([("status", payment.status_at(app.engine.now()).word())])).into_response()
}

/// A stream of the payment's status; none where there are too many, so that the page polls.
pub fn events(app: &App, visitor: &Visitor, payment: &Payment) -> Option<Response> {
    let slot = app.limits.stream(client::limited_as(visitor.address))?;
    let watch = app.engine.watch(payment).ok()?;
    Some(stream::answer(StatusEvents { watch, seen: payment.status_at(app.engine.now()) }, slot))
}

/// Sends the payment's status: at once, after each change, and to keep the connection alive.
struct StatusEvents {
    watch: Watch,
    seen: Status,
}

impl stream::Source for StatusEvents {
    fn first(&mut self) -> Bytes {
        let reconnect = rand::rng().random_range(RECONNECT_MILLIS);
        format!("retry: {reconnect}\n{}", event(self.seen)).into()
    }

    async fn next(&mut self) -> Option<Bytes> {
        if let Ok(status) = timeout(stream::KEEP_ALIVE, self.watch.changed()).await {
            self.seen = status?;
        }
        Some(event(self.seen).into())
    }
}

fn event(status: Status) -> String {
    format!("event: status\ndata: {}\n\n", status.word())
}
