//! `/dashboard/<project>/balance/receipts`: money that arrived but pays nothing, and the decisions about it.

pub(crate) mod decide;
pub(crate) mod list;
pub(crate) mod wording;

use axum::{Router, routing::get};
use web::App;

pub(crate) fn routes() -> Router<App> {
    // A user whose session has ended signs in at the form's address, and then sees the list there.
    Router::new()
        .route("/dashboard/{project}/balance/receipts", get(list::list))
        .route("/dashboard/{project}/balance/receipts/decide", get(decide::show))
        .route("/dashboard/{project}/balance/receipts/accept", get(list::list).post(decide::accept))
        .route("/dashboard/{project}/balance/receipts/return", get(list::list).post(decide::return_money))
}
