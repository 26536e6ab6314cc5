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
mod forgot;
mod home;
mod input;
mod invite;
mod key_rotation;
mod keys;
mod labels;
mod letters;
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
mod prove;
mod receipts;
mod refunds;
mod reset;
mod roles;
#[cfg(test)]
mod samples;
mod search;
mod search_term;
mod second_factor;
mod session;
mod settings;
mod shell;
mod short_amount;
mod sign_in;
mod sign_in_code;
mod simulator;
mod table;
mod words;

use axum::{Router, middleware::from_fn_with_state};
use web::{App, FailureWording, Surface, page::finish};

/// The dashboard, as the server serves it.
pub fn surface(app: &App) -> Surface {
    Surface {
        folders: &["dashboard"],
        routes: finish::routes(app, routes(app), problem::error_page),
        wording: FailureWording::Page(problem::error_page),
        assets: vec![
            &shell::STYLE,
            &shell::SCRIPT,
            &links::poster::POSTER_A6,
            &links::poster::POSTER_A4,
            &counter::STYLE,
            &counter::SCRIPT,
        ],
        // The addresses of an invitation, of a link for a lost password, and of the end of letters hold what opens them, which readers
        // of the log must not see.
        secret_paths: &[invite::INVITATIONS, engine::RESETS, letters::stop::STOP],
    }
}

fn routes(app: &App) -> Router<App> {
    Router::new()
        .merge(account::routes())
        .merge(accounting::routes())
        .merge(audit::routes())
        .merge(audit_files::routes())
        .merge(balance::routes())
        .merge(counter::routes())
        .merge(customer::routes())
        .merge(forgot::routes())
        .merge(home::routes())
        .merge(invite::routes())
        .merge(keys::routes())
        .merge(key_rotation::routes())
        .merge(letters::stop::routes())
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
        .merge(prove::routes())
        .merge(receipts::routes())
        .merge(refunds::routes())
        .merge(reset::routes())
        .merge(search::routes())
        .merge(second_factor::routes())
        .merge(settings::routes())
        .merge(sign_in::routes())
        .merge(sign_in_code::routes())
        .merge(simulator::routes())
        .route_layer(from_fn_with_state(app.clone(), prove::ask_in_place))
}
