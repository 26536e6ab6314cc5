//! `/dashboard/<project>/balance/receipts`: money that arrived but pays nothing, and the decisions about it.

pub(crate) mod assign;
pub(crate) mod choices;
pub(crate) mod decide;
pub(crate) mod effect;
pub(crate) mod list;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod several;
pub(crate) mod wording;

use axum::{Router, routing::get};
use web::App;

pub(crate) fn routes() -> Router<App> {
    // A user whose session has ended signs in at the form's address, and then sees the receipt there.
    Router::new()
        .route("/dashboard/{project}/balance/receipts", get(list::list))
        .route("/dashboard/{project}/balance/receipts/several", get(several::ask).post(several::decide))
        .route("/dashboard/{project}/balance/receipts/{receipt}", get(decide::show))
        .route("/dashboard/{project}/balance/receipts/{receipt}/accept", get(decide::show).post(decide::accept))
        .route("/dashboard/{project}/balance/receipts/{receipt}/assign", get(assign::ask).post(assign::assign))
        .route("/dashboard/{project}/balance/receipts/{receipt}/return", get(decide::show).post(decide::return_money))
}
