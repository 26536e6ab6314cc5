//! How the open page of a sale learns of its new status: by server-sent events, or by polling.

use axum::response::Response;
use domain::id::PaymentId;
use web::{page::page_error::PageError, payment_status, stream};

use crate::{page::LiveCounterPage, session::LastId};

pub(super) async fn status(
    LiveCounterPage(page): LiveCounterPage,
    LastId(id): LastId<PaymentId>,
) -> Result<Response, PageError> {
    Ok(payment_status::now(&page.app, &page.counter.sale(id).await?))
}

/// Nothing but the status is told, so a reader who loses the role meanwhile learns no more than how this sale ends.
pub(super) async fn events(
    LiveCounterPage(page): LiveCounterPage,
    LastId(id): LastId<PaymentId>,
) -> Result<Response, PageError> {
    let payment = page.counter.sale(id).await?;
    Ok(payment_status::events(&page.app, &page.visitor, &payment).unwrap_or_else(stream::unavailable))
}
