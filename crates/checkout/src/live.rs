//! `/pay/<payment_id>/events` and `/status`: how an open page learns of a new status of its payment, by server-sent events or by
//! polling. Both only read, except that an open stream records that the customer has seen the payment.

use axum::{
    Json,
    body::Bytes,
    extract::State,
    response::{IntoResponse, Response},
};
use domain::payment::Status;
use engine::Watch;
use rand::RngExt;
use serde::Serialize;
use tokio::time::timeout;
use web::{
    App, client,
    page::{page_error::PageError, visitor::Visitor},
    stream,
};

use crate::{path_id::PathId, pay::PaymentPath};

/// How long browsers wait before they reconnect. Each gets a random time, so that they do not all reconnect at once.
const RECONNECT_MILLIS: std::ops::Range<u32> = 1_000..5_000;

#[derive(Serialize)]
struct StatusJson {
    status: &'static str,
}

pub(super) async fn status(State(app): State<App>, id: PaymentPath) -> Result<Response, PageError> {
    let PathId(id) = id?;
    let payment = app.engine.known_payment(id).await?;
    let status = payment.status_at(app.engine.now()).word();
    Ok(Json(StatusJson { status }).into_response())
}

pub(super) async fn events(State(app): State<App>, visitor: Visitor, id: PaymentPath) -> Result<Response, PageError> {
    let PathId(id) = id?;
    let payment = app.engine.known_payment(id).await?;
    let slot = app.limits.stream(client::limited_as(visitor.address));
    let (Some(slot), Ok(watch)) = (slot, app.engine.watch(&payment)) else { return Ok(stream::unavailable()) };
    // Recorded here and not by the page, because a program that scans links loads the page but does not run its script.
    app.engine.note_view(&payment);
    let seen = payment.status_at(app.engine.now());
    Ok(stream::answer(StatusEvents { watch, seen }, slot))
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
