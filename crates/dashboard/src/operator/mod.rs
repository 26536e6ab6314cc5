//! `/dashboard/operator`: all projects of the installation, its users, its contracts with banks, and the whole audit log.
//! For a user who is not an operator these pages do not exist.

pub(crate) mod audit;
pub(crate) mod banks;
pub(crate) mod create;
pub(crate) mod decide;
mod decision;
pub(crate) mod differences;
pub(crate) mod letters;
pub(crate) mod project;
pub(crate) mod projects;
pub(crate) mod refunds;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod strays;
pub(crate) mod tabs;
pub(crate) mod user;
pub(crate) mod user_decide;
mod user_decision;
pub(crate) mod user_reset;
pub(crate) mod users;

use axum::Router;
use web::App;

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .merge(projects::routes())
        .merge(audit::routes())
        .merge(banks::routes())
        .merge(strays::routes())
        .merge(differences::routes())
        .merge(letters::routes())
        .merge(project::routes())
        .merge(refunds::routes())
        .merge(users::routes())
        .merge(user::routes())
        .merge(user_decide::routes())
        .merge(user_reset::routes())
        .merge(create::routes())
        .merge(decide::routes())
}
