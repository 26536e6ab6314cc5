//! `/pay/<payment_id>/events` and `/status`: how an open page learns of a new status of its payment. Both only read, except that an
//! open stream records that the customer has seen the payment.

use axum::{extract::State, response::Response};
use web::{
    App,
    page::{page_error::PageError, visitor::Visitor},
    payment_status, stream,
};

use crate::{path_id::PathId, pay::PaymentPath};

pub(super) async fn status(State(app): State<App>, id: PaymentPath) -> Result<Response, PageError> {
    let PathId(id) = id?;
    Ok(payment_status::now(&app, &app.engine.known_payment(id).await?))
}

pub(super) async fn events(State(app): State<App>, visitor: Visitor, id: PaymentPath) -> Result<Response, PageError> {
    let PathId(id) = id?;
    let payment = app.engine.known_payment(id).await?;
    let Some(events) = payment_status::events(&app, &visitor, &payment) else { return Ok(stream::unavailable()) };
    // Recorded here and not by the page, because a program that scans links loads the page but does not run its script.
    app.engine.note_view(&payment);
    Ok(events)
}
