//! `/dashboard/operator/banks`: contracts with banks, what they still need, and what the banks called. Settings, keys and
//! secrets are changed on the command line; these pages show which command does it.

pub(crate) mod account;
pub(crate) mod checklist;
mod compare;
pub(crate) mod compared;
pub(crate) mod figures;
pub(crate) mod list;
#[cfg(test)]
pub(crate) mod samples;
mod switch;
pub(crate) mod wording;

use axum::{Router, routing::get};
use web::App;

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/dashboard/operator/banks", get(list::show))
        .route("/dashboard/operator/banks/{account}", get(account::show))
        .route("/dashboard/operator/banks/{account}/compare", get(account::show).post(compare::compare))
        .route("/dashboard/operator/banks/{account}/enable", get(switch::ask_enable).post(switch::enable))
        .route("/dashboard/operator/banks/{account}/disable", get(switch::ask_disable).post(switch::disable))
}
