//! The dashboard: pages for merchants and operators who are signed in, one file each.
//!
//! A handler decodes the request, calls a desk of the engine, and renders a view. The engine decides who may do what: a
//! handler reads the role only to leave out a button, or to refuse a form before it reads it. Every form carries the
//! token of its session and comes from our own pages.

mod account;
mod accounting;
mod attempt;
mod audit;
mod audit_files;
mod balance;
mod change_mark;
mod chart;
mod counter;
mod csv;
mod customer;
mod done;
mod home;
mod input;
mod invite;
mod key_rotation;
mod keys;
mod labels;
mod links;
mod live;
mod logo;
mod members;
mod method_state;
mod new_link;
mod new_project;
mod notifications;
mod operator;
mod page;
#[cfg(test)]
mod page_rules;
mod payment;
mod payments;
mod pretty_json;
mod problem;
mod receipts;
mod roles;
#[cfg(test)]
mod samples;
mod search;
mod search_term;
mod session;
mod settings;
mod shell;
mod short_amount;
mod sign_in;
mod simulator;
mod table;
mod words;

use axum::Router;
use web::{App, FailureWording, Surface, page::finish};

/// The dashboard, as the server serves it.
pub fn surface(app: &App) -> Surface {
    Surface {
        folders: &["dashboard"],
        routes: finish::routes(app, routes(), problem::error_page),
        wording: FailureWording::Page(problem::error_page),
        assets: vec![
            &shell::STYLE,
            &shell::SCRIPT,
            &links::poster::POSTER_A6,
            &links::poster::POSTER_A4,
            &counter::STYLE,
            &counter::SCRIPT,
        ],
        // The address of an invitation holds the token that opens it, which readers of the log must not see.
        secret_paths: &[invite::INVITATIONS],
    }
}

fn routes() -> Router<App> {
    Router::new()
        .merge(account::routes())
        .merge(accounting::routes())
        .merge(audit::routes())
        .merge(audit_files::routes())
        .merge(balance::routes())
        .merge(counter::routes())
        .merge(customer::routes())
        .merge(home::routes())
        .merge(invite::routes())
        .merge(keys::routes())
        .merge(key_rotation::routes())
        .merge(links::routes())
        .merge(live::routes())
        .merge(members::routes())
        .merge(roles::routes())
        .merge(new_link::routes())
        .merge(new_project::routes())
        .merge(notifications::routes())
        .merge(operator::routes())
        .merge(payment::routes())
        .merge(payments::routes())
        .merge(receipts::routes())
        .merge(search::routes())
        .merge(settings::routes())
        .merge(sign_in::routes())
        .merge(simulator::routes())
}
