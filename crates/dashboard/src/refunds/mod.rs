//! Money that goes back to customers: making a refund from its payment's page, the list of all, one refund with the forms of
//! those who help it on, and the transfers that a person makes by hand.

pub(crate) mod account;
pub(crate) mod act;
mod answers;
pub(crate) mod batch;
pub(crate) mod create;
mod csv;
pub(crate) mod failures;
pub(crate) mod filter;
pub(crate) mod list;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod show;
pub(crate) mod timeline;
pub(crate) mod transfers;
pub(crate) mod uncertain;
pub(crate) mod wording;

use axum::{Router, routing::get};
use web::App;

pub(crate) fn routes() -> Router<App> {
    // A user whose session has ended signs in at the form's address, and then sees the refund there.
    Router::new()
        .route("/dashboard/{project}/payments/{payment}/refund", get(create::ask).post(create::submit))
        .route("/dashboard/{project}/refunds", get(list::list))
        .route("/dashboard/{project}/refunds.csv", get(list::export))
        .route("/dashboard/{project}/refunds/transfers", get(transfers::show).post(transfers::make_batch))
        .route("/dashboard/{project}/refunds/transfers/{batch}", get(batch::show))
        .route("/dashboard/{project}/refunds/transfers/{batch}/batch.csv", get(batch::export))
        .route("/dashboard/{project}/refunds/{refund}", get(show::show))
        .route("/dashboard/{project}/refunds/{refund}/approve", get(show::show).post(act::approve))
        .route("/dashboard/{project}/refunds/{refund}/decline", get(show::show).post(act::decline))
        .route("/dashboard/{project}/refunds/{refund}/cancel", get(show::show).post(act::cancel))
        .route("/dashboard/{project}/refunds/{refund}/link", get(show::show).post(act::renew_link))
        .route("/dashboard/{project}/refunds/{refund}/destination", get(show::show).post(act::give_destination))
        .route("/dashboard/{project}/refunds/{refund}/done", get(show::show).post(act::mark_done))
        .route("/dashboard/{project}/refunds/{refund}/failed", get(show::show).post(act::mark_failed))
        .route("/dashboard/{project}/refunds/{refund}/returned", get(show::show).post(act::mark_returned))
        .route("/dashboard/{project}/refunds/{refund}/simulate", get(show::show).post(act::simulate))
}
