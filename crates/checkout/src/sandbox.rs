//! The sandbox's panel: plays the customer's bank. In production there is nothing at this address.

use axum::{extract::State, http::StatusCode, response::Response};
use domain::{payment::Status, project::Environment};
use engine::{Error, Outcome};
use web::{
    App, Failure, client,
    page::{form::Form, page_error::PageError, render::see_other, visitor::Visitor},
};

use crate::{path::PathId, pay::PaymentPath};

/// The panel has no page of its own; a GET learns nothing, in either environment.
pub(super) async fn no_such_page() -> PageError {
    Error::NotFound("page").into()
}

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
    // A page that was left open may still show the panel of what has ended; nobody's money comes of that.
    if matches!(payment.status_at(app.engine.now()), Status::Pending | Status::Processing) {
        // A bank reports a payment once: pressing a button twice must not send money twice.
        let receipt_id = format!("checkout:{id}:{word}");
        app.engine.simulate(&payment, Some(&receipt_id), |now| outcome(payment.amount, now)).await?;
    }
    Ok(see_other(&app.settings.urls.url(format_args!("/pay/{id}"))))
}
