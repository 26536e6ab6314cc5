//! Parts that several pages of the checkout share: the frame, the order, the bank's row and the error page.

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
use web::{
    App,
    page::{
        assets::{self, Asset},
        page_error::PageError,
        render::{page, switch_query},
        visitor::Visitor,
    },
};

use crate::{
    face::shop_face,
    view::{BankRow, Frame, Order, Problem, Stripe},
    words::{code, words},
};

pub(crate) static STYLE: Asset = Asset::style("checkout", &[assets::TOKENS, include_str!("../assets/checkout.css")]);
pub(crate) static SCRIPT: Asset = Asset::script("checkout", &[include_str!("../assets/checkout.js")]);
pub(crate) static PRICE_SCRIPT: Asset = Asset::script("price", &[include_str!("../assets/price.js")]);
pub(crate) static BACK_SCRIPT: Asset = Asset::script("back", &[include_str!("../assets/way_back.js")]);
const MARK_LETTERS: usize = 3;

/// The page for an error.
pub(crate) fn error_page(app: &App, visitor: &Visitor, error: &PageError) -> Response {
    let mut frame = frame(app, visitor, None);
    let is_not_found = error.status == StatusCode::NOT_FOUND;
    if is_not_found {
        // All 404 pages are identical, so the requested path must not be in them. A link of a query alone leads to the same path.
        frame.switch_url = switch_query(visitor);
    }
    let mut response = page(
        error.status,
        &Problem {
            frame,
            kind: error.kind(),
            support_reference: visitor.request_id.clone().filter(|_| !is_not_found),
            next_url: (!is_not_found).then(|| page_of(app, &visitor.path)),
        },
    );
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// The page that a path belongs to: `/pay/<id>` for every path below it.
fn page_of(app: &App, path: &str) -> String {
    let end = path.match_indices('/').nth(2).map_or(path.len(), |(at, _)| at);
    app.settings.urls.url(&path[..end])
}

/// The frame of a page; `project` is none where the page belongs to no project, as on an error page.
pub(super) fn frame(app: &App, visitor: &Visitor, project: Option<&Project>) -> Frame {
    let urls = &app.settings.urls;
    Frame {
        words: words(visitor.language),
        language: code(visitor.language),
        switch_url: format!("{}{}", page_of(app, &visitor.path), switch_query(visitor)),
        style_url: urls.url(STYLE.path()),
        script_url: urls.url(SCRIPT.path()),
        stripe: project.and_then(|project| match project.environment {
            Environment::Sandbox => Some(Stripe::Sandbox),
            Environment::Production => app.settings.is_development.then_some(Stripe::Rehearsal),
        }),
        merchant: project.map(|project| project.merchant.name.clone()),
        face: project.map(|project| shop_face(app, project)).unwrap_or_default(),
    }
}

pub(super) fn bank_row(bank: Bank) -> BankRow {
    let bank_code = bank.code();
    // A short code is the name that people use for the bank. Of a longer one the first letters are enough beside the full name.
    let mark = bank_code.get(..MARK_LETTERS).filter(|_| bank_code.len() > MARK_LETTERS + 1).unwrap_or(bank_code);
    BankRow { name: bank.name(), mark: mark.to_ascii_uppercase() }
}

/// What is paid for, according to the link.
pub(super) fn order(project: &Project, link: &Link) -> Order {
    let text = |text: &str| Some(text).filter(|text| !text.is_empty()).map(str::to_owned);
    Order {
        merchant: project.merchant.name.clone(),
        title: text(&link.title),
        description: text(&link.description),
        reference: link.reference.clone(),
        amount: link.price_text(),
        pieces: None,
    }
}

/// What is paid for, according to the payment's link, or to the payment itself where it has none.
pub(super) fn order_of(project: &Project, payment: &Payment, link: Option<&Link>) -> Order {
    match link {
        Some(link) => {
            Order { amount: payment.amount.to_string(), pieces: payment.pieces_text(), ..order(project, link) }
        }
        None => Order {
            merchant: project.merchant.name.clone(),
            title: None,
            description: None,
            reference: payment.reference.clone(),
            amount: payment.amount.to_string(),
            pieces: None,
        },
    }
}
