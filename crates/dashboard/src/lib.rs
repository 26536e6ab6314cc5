//! The dashboard: pages for merchants and operators who are signed in, one file each.
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
mod session;
mod settings;
mod shell;
mod sign_in;
mod simulator;
mod table;
mod typed;
mod words;
mod wrong;

use axum::Router;
use web::{App, FailureWording, Surface, page::finish};

/// The dashboard as a server offers it.
pub fn surface(app: &App) -> Surface {
    Surface {
        folders: &["dashboard"],
        routes: finish::routes(app, routes(), sign_in::error_page),
        wording: FailureWording::Page(sign_in::error_page),
        assets: vec![&shell::STYLE, &shell::SCRIPT],
        // An invitation's address holds the token that opens it, and readers of the log were not invited.
        secret_paths: &[invite::INVITATIONS],
    }
}

fn routes() -> Router<App> {
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
}
