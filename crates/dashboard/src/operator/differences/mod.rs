//! `/dashboard/operator/differences`: what banks say otherwise than we do, what to do about it, and who has seen to it.

pub(crate) mod list;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod settle;
pub(crate) mod wording;

use axum::{Router, routing::get};
use web::App;

pub(crate) fn routes() -> Router<App> {
    // A user whose session has ended signs in at the form's address, and then sees the list there.
    Router::new()
        .route("/dashboard/operator/differences", get(list::show))
        .route("/dashboard/operator/differences/look", get(settle::show))
        .route("/dashboard/operator/differences/settle", get(list::show).post(settle::settle))
}
