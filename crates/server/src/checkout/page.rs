//! What the pages of the checkout have in common.

use std::sync::Arc;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use domain::{
    bank::Bank,
    link::Link,
    payment::Payment,
    project::{Environment, Project},
};

use super::view::{BankRow, Frame, Order, Problem};
use crate::{
    app::App,
    pages::{
        refused::Refused,
        render::{page, switch_query},
        visitor::Visitor,
        words,
    },
};

const MARK_LETTERS: usize = 3;

/// The page for whatever went wrong.
pub(crate) fn problem(app: &App, visitor: &Visitor, refused: &Refused) -> Response {
    let mut frame = frame(app, visitor, None);
    let is_miss = refused.status == StatusCode::NOT_FOUND;
    if is_miss {
        // Every miss looks the same, so its address is not in it; without one a link leads to where the visitor is.
        frame.switch_url = switch_query(visitor);
    }
    let mut response = page(
        refused.status,
        &Problem {
            frame,
            kind: refused.kind(),
            support_reference: visitor.request_id.clone().filter(|_| !is_miss),
            next_url: (!is_miss).then(|| page_of(app, &visitor.path)),
        },
    );
    if let Some(seconds) = refused.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// The page that a path belongs to: `/pay/<id>` for all that is beneath it.
fn page_of(app: &App, path: &str) -> String {
    let end = path.match_indices('/').nth(2).map_or(path.len(), |(at, _)| at);
    app.shared.place.url(&path[..end])
}

pub(super) fn frame(app: &App, visitor: &Visitor, project: Option<&Project>) -> Frame {
    let place = &app.shared.place;
    Frame {
        words: words::words(visitor.language),
        language: words::code(visitor.language),
        switch_url: format!("{}{}", page_of(app, &visitor.path), switch_query(visitor)),
        style_url: Arc::clone(&place.style_url),
        script_url: Arc::clone(&place.script_url),
        sandbox: project.is_some_and(|project| project.environment == Environment::Sandbox),
        merchant: project.map(|project| project.merchant.name.clone()),
    }
}

pub(super) fn bank_row(bank: Bank) -> BankRow {
    let code = bank.code();
    // Short codes are how people call the bank; of the others the beginning will do beside the whole name.
    let mark = code.get(..MARK_LETTERS).filter(|_| code.len() > MARK_LETTERS + 1).unwrap_or(code);
    BankRow { name: bank.name(), mark: mark.to_ascii_uppercase() }
}

/// What is paid for, as a link tells it.
pub(super) fn order(project: &Project, link: &Link) -> Order {
    let text = |text: &str| Some(text).filter(|text| !text.is_empty()).map(str::to_owned);
    Order {
        merchant: project.merchant.name.clone(),
        title: text(&link.title),
        description: text(&link.description),
        reference: link.reference.clone(),
        amount: link.amount.to_string(),
    }
}

/// What is paid for, as a payment tells it.
pub(super) fn order_of(project: &Project, payment: &Payment, link: Option<&Link>) -> Order {
    match link {
        Some(link) => order(project, link),
        None => Order {
            merchant: project.merchant.name.clone(),
            title: None,
            description: None,
            reference: payment.reference.clone(),
            amount: payment.amount.to_string(),
        },
    }
}
