//! Parts that several pages of the checkout share: the frame, the order, the bank's row and the error page.

use std::fmt;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use domain::{
    bank::Bank,
    link::Link,
    payment::Payment,
    project::{Environment, Project},
    time::Timestamp,
};
use engine::PaymentPage;
use web::{
    App,
    page::{
        assets::{self, Asset},
        moment::clock_time,
        page_error::PageError,
        render::{page, switch_query},
        visitor::Visitor,
    },
};

use crate::{
    embed,
    face::shop_face,
    view::{BankRow, Frame, Looked, Order, Problem, Stripe},
    words::{code, words},
};

pub(crate) static STYLE: Asset = Asset::style("checkout", &[assets::TOKENS, include_str!("../assets/checkout.css")]);
pub(crate) static SCRIPT: Asset =
    Asset::script("checkout", &[assets::COPY_TEXT, include_str!("../assets/checkout.js")]);
/// How receipts print is a style sheet of its own, so that no other page pays for it.
pub(crate) static RECEIPT_STYLE: Asset = Asset::style("receipt", &[include_str!("../assets/receipt.css")]);
/// The receipt on a strip of paper needs a page size of its own, which only a style sheet of its own can have.
pub(crate) static SLIP_STYLE: Asset = Asset::style("slip", &[include_str!("../assets/slip.css")]);
/// Stands for a time in a sentence.
const TIME: &str = "#";
pub(crate) static PRICE_SCRIPT: Asset = Asset::script("price", &[include_str!("../assets/price.js")]);
pub(crate) static BACK_SCRIPT: Asset = Asset::script("back", &[include_str!("../assets/way_back.js")]);

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
        preview: None,
        framed: project.and_then(|project| embed::framed(app, visitor, project)),
    }
}

/// The frame of a payment's page.
pub(super) fn payment_frame(app: &App, visitor: &Visitor, shown: &PaymentPage) -> Frame {
    let mut frame = frame(app, visitor, Some(&shown.project));
    if let Some(framed) = &mut frame.framed {
        framed.payment = Some(embed::framed_payment(&shown.payment, app.engine.now()));
    }
    frame
}

/// The address of a page of ours. A language that was chosen by the address goes along, for browsers that keep no
/// cookies.
pub(super) fn address(app: &App, visitor: &Visitor, path: fmt::Arguments<'_>) -> String {
    let url = app.settings.urls.url(path);
    if !visitor.chose_language {
        return url;
    }
    let joint = if url.contains('?') { '&' } else { '?' };
    format!("{url}{joint}lang={}", code(visitor.language))
}

/// When a status was looked up, said in the sentence that `sentence` makes of a time.
pub(super) fn looked(at: Timestamp, visitor: &Visitor, sentence: impl Fn(&'static str) -> String) -> Looked {
    let text = sentence(TIME);
    let (before, after) = text.split_once(TIME).unwrap_or((&text, ""));
    let time = clock_time(at, visitor.language);
    Looked { before: before.to_owned(), time, utc: at.to_string(), after: after.to_owned() }
}

pub(super) fn bank_row(bank: Bank) -> BankRow {
    BankRow { name: bank.name(), mark: bank.mark(), tint: tint(bank) }
}

/// Colours that people know the banks by, of which the style sheet shows a pale shade.
const fn tint(bank: Bank) -> &'static str {
    match bank {
        Bank::Bca | Bank::Bri | Bank::Btn => "blue",
        Bank::Mandiri | Bank::Bjb => "navy",
        Bank::Bni | Bank::Bsi => "teal",
        Bank::Permata => "green",
        Bank::Cimb | Bank::Bss => "red",
        Bank::Danamon | Bank::Bnc => "orange",
        Bank::Maybank => "gold",
    }
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
            Order { amount: payment.terms.amount.to_string(), pieces: payment.pieces_text(), ..order(project, link) }
        }
        None => Order {
            merchant: project.merchant.name.clone(),
            title: None,
            description: None,
            reference: payment.terms.reference.clone(),
            amount: payment.terms.amount.to_string(),
            pieces: None,
        },
    }
}
