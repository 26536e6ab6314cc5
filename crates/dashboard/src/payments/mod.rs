//! `/dashboard/<project>/payments`: the payments that the address filters, as a page and as a CSV file.

mod csv;
pub(crate) mod filter;

use askama::Template;
use axum::{
    Router,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{access::Act, payment::Payment, time::Timestamp};
use engine::{MATCHES_COUNTED, Matches};
use i18n_embed_fl::fl;
use web::{
    App, client,
    page::{moment::Moment, page_error::PageError},
};

use crate::{
    labels::{Badge, method_name, payment_badge},
    page::{Page, PublicPage},
    payments::{
        csv::{Export, Separator},
        filter::{Asked, Choice, Mistakes, filter},
    },
    shell::{Section, Shell},
    table::{PageNumber, Paging},
};

/// A payment in a list.
pub(crate) struct PaymentRow {
    pub(crate) url: String,
    pub(crate) reference: String,
    pub(crate) amount: String,
    pub(crate) badge: Badge,
    pub(crate) method: String,
    pub(crate) created: Moment,
    pub(crate) paid: Option<Moment>,
}

#[derive(Template)]
#[template(path = "payments.html")]
pub(crate) struct PaymentsPage {
    pub(crate) shell: Shell,
    pub(crate) path: String,
    pub(crate) asked: Asked,
    pub(crate) mistakes: Mistakes,
    pub(crate) statuses: Vec<Choice>,
    pub(crate) methods: Vec<Choice>,
    /// None where a filter is wrong.
    pub(crate) found: Option<Found>,
    /// The form for a payment link, offered while there are no payments.
    pub(crate) begin_url: Option<String>,
}

/// The payments that the address asks for.
pub(crate) struct Found {
    pub(crate) rows: Vec<PaymentRow>,
    /// Whether no filter is set.
    pub(crate) is_everything: bool,
    pub(crate) count: String,
    pub(crate) total: String,
    pub(crate) paging: Paging,
    pub(crate) csv_url: String,
    pub(crate) excel_url: String,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/dashboard/{project}/payments", get(list))
        .route("/dashboard/{project}/payments.csv", get(export))
}

/// A payment as lists show it. `base`: the address of its project's desk.
pub(crate) fn row(page: &PublicPage, base: &str, payment: &Payment, now: Timestamp) -> PaymentRow {
    let words = page.words();
    PaymentRow {
        url: format!("{base}/payments/{}", payment.id),
        reference: payment.reference.clone(),
        amount: payment.amount.to_string(),
        badge: payment_badge(words, payment.status_at(now)),
        method: match payment.method.bank() {
            None => method_name(words, payment.method),
            Some(bank) => format!("VA {}", bank.code().to_uppercase()),
        },
        created: page.short_moment(payment.created_at),
        paid: payment.paid_at().map(|at| page.short_moment(at)),
    }
}

async fn list(page: Page) -> Result<Response, PageError> {
    let now = page.now();
    let filter = match filter(&page.visitor.query, now, page.words()) {
        Ok(filter) => filter,
        Err(mistakes) => return mistaken(&page, mistakes).await,
    };
    let (mut view, number) = (view(&page).await?, PageNumber::of(&page));
    let payments = page.desk.payments(&filter, number.window()).await?;
    view.found = Some(found(&page, &view.asked, number, &payments, now));
    Ok(page.render(StatusCode::OK, &view))
}

/// The same payments as a file, which is read from the database while it is sent.
async fn export(page: Page, headers: HeaderMap) -> Result<Response, PageError> {
    let now = page.now();
    let filter = match filter(&page.visitor.query, now, page.words()) {
        Ok(filter) => filter,
        Err(mistakes) => return mistaken(&page, mistakes).await,
    };
    // A file counts against the limit of streams, as an event stream does.
    let (app, address) = (&page.app, page.visitor.address);
    let slot = app.limits.stream(client::limited_as(address));
    let (Some(slot), Some(token)) = (slot, web::session::token(&app.settings.urls, &headers)) else {
        return Err(PageError::with(StatusCode::SERVICE_UNAVAILABLE));
    };
    let for_excel = page.query("separator") == Some("semicolon");
    let project = page.project();
    let name = csv::file_name(project, now);
    let export = Export {
        token,
        address: address.to_string(),
        project: project.id,
        filter,
        separator: if for_excel { Separator::Semicolon } else { Separator::Comma },
        now,
        _slot: slot,
        engine: app.engine.clone(),
    };
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}\""));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8; header=present")),
        (header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment"))),
    ];
    Ok((headers, export.into_body()).into_response())
}

/// The page with a sentence at each field that is wrong. It lists no payments, which a reader could take for the
/// filtered ones.
async fn mistaken(page: &Page, mistakes: Box<Mistakes>) -> Result<Response, PageError> {
    let view = PaymentsPage { mistakes: *mistakes, ..view(page).await? };
    Ok(page.render(StatusCode::UNPROCESSABLE_ENTITY, &view))
}

/// The page without any payments.
async fn view(page: &Page) -> Result<PaymentsPage, PageError> {
    let (shell, base, asked) = (page.shell(Section::Payments).await?, page.base(), Asked::of(&page.visitor.query));
    let begins = page.desk.may(Act::ManageLinks) && page.project().is_usable();
    Ok(PaymentsPage {
        path: format!("{base}/payments"),
        statuses: asked.statuses(shell.words),
        methods: asked.methods(shell.words),
        begin_url: begins.then(|| format!("{base}/links/new")),
        shell,
        asked,
        mistakes: Mistakes::default(),
        found: None,
    })
}

fn found(
    page: &Page,
    asked: &Asked,
    number: PageNumber,
    (payments, matches): &(Vec<Payment>, Matches),
    now: Timestamp,
) -> Found {
    let (words, query) = (page.words(), asked.query());
    let base = page.base();
    let csv_url = |more: &str| {
        let query = [query.as_str(), more].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("&");
        format!("{base}/payments.csv{}{query}", if query.is_empty() { "" } else { "?" })
    };
    let (count, total) = match *matches {
        Matches::All { payments, amount } => {
            let amount = amount.to_string();
            (fl!(words, "payments-count", count = payments), fl!(words, "payments-total", amount = amount))
        }
        Matches::More => {
            let most = MATCHES_COUNTED;
            (fl!(words, "payments-count-many", most = most), fl!(words, "payments-total-many", most = most))
        }
    };
    let (path, shown) = (page.path("/payments"), payments.len());
    Found {
        rows: payments.iter().map(|payment| row(page, &base, payment, now)).collect(),
        is_everything: asked.is_everything(),
        count,
        total,
        paging: match *matches {
            Matches::All { payments, .. } => number.paging_of(page, &path, &query, shown, payments),
            Matches::More => number.paging_of_many(page, &path, &query, shown),
        },
        csv_url: csv_url(""),
        excel_url: csv_url("separator=semicolon"),
    }
}
