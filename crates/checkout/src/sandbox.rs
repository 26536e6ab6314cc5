//! `/pay/<payment_id>/simulate`: the panel of sandbox payments that simulates the customer's bank. For production payments it
//! answers 404.

use axum::{extract::State, http::StatusCode, response::Response};
use domain::{payment::Status, project::Environment};
use engine::{Error, Outcome};
use web::{
    App, Failure, client,
    page::{form::Form, page_error::PageError, render::see_other, visitor::Visitor},
};

use crate::{parts::address, path_id::PathId, pay::PaymentPath};

/// A GET is 404 in both environments, since the panel is part of the payment's page and has none of its own.
pub(super) async fn no_such_page() -> PageError {
    Error::NotFound("page").into()
}

/// POST: reports to the engine what the customer chose, and redirects to the payment's page.
pub(super) async fn simulate(
    State(app): State<App>,
    visitor: Visitor,
    id: PaymentPath,
    form: Result<Form, PageError>,
) -> Result<Response, PageError> {
    if let Some(retry_after) = app.limits.public_form(client::limited_as(visitor.address)) {
        return Err(Failure::RateLimited { retry_after }.into());
    }
    let PathId(id) = id?;
    let shown = app.engine.payment_page(id).await?;
    if shown.project.environment != Environment::Sandbox {
        return Err(Error::NotFound("page").into());
    }
    let form = form?;
    let word = form.text("outcome").unwrap_or_default();
    let outcome = match word {
        "paid" => |amount, paid_at| Outcome::Paid { amount, paid_at },
        "failed" => |_, _| Outcome::Failed,
        "processing" => |_, _| Outcome::Processing,
        _ => return Err(PageError::with(StatusCode::UNPROCESSABLE_ENTITY)),
    };
    let payment = shown.payment;
    // A page that was left open may still show the panel after the payment has ended; then the form does nothing.
    if matches!(payment.status_at(app.engine.now()), Status::Pending | Status::Processing) {
        // One receipt id per outcome, so that pressing a button twice does not report money twice.
        let receipt_id = format!("checkout:{id}:{word}");
        let amount = payment.terms.amount;
        app.engine.simulate(&shown.project, payment, Some(&receipt_id), |now| outcome(amount, now)).await?;
    }
    Ok(see_other(&address(&app, &visitor, format_args!("/pay/{id}"))))
}
