//! `/dashboard/operator/strays`: money that a bank has taken and that fits no payment, and the decisions about it.

pub(crate) mod decide;
pub(crate) mod list;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod stray;
pub(crate) mod wording;

use axum::{Router, routing::get};
use web::App;

pub(crate) fn routes() -> Router<App> {
    // A user whose session has ended signs in at the form's address, and then sees the stray there.
    Router::new()
        .route("/dashboard/operator/strays", get(list::show))
        .route("/dashboard/operator/strays/{stray}", get(stray::show))
        .route("/dashboard/operator/strays/{stray}/assign", get(decide::ask).post(decide::assign))
        .route("/dashboard/operator/strays/{stray}/return", get(stray::show).post(decide::return_money))
}
