//! The merchant dashboard: what people who are signed in see and do, page by page.
//!
//! Handlers decode, ask a desk of the engine, and fill a view. Who may do what is the engine's to say: no handler looks at a
//! role except to leave out a button. Every form carries the session's token and comes from our own pages.

mod account;
mod audit;
mod balance;
mod chart;
mod deliveries;
mod done;
mod fragment;
mod home;
#[cfg(test)]
mod integration_samples;
mod invite;
mod keys;
mod links;
mod live;
mod members;
#[cfg(test)]
mod money_samples;
mod new_link;
mod new_project;
mod notifications;
mod operator;
mod payment;
mod payments;
#[cfg(test)]
mod people_samples;
mod receipts;
pub(crate) mod session;
mod settings;
pub(crate) mod shell;
mod sign_in;
mod simulator;
mod table;
mod typed;
mod wrong;

use axum::{Router, middleware::from_fn_with_state};

use crate::{
    app::App,
    pages::surface::{csrf, dress},
};

pub(crate) use invite::INVITATIONS;
pub(crate) use sign_in::problem;

pub(crate) fn routes(app: &App) -> Router<App> {
    Router::new()
        .merge(account::routes())
        .merge(audit::routes())
        .merge(balance::routes())
        .merge(deliveries::routes())
        .merge(home::routes())
        .merge(invite::routes())
        .merge(keys::routes())
        .merge(links::routes())
        .merge(live::routes())
        .merge(members::routes())
        .merge(new_link::routes())
        .merge(new_project::routes())
        .merge(notifications::routes())
        .merge(operator::routes())
        .merge(payment::routes())
        .merge(payments::routes())
        .merge(receipts::routes())
        .merge(settings::routes())
        .merge(sign_in::routes())
        .merge(simulator::routes())
        .route_layer(csrf(app))
        .route_layer(from_fn_with_state(app.clone(), dress))
}
