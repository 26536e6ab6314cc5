//! How a view becomes an answer, and what every answer of the checkout has.

use std::sync::Arc;

use askama::Template;
use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use domain::{
    bank::Bank,
    link::Link,
    payment::Payment,
    project::{Environment, Project},
    steps::Language,
};

use super::{
    refused::Refused,
    view::{BankRow, Frame, Order, Problem},
    visitor::{LANGUAGE_COOKIE, Visitor},
};
use crate::{
    app::App,
    error::ApiError,
    pages::{cookie::Cookie, headers, words},
};

const LANGUAGE_SECONDS: u32 = 365 * 24 * 60 * 60;

const MARK_LETTERS: usize = 3;
/// Few pages are larger.
const PAGE_BYTES_USUAL: usize = 6 * 1024;
/// What pages, cookies and the front add to an answer.
const HEADERS_USUAL: usize = 12;

/// Whether a path is one of the checkout's, so that whatever is wrong with it is told by a page.
pub(crate) fn owns(path: &str) -> bool {
    let first = path.split('/').nth(1);
    matches!(first, Some("p" | "pay"))
}

/// Gives every answer its headers, and every refusal its page.
pub(super) async fn dress(State(app): State<App>, request: Request, next: Next) -> Response {
    let visitor = Visitor::of(&app, &request);
    let response = next.run(request).await;
    dressed(&app, &visitor, response)
}

fn dressed(app: &App, visitor: &Visitor, mut response: Response) -> Response {
    let place = &app.shared.place;
    if let Some(refused) = refusal(&response) {
        let (page, body) = problem(app, visitor, &refused).into_parts();
        *response.status_mut() = page.status;
        *response.body_mut() = body;
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response.headers_mut().extend(page.headers);
    }
    if visitor.chose_language {
        let (value, path) = (words::code(visitor.language), place.url("/"));
        Cookie { name: LANGUAGE_COOKIE, value, path: &path, seconds: LANGUAGE_SECONDS, secure: place.https }
            .write(response.headers_mut());
    }
    headers::protect(response.headers_mut(), place.https);
    response
}

/// What is to be told by a page: a refusal of ours, or of whoever refuses without a word, as the check for foreign forms does.
fn refusal(response: &Response) -> Option<Refused> {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let is_bare = is_error && !response.headers().contains_key(header::CONTENT_TYPE);
    response.extensions().get::<Refused>().cloned().or_else(|| is_bare.then(|| Refused::with(status)))
}

/// The page for what went wrong outside of any handler.
pub(crate) fn problem_page(app: &App, visitor: &Visitor, error: ApiError) -> Response {
    dressed(app, visitor, Refused::from(error).into_response())
}

fn problem(app: &App, visitor: &Visitor, refused: &Refused) -> Response {
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

pub(super) fn page(status: StatusCode, view: &impl Template) -> Response {
    // Growing it step by step would copy most of the page several times.
    let mut html = String::with_capacity(PAGE_BYTES_USUAL);
    match view.render_into(&mut html) {
        Ok(()) => {
            let mut response = (status, Body::from(html)).into_response();
            response.headers_mut().reserve(HEADERS_USUAL);
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
            response
        }
        Err(error) => {
            tracing::error!(%error, "a page could not be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The query that asks for the other language.
fn switch_query(visitor: &Visitor) -> String {
    let other = match visitor.language {
        Language::Indonesian => Language::English,
        Language::English => Language::Indonesian,
    };
    format!("?lang={}", words::code(other))
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

pub(super) fn see_other(url: &str) -> Response {
    // Our own addresses are ids and a configured path, which are plain text.
    let location = HeaderValue::try_from(url).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}
