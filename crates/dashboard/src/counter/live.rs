//! How the open page of a sale learns of its new status: by server-sent events, or by polling.

use axum::{
    Json,
    body::Bytes,
    response::{IntoResponse, Response},
};
use domain::{id::PaymentId, payment::Status};
use engine::Watch;
use serde_json::json;
use tokio::time::timeout;
use web::{client, page::page_error::PageError, stream};

use crate::{page::LiveCounterPage, session::LastId};

/// `{"status": "pending"}`, for polling.
pub(super) async fn status(
    LiveCounterPage(page): LiveCounterPage,
    LastId(id): LastId<PaymentId>,
) -> Result<Response, PageError> {
    let payment = page.counter.sale(id).await?;
    Ok(Json(json!({ "status": payment.status_at(page.now()).word() })).into_response())
}

/// The status at once, after each change, and to keep the connection alive. Nothing else is told, so a reader who loses the
/// role meanwhile learns no more than how this sale ends.
pub(super) async fn events(
    LiveCounterPage(page): LiveCounterPage,
    LastId(id): LastId<PaymentId>,
) -> Result<Response, PageError> {
    let payment = page.counter.sale(id).await?;
    let slot = page.app.limits.stream(client::limited_as(page.visitor.address));
    let (Some(slot), Ok(watch)) = (slot, page.app.engine.watch(&payment)) else { return Ok(stream::unavailable()) };
    let seen = payment.status_at(page.now());
    Ok(stream::answer(SaleEvents { watch, seen }, slot))
}

struct SaleEvents {
    watch: Watch,
    seen: Status,
}

impl stream::Source for SaleEvents {
    fn first(&mut self) -> Bytes {
        format!("retry: 2000\n{}", event(self.seen)).into()
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
